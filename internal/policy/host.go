package policy

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// plainHost gives a host as it goes over the wire: lower case, letters beyond
// ASCII as punycode. foreign says that there were such letters, or that there is
// punycode that stands for some.
func plainHost(host string) (plain string, foreign bool, err error) {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	if addr, err := netip.ParseAddr(host); err == nil {
		if addr.Zone() != "" {
			return "", false, errors.New("the host is an address with a zone")
		}
		return addr.String(), false, nil
	}
	if host == "" || strings.ContainsAny(host, ":[]") {
		return "", false, errors.New("the host is no name and no address")
	}
	if addr, ok := oldAddress(host); ok {
		return "", false, fmt.Errorf("the host %s is the address %s in disguise", host, addr)
	}
	labels := strings.Split(host, ".")
	for i, label := range labels {
		ascii := label
		if len(label) > 253 {
			return "", false, errors.New("the host is longer than a name may be")
		}
		if strings.ContainsFunc(label, func(r rune) bool { return r >= 0x80 }) {
			if strings.ContainsAny(label, "。．｡") {
				return "", false, errors.New("the host holds a dot that is none")
			}
			ascii, foreign = "xn--"+punycode(label), true
		}
		if strings.HasPrefix(label, "xn--") {
			foreign = true
		}
		if ascii == "" || len(ascii) > 63 || strings.Trim(ascii, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return "", false, fmt.Errorf("the host %q is no name", Visible(host))
		}
		labels[i] = ascii
	}
	plain = strings.Join(labels, ".")
	if len(plain) > 253 {
		return "", false, errors.New("the host is longer than a name may be")
	}
	return plain, foreign, nil
}

// oldAddress reads the forms of IPv4 addresses that some resolvers still take:
// fewer parts, octal and hexadecimal numbers.
func oldAddress(host string) (netip.Addr, bool) {
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 64)
		if err != nil || strings.Contains(p, "_") {
			return netip.Addr{}, false
		}
		if i == len(parts)-1 {
			value = value<<(8*(4-i)) | n
		} else {
			value = value<<8 | n&0xff
		}
	}
	v := uint32(value)
	return netip.AddrFrom4([4]byte{byte(v >> 24), byte(v >> 16), byte(v >> 8), byte(v)}), true
}

// metadataHost says that a host is where clouds hand out keys, empty when not.
func metadataHost(host string) string {
	names := []string{"metadata", "metadata.google.internal", "instance-data", "instance-data.ec2.internal"}
	addresses := []string{"169.254.169.254", "169.254.170.2", "169.254.169.253", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254"}
	if slices.Contains(names, host) {
		return "hands out the keys of a machine"
	}
	if addr, err := netip.ParseAddr(host); err == nil && slices.Contains(addresses, embedded(addr).String()) {
		return "hands out the keys of a machine"
	}
	return ""
}

// Private address ranges that are not for everybody, also those that package netip
// calls global.
var private = prefixes("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24",
	"192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4", "168.63.129.16/32",
	"::/128", "::1/128", "100::/64", "2001::/23", "2001:db8::/32", "fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8")

func prefixes(list ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(list))
	for i, p := range list {
		all[i] = netip.MustParsePrefix(p)
	}
	return all
}

// embedded gives the IPv4 address that an IPv6 address stands for, or the address
// itself.
func embedded(a netip.Addr) netip.Addr {
	if a.Is4In6() {
		return a.Unmap()
	}
	if !a.Is6() {
		return a
	}
	b := a.As16()
	for _, form := range []struct {
		prefix string
		at     int
	}{{"64:ff9b::/96", 12}, {"64:ff9b:1::/48", 12}, {"2002::/16", 2}, {"::/96", 12}} {
		if netip.MustParsePrefix(form.prefix).Contains(a) && a != netip.IPv6Loopback() && a != netip.IPv6Unspecified() {
			return netip.AddrFrom4([4]byte(b[form.at : form.at+4]))
		}
	}
	return a
}

// PrivateAddress tells whether an address is not for everybody: this machine, its
// network, or one that is set apart. Who connects has to ask this of the address
// itself, after the name was resolved.
func PrivateAddress(addr netip.Addr) bool {
	plain := embedded(addr)
	return !plain.IsValid() || slices.ContainsFunc(private, func(p netip.Prefix) bool { return p.Contains(plain.WithZone("")) })
}

// privateHost says why a host is not for everybody, empty when it may be.
func privateHost(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		if PrivateAddress(addr) {
			return "is an address of this machine or its network"
		}
		return ""
	}
	if !strings.Contains(host, ".") {
		return "is a name in this network"
	}
	for _, end := range []string{".localhost", ".local", ".internal", ".lan", ".home", ".corp", ".intranet", ".home.arpa", ".localdomain", ".nip.io", ".sslip.io", ".localtest.me", ".lvh.me"} {
		if strings.HasSuffix("."+host, end) {
			return "is a name in this network"
		}
	}
	return ""
}

// punycode writes a label in ASCII as RFC 3492 says, without the prefix.
func punycode(label string) string {
	const base, tMin, tMax, skew, damp = 36, 1, 26, 38, 700
	runes := []rune(label)
	var out strings.Builder
	for _, r := range runes {
		if r < 0x80 {
			out.WriteRune(r)
		}
	}
	basic := out.Len()
	done := basic
	if basic > 0 {
		out.WriteByte('-')
	}
	n, delta, bias := rune(0x80), 0, 72
	for done < len(runes) {
		least := rune(0x10ffff)
		for _, r := range runes {
			if r >= n {
				least = min(least, r)
			}
		}
		delta += int(least-n) * (done + 1)
		n = least
		for _, r := range runes {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := min(max(k-bias, tMin), tMax)
				if q < t {
					break
				}
				out.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[t+(q-t)%(base-t)])
				q = (q - t) / (base - t)
			}
			out.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[q])
			if done == basic {
				delta /= damp
			} else {
				delta /= 2
			}
			delta += delta / (done + 1)
			k := 0
			for ; delta > (base-tMin)*tMax/2; k += base {
				delta /= base - tMin
			}
			bias = k + (base-tMin+1)*delta/(delta+skew)
			delta = 0
			done++
		}
		delta++
		n++
	}
	return out.String()
}
