package contextprovider

import (
	"fmt"
	"strings"
	"testing"
)

// TestParseMention reads what editors send. (Peers, numbers 22, 23 and 26.)
func TestParseMention(t *testing.T) {
	for _, c := range []struct{ uri, want string }{
		// files
		{"file:///w/a.go", "file /w/a.go"},
		{"file:///w/a%20b%C3%A9.go", "file /w/a bé.go"},
		{"file:///w/50%25%20plan.md", "file /w/50% plan.md"},
		{"file:///w/50%%20plan.md", "file /w/50% plan.md"},
		{"file:///w/50% plan.md", "file /w/50% plan.md"},
		{"file:///w/%zz", "file /w/%zz"},
		{"file:/w/a.go", "file /w/a.go"},
		{"file://localhost/w/a.go", "file /w/a.go"},
		{"file:///w/../etc/passwd", "file /etc/passwd"},
		{"/w/a.go", "file /w/a.go"},
		{"file:///w/sub/", "directory /w/sub"},
		{"file:///", "file /"},
		// lines
		{"file:///w/a.go#L10", "file /w/a.go 10-10"},
		{"file:///w/a.go#L10:25", "file /w/a.go 10-25"},
		{"file:///w/a.go#L10-25", "file /w/a.go 10-25"},
		{"file:///w/a.go#L10-L25", "file /w/a.go 10-25"},
		{"file:///w/a.go?symbol=Main#L10:25", "file /w/a.go 10-25 symbol Main"},
		{"file:///w/a.go?column=7#L3:3", "file /w/a.go 3-3 column 7"},
		{"file:///w/a.go#L14:21", "file /w/a.go 14-21"},
		{"file:///w/a.go:13:20", "file /w/a.go 13-20"},
		{"file:///w/a.go:13-20", "file /w/a.go 13-20"},
		{"file:///w/a.go:13", "file /w/a.go 13-13"},
		{"file:///w/a.go:20:13", "file /w/a.go 20-20 column 13"},
		{"file:///w/a.go:20:13#L4", "file /w/a.go:20:13 4-4"},
		{"file:///w/a%3A13", "file /w/a:13"},
		{"file:///w/dir/:13", "file /w/dir/:13"},
		{"file:///w/a.go#L25:10", "file /w/a.go no range L25:10"},
		{"file:///w/a.go#L0", "file /w/a.go no range L0"},
		{"file:///w/a.go#top", "file /w/a.go"},
		{"file:///w/a.go#L99999999999", "file /w/a.go"},
		// Windows
		{"file:///C:/Users/me/a%20b.go#L10:25", "file C:/Users/me/a b.go 10-25"},
		{"file:///c%3A/x.go", "file c:/x.go"},
		{`file://C:\Users\me\x.go`, `file C:\Users\me\x.go`},
		{`C:\Users\me\x.go`, `file C:\Users\me\x.go`},
		{`\\srv\share\x.go`, `file \\srv\share\x.go`},
		{"file://srv/share/x.go", "file //srv/share/x.go"},
		// zed
		{"zed:///agent/file?path=%2Fw%2Fa.go", "file /w/a.go"},
		{"zed:///agent/selection?path=%2Fw%2Fa.go#L10:25", "file /w/a.go 10-25"},
		{"zed:///agent/selection?path=C%3A%5Cwork%5Cmain.go#L10:25", `file C:\work\main.go 10-25`},
		{"zed:///agent/directory?path=%2Fw%2Fsub", "directory /w/sub"},
		{"zed:///agent/symbol/Foo%20Bar?path=%2Fw%2Fa.go#L4", "file /w/a.go 4-4 symbol Foo Bar"},
		{"zed:///agent/untitled-buffer#L1:2", "other"},
		{"zed:///agent/diagnostics", "other"},
		{"zed:///agent/git-diff?base=main", "other"},
		{"zed:///agent/thread/1?name=x", "other"},
		{"zed:///agent/selection", "other"},
		// neither
		{"https://example.org/a.go#L1", "other"},
		{"custom:thing", "other"},
		{"not a uri", "other"},
		{"", "other"},
		{"file:///%00", "other"},
		{"file:///a\x00b", "other"},
		{"file:///" + strings.Repeat("x", maxURI), "other"},
	} {
		m := ParseMention(c.uri)
		got := string(m.Kind)
		if m.Path != "" {
			got += " " + m.Path
		}
		if m.Lines != nil {
			got += fmt.Sprintf(" %d-%d", m.Lines.First, m.Lines.Last)
		}
		if m.NoRange != "" {
			got += " no range " + m.NoRange
		}
		if m.Symbol != "" {
			got += " symbol " + m.Symbol
		}
		if m.Column != 0 {
			got += fmt.Sprintf(" column %d", m.Column)
		}
		if got != c.want {
			t.Errorf("%.80q is %q, want %q", c.uri, got, c.want)
		}
		if m.URI != c.uri {
			t.Errorf("%.80q: the URI became %.80q", c.uri, m.URI)
		}
	}
}

func TestWhere(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///w/a.go?symbol=F#L2:3": "/w/a.go lines 2-3 symbol F",
		"zed:///agent/diagnostics":     "zed:///agent/diagnostics",
	} {
		if got := ParseMention(uri).Where(); got != want {
			t.Errorf("%s is at %q, want %q", uri, got, want)
		}
	}
}

func FuzzParseMention(f *testing.F) {
	for _, s := range []string{"file:///w/a.go#L1:2", "zed:///agent/selection?path=%2Fa", `C:\x`, "file:///%%%", "file:"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		m := ParseMention(uri)
		if (m.Path == "") != (m.Kind == MentionOther) {
			t.Errorf("%q: kind %s with path %q", uri, m.Kind, m.Path)
		}
		if strings.ContainsRune(m.Path, 0) {
			t.Errorf("%q: NUL in path %q", uri, m.Path)
		}
		if m.Lines != nil && (m.Lines.First < 1 || m.Lines.Last < m.Lines.First) {
			t.Errorf("%q: lines %+v", uri, m.Lines)
		}
	})
}
