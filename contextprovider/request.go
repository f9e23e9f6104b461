package contextprovider

import (
	"fmt"
	"slices"
	"strings"
)

// Request is what the user chose in the editor to be sent with the next prompt.
type Request struct {
	Fix         bool   // what is wrong there is to be mended; else it is what the prompt is about
	Path        string // absolute
	From, To    Position
	Text        string // of the place; "" where it is not told
	Cut         bool   // Text is only the beginning
	Diagnostics []Diagnostic
}

// requests words what the user chose. Problems that have their line in the section of
// all problems do not get a second one.
func (p paths) requests(all []Request, problems []Diagnostic) []string {
	var out []string
	for _, r := range all {
		from, to := fmt.Sprintf("line %d column %d", r.From.Line, r.From.Column), ""
		if r.To != r.From {
			to = fmt.Sprintf(" to line %d column %d", r.To.Line, r.To.Column)
		}
		what := "asks about"
		if r.Fix {
			what = "asks to mend what is reported at"
		}
		out = append(out, "By an action of the editor the user "+what+" "+p.show(r.Path)+", "+from+to+", as a part of this message.")
		out = append(out, numbered(r.Text, r.From.Line)...)
		if r.Cut {
			out = append(out, "  (there is more)")
		}
		out = append(out, p.diagnostics(keep(r.Diagnostics, func(d Diagnostic) bool {
			return !slices.ContainsFunc(problems, d.same)
		}))...)
	}
	return out
}

// same tells whether two diagnostics say the same of one line.
func (d Diagnostic) same(other Diagnostic) bool {
	return d.Path == other.Path && d.Lines.First == other.Lines.First && d.Message == other.Message
}

// sentAlong tells the user what was sent beside the prompt, "" for nothing.
func (p paths) sentAlong(all []Request) string {
	if len(all) == 0 {
		return ""
	}
	places := make([]string, len(all))
	for i, r := range all {
		places[i] = fmt.Sprintf("line %d of `%s`", r.From.Line, p.show(r.Path))
		if r.To.Line > r.From.Line {
			places[i] = fmt.Sprintf("lines %d to %d of `%s`", r.From.Line, r.To.Line, p.show(r.Path))
		}
		if r.Fix {
			places[i] += " (to mend)"
		}
	}
	return "Sent along, as you chose in the editor: " + strings.Join(places, ", ") + "."
}
