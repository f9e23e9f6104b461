package policy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
)

const maxURL = 4096 // bytes

// target is an address that may be fetched.
type target struct {
	scheme, host, port string // host as it is sent: lower case, punycode
	path               string
	foreign            bool // the host is written in letters that others may look like
	user               bool // a name or password stands before the host
}

// Fetch decides about fetching an address. It sees the name of a host only: who
// fetches has to check each address that the name stands for, and each address
// that it is sent on to.
func (e *Engine) Fetch(address string, c Context) Verdict {
	t, err := parseTarget(address)
	var f finding
	if err != nil {
		f = floor(Deny, "address", err.Error())
	} else {
		f = e.judgeFetch(t, &c)
	}
	v := verdict(&c, []finding{f})
	text := Visible(address[:min(len(address), maxURL)])
	if err == nil {
		text = t.String()
	}
	v.Parts = []Part{{Text: text, Decision: v.Decision, Reason: v.Reason}}
	return v
}

func (e *Engine) judgeFetch(t target, c *Context) finding {
	if hostReason := metadataHost(t.host); hostReason != "" {
		return floor(Deny, "metadata", t.host+" "+hostReason)
	}
	allow := allowed
	for _, s := range e.given {
		if s.Kind != KindFetch || !s.holds(c) || !s.reaches(t) {
			continue
		}
		if s.Decision != Allow {
			return floor(max(s.Decision, AskOnce), s.String(), because(s.Rule, t.host))
		}
		allow.rule = s.String()
	}
	reason := privateHost(t.host)
	switch {
	case t.user:
		return once(classFloor, "address", "a name stands before the host, which is "+t.host)
	case t.foreign && allow.rule == "":
		return once(classRun, "address", "the host is written in letters that may look like others: "+t.host)
	case allow.rule != "":
		return allow
	case reason != "":
		return floor(Deny, "private address", t.host+" "+reason+"; a rule of yours can allow it: "+t.key())
	}
	return finding{decision: Ask, class: classRead, rule: "network", reason: "it connects to " + t.host, lasts: Project, key: []string{t.key()}, words: "fetching from " + t.origin()}
}

func (t target) origin() string {
	host := t.host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if t.port != "" {
		host += ":" + t.port
	}
	return t.scheme + "://" + host
}

func (t target) key() string {
	return Rule{Decision: Allow, Kind: KindFetch, Pattern: t.origin() + "/"}.String()
}

// String is the address as it will be asked for, without a name before the host.
func (t target) String() string { return t.origin() + Visible(t.path) }

// reaches tells whether a rule for addresses speaks of one: the same scheme, host
// and port, and a path that begins with the rule's, name by name.
func (r Rule) reaches(t target) bool {
	p, err := parseTarget(r.Pattern)
	if err != nil || p.scheme != t.scheme || p.host != t.host || p.port != t.port {
		return false
	}
	within, below := strings.TrimSuffix(p.path, "/"), cleanPath(t.path)
	return below == within || strings.HasPrefix(below, within+"/")
}

// cleanPath takes .. out of a path, in plain and in escaped form.
func cleanPath(p string) string {
	if i := strings.IndexAny(p, "?#"); i >= 0 {
		p = p[:i]
	}
	unescaped, err := url.PathUnescape(p)
	if err != nil || strings.Contains(strings.ReplaceAll(unescaped, `\`, "/")+"/", "/../") {
		return ""
	}
	return p
}

// parseTarget reads an address. Errors say what is wrong, for a person.
func parseTarget(address string) (target, error) {
	if len(address) > maxURL {
		return target{}, fmt.Errorf("the address is longer than %d bytes", maxURL)
	}
	if esc, bad := hiddenIn(address); bad || strings.ContainsAny(address, " \t\n\\") {
		return target{}, errors.New("the address holds a character that cannot be in one" + orEmpty(esc))
	}
	u, err := url.Parse(address)
	if err != nil {
		return target{}, errors.New("this is no address")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return target{}, fmt.Errorf("only http and https are fetched, not %q", Visible(u.Scheme))
	}
	if u.Hostname() == "" || u.Opaque != "" {
		return target{}, errors.New("the address has no host")
	}
	t := target{scheme: u.Scheme, port: u.Port(), path: u.EscapedPath(), user: u.User != nil}
	if u.RawQuery != "" {
		t.path += "?" + u.RawQuery
	}
	if t.path == "" || t.path[0] != '/' {
		t.path = "/" + t.path
	}
	if t.port == map[string]string{"http": "80", "https": "443"}[t.scheme] {
		t.port = ""
	}
	if strings.Contains(u.Host, "%") {
		return target{}, errors.New("the host is written with escapes")
	}
	t.host, t.foreign, err = plainHost(u.Hostname())
	return t, err
}

func orEmpty(esc string) string {
	if esc == "" {
		return ""
	}
	return " (" + esc + ")"
}
