package config

import (
	"net/netip"
	"net/url"
	"strings"
)

// checkAddress gives a base URL without slashes at its end, or what is wrong with it.
// What it says never quotes the address, which may hold a password.
func checkAddress(text string) (address, problem string) {
	text = strings.TrimSpace(text)
	u, err := url.Parse(text)
	switch {
	case text == "":
		return "", "is empty"
	case err != nil:
		return "", "is not a web address"
	case u.Scheme != "http" && u.Scheme != "https":
		return "", "does not begin with http:// or https://"
	case u.Hostname() == "":
		return "", "names no host"
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", "has a part after ? or #, where paths are to be added"
	}
	return strings.TrimRight(text, "/"), ""
}

// unencrypted tells whether what is sent to an address can be read on the way.
func unencrypted(address string) bool {
	u, err := url.Parse(address)
	return err == nil && u.Scheme == "http" && !ownMachine(u.Hostname())
}

const sentUnencrypted = "begins with http://, so the key is sent unencrypted; it is used as it is"

func ownMachine(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}
