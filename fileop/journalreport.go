package fileop

import (
	"fmt"
	"strings"
)

// maxReport bounds a report for the model, in bytes.
const maxReport = 16 << 10

// Report tells the model what the user made of its changes, in plain sentences with
// the diffs of what was changed. It is empty when there is nothing to tell.
func Report(findings []Finding) string {
	var b strings.Builder
	for i, f := range findings {
		part := f.sentence() + "\n"
		if f.Diff != "" && f.Action != "" && f.Verdict == VerdictChanged || f.Diff != "" && f.Action == "" {
			part += strings.TrimSuffix(f.Diff, "\n") + "\n"
		}
		if b.Len()+len(part) > maxReport {
			fmt.Fprintf(&b, "… %d more are not listed; read a file before you rely on what stands in it.\n", len(findings)-i)
			break
		}
		b.WriteString(part)
	}
	return b.String()
}

func (f Finding) sentence() string {
	what := "Your change of " + f.Path
	if f.Hunk > 0 {
		what = fmt.Sprintf("Part %d of your change of %s", f.Hunk, f.Path)
	}
	because := ""
	if f.Reason != "" {
		because = " (" + f.Reason + ")"
	}
	switch {
	case f.Deleted:
		return fmt.Sprintf("%s, which you had changed, was deleted since. Do not bring it back unless you are asked to.", f.Path)
	case f.Action == "" && f.Diff == "":
		return fmt.Sprintf("%s was changed since you changed it; read it before you go on.", f.Path)
	case f.Action == "":
		return fmt.Sprintf("All that the user changed in %s since you changed it:", f.Path)
	case f.Verdict == VerdictKept:
		return what + " was kept by the user" + because + "."
	case f.Verdict == VerdictRefused:
		return what + " was refused or taken back" + because + ". Do not make it again unless you are asked to."
	}
	return what + " was changed by the user; keep to what stands there now:"
}
