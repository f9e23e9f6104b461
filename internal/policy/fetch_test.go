package policy

import (
	"net/netip"
	"strings"
	"testing"
)

func TestFetch(t *testing.T) {
	tests := []struct {
		url, shown string
		want       Decision
	}{
		{"https://go.dev/doc?x=1", "https://go.dev/doc?x=1", Ask},
		{"HTTPS://Go.DEV:443/", "https://go.dev/", Ask},
		{"http://go.dev", "http://go.dev/", Ask},
		{"https://go.dev./x", "https://go.dev/x", Ask},
		{"https://docs.python.org@e.example/", "https://e.example/", AskOnce},
		{"https://u:p@e.example/", "https://e.example/", AskOnce},
		{"https://аpple.com/", "https://xn--pple-43d.com/", AskOnce},
		{"https://bücher.example/", "https://xn--bcher-kva.example/", AskOnce},
		{"https://xn--pple-43d.com/", "https://xn--pple-43d.com/", AskOnce},
		{"file:///etc/passwd", "", Deny},
		{"ftp://x.example/", "", Deny},
		{"javascript:alert(1)", "", Deny},
		{"data:text/html,x", "", Deny},
		{"//x.example/", "", Deny},
		{"x.example", "", Deny},
		{"", "", Deny},
		{"http://", "", Deny},
		{"http:x", "", Deny},
		{"http://localhost:11434/", "", Deny},
		{"http://x.localhost/", "", Deny},
		{"http://printer/", "", Deny},
		{"http://x.internal/", "", Deny},
		{"http://127.0.0.1/", "", Deny},
		{"http://127.1/", "", Deny},
		{"http://2130706433/", "", Deny},
		{"http://0x7f000001/", "", Deny},
		{"http://0177.0.0.1/", "", Deny},
		{"http://0/", "", Deny},
		{"http://10.1.2.3/", "", Deny},
		{"http://172.20.0.1/", "", Deny},
		{"http://192.168.1.1/", "", Deny},
		{"http://169.254.169.254/latest", "", Deny},
		{"http://100.100.100.200/", "", Deny},
		{"http://168.63.129.16/", "", Deny},
		{"http://metadata.google.internal/", "", Deny},
		{"http://[::1]/", "", Deny},
		{"http://[::ffff:169.254.169.254]/", "", Deny},
		{"http://[::ffff:127.0.0.1]/", "", Deny},
		{"http://[64:ff9b::a9fe:a9fe]/", "", Deny},
		{"http://[2002:7f00:1::]/", "", Deny},
		{"http://[::127.0.0.1]/", "", Deny},
		{"http://[fd00:ec2::254]/", "", Deny},
		{"http://[fe80::1%25eth0]/", "", Deny},
		{"http://[fec0::1]/", "", Deny},
		{"http://240.0.0.1/", "", Deny},
		{"http://127.0.0.1.nip.io/", "", Deny},
		{"http://1.1.1.1/", "http://1.1.1.1/", Ask},
		{"http://[2606:4700::1111]/", "http://[2606:4700::1111]/", Ask},
		{"http://exa%6dple.com/", "", Deny},
		{"http://a。example/", "", Deny},
		{"http://a\x00.example/", "", Deny},
		{"http://a\u200b.example/", "", Deny},
		{"http://a b.example/", "", Deny},
		{`http://a.example\@b.example/`, "", Deny},
		{"http://a..example/", "", Deny},
		{"http://" + strings.Repeat("a", 64) + ".example/", "", Deny},
		{"http://x.example/" + strings.Repeat("a", maxURL), "", Deny},
	}
	e := engine(t, Options{})
	for _, tt := range tests {
		v := e.Fetch(tt.url, project())
		if v.Decision != tt.want || tt.shown != "" && v.Parts[0].Text != tt.shown {
			t.Errorf("%s: %s, shown as %q (%s); want %s, %q", Visible(tt.url), v.Decision, v.Parts[0].Text, v.Reason, tt.want, tt.shown)
		}
		if v.Key != "" {
			answered(t, e, v, func(e *Engine) Verdict { return e.Fetch(tt.url, project()) })
		}
	}
}

func TestFetchRules(t *testing.T) {
	e := engine(t, Options{Layers: []Layer{{Scope: User, Rules: []Rule{
		rule(t, "allow fetch https://go.dev/doc"), rule(t, "allow fetch http://localhost:11434/"), rule(t, "deny fetch https://go.dev/doc/secret"),
		rule(t, "allow fetch http://169.254.169.254/"),
	}}}})
	for url, want := range map[string]Decision{
		"https://go.dev/doc":                       Allow,
		"https://go.dev/doc/a?b#c":                 Allow,
		"https://go.dev/docs":                      Ask,
		"https://go.dev/doc/../x":                  Ask,
		"https://go.dev/doc/%2e%2e/x":              Ask,
		"https://go.dev/doc/secret/x":              Deny,
		"http://go.dev/doc":                        Ask,
		"https://go.dev:8443/doc":                  Ask,
		"https://go.dev.evil.example/doc":          Ask,
		"https://evil.example/#https://go.dev/doc": Ask,
		"https://go.dev@evil.example/doc":          AskOnce,
		"http://localhost:11434/api":               Allow,
		"http://localhost:11435/api":               Deny,
		"http://169.254.169.254/":                  Deny,
	} {
		if v := e.Fetch(url, project()); v.Decision != want {
			t.Errorf("%s: %s by %s (%s), want %s", url, v.Decision, v.Rule, v.Reason, want)
		}
	}
}

func TestPrivateAddress(t *testing.T) {
	for address, want := range map[string]bool{"8.8.8.8": false, "2001:4860:4860::8888": false, "10.0.0.1": true, "::ffff:10.0.0.1": true, "::": true, "64:ff9b::808:808": false, "2002:a00:1::": true, "198.18.0.1": true} {
		if got := PrivateAddress(netip.MustParseAddr(address)); got != want {
			t.Errorf("%s: %v", address, got)
		}
	}
	if !PrivateAddress(netip.Addr{}) {
		t.Error("no address is taken for a public one")
	}
}

func TestMCP(t *testing.T) {
	e := engine(t, Options{Layers: []Layer{{Scope: User, Rules: []Rule{rule(t, "allow mcp files/read_*"), rule(t, "deny mcp files/read_keys"), rule(t, "ask mcp db/*")}}}})
	tests := []struct {
		server, tool string
		want         Decision
	}{
		{"files", "read_text", Allow},
		{"files", "read_keys", Deny},
		{"files", "write", Ask},
		{"files2", "read_text", Ask},
		{"db", "query", AskOnce},
		{"files", "rеad_text", AskOnce}, // a Cyrillic letter
		{"files", "read text", AskOnce},
		{"files", "", AskOnce},
		{"files/read_x", "y", AskOnce},
	}
	for _, tt := range tests {
		v := e.MCP(tt.server, tt.tool, project())
		if v.Decision != tt.want {
			t.Errorf("%s/%s: %s by %s, want %s", tt.server, tt.tool, v.Decision, v.Rule, tt.want)
		}
		if v.Key != "" {
			answered(t, e, v, func(e *Engine) Verdict { return e.MCP(tt.server, tt.tool, project()) })
		}
	}
}
