package contextprovider

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// MentionKind says what a mention refers to.
type MentionKind string

// The kinds of mention. A MentionOther has no path: its URI is a name, not a file.
const (
	MentionFile      MentionKind = "file"
	MentionDirectory MentionKind = "directory"
	MentionOther     MentionKind = "other"
)

// Mention is a reference to something in the user's project, as an editor writes
// it into a prompt. It is a name, never a file to open blindly.
type Mention struct {
	Kind   MentionKind
	Path   string     // as the editor wrote it, percent-decoded; "" for MentionOther
	Lines  *LineRange // nil: the whole
	Column int        // 1-based, 0: unknown
	Symbol string     // the symbol meant, "" when none
	URI    string     // as it came
	// NoRange are lines that were named and are no range, such as "L25:10"; "" for none.
	NoRange string
	// Embedded: the prompt carries a text with it, which need not be the file's.
	Embedded bool
	// Guess: it was found in words that only look like a file.
	Guess bool
}

// maxURI bounds the URIs that are taken apart, in bytes.
const maxURI = 8 << 10

// ParseMention reads the URI of a prompt block: file URIs with and without
// fragments and queries, bare paths of Unix and Windows, and zed:///agent/… .
// What it does not know is a MentionOther; it never fails.
func ParseMention(uri string) Mention {
	m := Mention{Kind: MentionOther, URI: uri}
	if len(uri) > maxURI || strings.ContainsRune(uri, 0) || uri == "" {
		return m
	}
	if isPath(uri) {
		m.setPath(uri)
		return m
	}
	rest, fragment, _ := strings.Cut(uri, "#")
	rest, query, _ := strings.Cut(rest, "?")
	q := parseQuery(query)
	if g := placeBehind.FindStringSubmatch(rest); g != nil && fragment == "" {
		rest, fragment = g[1], "L"+g[2]
		if parseLines(fragment) == nil { // a line and a column, then
			line, column, _ := strings.Cut(fragment, ":")
			fragment, q["column"] = line, column
		}
	}
	switch {
	case strings.HasPrefix(rest, "file:"):
		m.setPath(filePath(strings.TrimPrefix(rest, "file:")))
	case strings.HasPrefix(rest, "zed:///agent/"):
		// Only these name a file; diagnostics, threads and rules do not.
		switch what, _, _ := strings.Cut(strings.TrimPrefix(rest, "zed:///agent/"), "/"); what {
		case "file", "selection", "directory", "symbol", "merge-conflict":
			m.setPath(q["path"])
			if what == "symbol" {
				_, name, _ := strings.Cut(strings.TrimPrefix(rest, "zed:///agent/"), "/")
				m.Symbol = unescape(name)
			}
			if what == "directory" && m.Path != "" {
				m.Kind = MentionDirectory
			}
		}
	default:
		return m
	}
	if m.Kind == MentionOther || strings.ContainsRune(m.Path, 0) {
		return Mention{Kind: MentionOther, URI: uri}
	}
	if q["symbol"] != "" {
		m.Symbol = q["symbol"]
	}
	m.Column, _ = strconv.Atoi(q["column"])
	m.Column = max(m.Column, 0)
	if m.Lines = parseLines(fragment); m.Lines == nil && lineForms.MatchString(fragment) {
		m.NoRange = fragment
	}
	return m
}

// Where names a mention's place for a reader: path, lines, symbol; or its URI.
func (m Mention) Where() string {
	if m.Kind == MentionOther {
		return m.URI
	}
	s := m.Path
	if m.Lines != nil {
		s += fmt.Sprintf(" lines %d-%d", m.Lines.First, m.Lines.Last)
	}
	if m.Symbol != "" {
		s += " symbol " + m.Symbol
	}
	return s
}

func (m *Mention) setPath(p string) {
	if p == "" {
		return
	}
	m.Kind, m.Path = MentionFile, p
	if dir := strings.TrimRight(p, "/"); dir != p && dir != "" {
		m.Kind, m.Path = MentionDirectory, dir
	}
}

var drive = regexp.MustCompile(`^/?[A-Za-z]:[\\/]`)

// isPath reports whether s is a bare absolute path, which some editors send where
// a URI belongs; "C:\x" has no scheme "c".
func isPath(s string) bool {
	return strings.HasPrefix(s, "/") || drive.MatchString(s) && s[0] != '/' || strings.HasPrefix(s, `\\`)
}

// filePath turns what follows "file:" into a path.
func filePath(rest string) string {
	host := ""
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		if drive.MatchString(after) && after[0] != '/' {
			return unescape(after) // as in "file://C:\x": malformed and common
		}
		i := strings.IndexByte(after, '/')
		if i < 0 {
			i = len(after)
		}
		host, rest = after[:i], after[i:]
	}
	p := unescape(rest)
	if drive.MatchString(p) && p[0] == '/' {
		p = p[1:]
	}
	if host != "" && host != "localhost" {
		return "//" + host + p
	}
	if strings.HasPrefix(p, "/") {
		trailing := strings.HasSuffix(p, "/") && p != "/"
		p = path.Clean(p)
		if trailing {
			p += "/"
		}
	}
	return p
}

// unescape decodes what is validly percent-encoded and keeps the rest as it is.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	if d, err := url.PathUnescape(s); err == nil {
		return d
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if v, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(v))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func parseQuery(query string) map[string]string {
	out := map[string]string{}
	for pair := range strings.SplitSeq(query, "&") {
		k, v, _ := strings.Cut(pair, "=")
		if k != "" {
			out[unescape(k)] = unescape(v)
		}
	}
	return out
}

// placeBehind is a file URI with lines, or a line and a column, behind the path:
// file:///a.go:13, :13:20, :20:13, :13-20.
var placeBehind = regexp.MustCompile(`^(file:.*?[^/\\]):(\d{1,7}(?:[:-]\d{1,7})?)$`)

var lineForms = regexp.MustCompile(`^L(\d{1,9})(?:[:-]L?(\d{1,9}))?$`)

// parseLines reads #L10, #L10:25, #L10-25 and #L10-L25. Anything else, also an
// inverted range, is no range.
func parseLines(fragment string) *LineRange {
	g := lineForms.FindStringSubmatch(fragment)
	if g == nil {
		return nil
	}
	first, _ := strconv.Atoi(g[1])
	last := first
	if g[2] != "" {
		last, _ = strconv.Atoi(g[2])
	}
	if first < 1 || last < first {
		return nil
	}
	return &LineRange{First: first, Last: last}
}
