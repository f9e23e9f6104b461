package skill

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// d2ID is what names a node. Slashes and points may stand in it, as D2's paths have
// them.
var d2ID = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./-]*$`)

// d2Looks are the last words of paths that say how something is to look, not what it is.
var d2Looks = []string{
	"shape", "style", "label", "link", "icon", "near", "width", "height", "direction", "class",
	"grid-rows", "grid-columns", "grid-gap", "font-size", "font-family", "font-color", "stroke", "fill",
	"opacity", "padding", "border-radius", "shadow", "sketch", "animated", "multiple", "constraint", "tooltip",
}

// ParseD2 reads a D2 diagram: nodes with labels, which may be blocks of text, and
// arrows, also in chains, whose label belongs to the last. What stands in braces, and how
// it is to look, is passed over. What a flow needs is told at Flow.
func ParseD2(text string) (*Flow, error) {
	r := d2Reader{text: text, chart: newChart()}
	for r.skip() {
		line := 1 + strings.Count(r.text[:r.at], "\n")
		if err := r.statement(); err != nil {
			return nil, fmt.Errorf("the flow's line %d: %w", line, err)
		}
	}
	return r.chart.flow()
}

// d2Reader reads statements one after the other.
type d2Reader struct {
	text  string
	at    int
	chart *chart
}

// skip goes to the next statement, and tells whether there is one.
func (r *d2Reader) skip() bool {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r', ';':
			r.at++
		case '#':
			r.line()
		default:
			return true
		}
	}
	return false
}

// line takes what is left of the line, without its end.
func (r *d2Reader) line() string {
	rest, _, _ := strings.Cut(r.text[r.at:], "\n")
	r.at += len(rest)
	return rest
}

// statement reads a node, or a chain of nodes and arrows, and what they are called.
func (r *d2Reader) statement() error {
	head := r.head()
	label, err := r.label()
	if err == nil {
		err = r.body()
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(head, "(") { // the look of an arrow
		return nil
	}
	if strings.Contains(head, "<-") || strings.Contains(head, "--") && !strings.Contains(head, "->") {
		return fmt.Errorf("%q has an arrow that a flow cannot follow; write a -> b", head)
	}
	ids := strings.Split(head, "->")
	for i, id := range ids {
		ids[i] = strings.TrimSpace(id)
	}
	if slices.ContainsFunc(ids, isLook) {
		return nil
	}
	for _, id := range ids {
		if !d2ID.MatchString(id) {
			return fmt.Errorf("%q is no name of a node", id)
		}
	}
	own := label
	if len(ids) > 1 {
		own = ""
	}
	for _, id := range ids {
		if err := r.chart.node(id, own); err != nil {
			return err
		}
	}
	for i := 1; i < len(ids); i++ {
		exit := ""
		if i == len(ids)-1 {
			exit = label
		}
		r.chart.connect(ids[i-1], ids[i], exit)
	}
	return nil
}

// head reads up to a colon, a brace or the end of the line.
func (r *d2Reader) head() string {
	return r.words(func() bool { return strings.ContainsRune("\n:{}#;", rune(r.text[r.at])) })
}

// words reads until something ends them. A line that ends with a backslash goes on.
func (r *d2Reader) words(ends func() bool) string {
	begin := r.at
	for r.at < len(r.text) && !ends() {
		if strings.HasPrefix(r.text[r.at:], onward) {
			r.at++
		}
		r.at++
	}
	return strings.TrimSpace(strings.ReplaceAll(r.text[begin:r.at], onward, ""))
}

// onward is how a line ends that goes on in the next one.
const onward = "\\\n"

// label reads what stands behind a colon, "" for nothing.
func (r *d2Reader) label() (string, error) {
	if r.at == len(r.text) || r.text[r.at] != ':' {
		return "", nil
	}
	r.at++
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t') {
		r.at++
	}
	switch rest := r.text[r.at:]; {
	case strings.HasPrefix(rest, "|"):
		return r.block()
	case strings.HasPrefix(rest, `"`), strings.HasPrefix(rest, "'"):
		label, behind, ok := quoted(rest)
		if !ok {
			return "", errors.New("a label in quotes is not closed")
		}
		r.at = len(r.text) - len(behind)
		return label, nil
	default:
		return r.words(func() bool { return r.text[r.at] == '\n' || r.text[r.at] == '{' || r.comment() }), nil
	}
}

// comment tells whether a comment begins here. In the middle of a word there is none.
func (r *d2Reader) comment() bool {
	return r.text[r.at] == '#' && (r.at == 0 || strings.ContainsRune(" \t\n:", rune(r.text[r.at-1])))
}

// block reads a text of several lines, from |md to a line with | alone. How far all of
// it is further in does not belong to it.
func (r *d2Reader) block() (string, error) {
	tag, _, _ := strings.Cut(r.line(), "#")
	if rest := strings.TrimLeft(strings.TrimSpace(tag)[1:], "abcdefghijklmnopqrstuvwxyz"); rest != "" {
		return "", fmt.Errorf("%q does not begin a block of text; write |md and end it by a line with | alone", strings.TrimSpace(tag))
	}
	var lines []string
	for r.at < len(r.text) {
		r.at++ // the end of the line before
		line := strings.TrimSuffix(r.line(), "\r")
		if strings.TrimSpace(line) == "|" {
			return strings.TrimSpace(strings.Join(dedented(lines), "\n")), nil
		}
		lines = append(lines, line)
	}
	return "", errors.New("a block of text is not closed; end it by a line with | alone")
}

// dedented takes the blanks away that all lines begin with.
func dedented(lines []string) []string {
	least := -1
	for _, l := range lines {
		if in := len(l) - len(strings.TrimLeft(l, " \t")); strings.TrimSpace(l) != "" && (least < 0 || in < least) {
			least = in
		}
	}
	for i, l := range lines {
		lines[i] = l[min(max(least, 0), len(l)):]
	}
	return lines
}

// body passes over what stands in braces behind a statement, and sees to it that
// nothing else does.
func (r *d2Reader) body() error {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\t' || r.text[r.at] == '\r') {
		r.at++
	}
	if r.at == len(r.text) || strings.ContainsRune("\n#;", rune(r.text[r.at])) {
		return nil
	}
	if r.text[r.at] != '{' {
		return fmt.Errorf("%q stands where the line should end", r.line())
	}
	for depth := 0; r.at < len(r.text); r.at++ {
		switch c := r.text[r.at]; {
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 {
				r.line()
				return nil
			}
		case c == '#' && r.comment():
			r.line()
			r.at--
		case c == '"':
			_, behind, ok := quoted(r.text[r.at:])
			if !ok {
				return errors.New("a text in quotes is not closed")
			}
			r.at = len(r.text) - len(behind) - 1
		}
	}
	return errors.New("a { is not closed")
}

// isLook tells whether a path says how something is to look.
func isLook(id string) bool {
	parts := strings.FieldsFunc(id, func(r rune) bool { return r == '.' })
	if len(parts) < 2 {
		return false
	}
	return slices.ContainsFunc(parts[1:], func(p string) bool { return slices.Contains(d2Looks, p) || strings.HasPrefix(p, "style") })
}
