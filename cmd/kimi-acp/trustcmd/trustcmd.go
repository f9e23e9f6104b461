package trustcmd

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
)

// Options are where a run writes, and where it is kept what is trusted.
type Options struct {
	Out, Err io.Writer
	Store    *trust.Store
}

const usage = `Usage: kimi-acp trust list | add | never | remove [flags] [DIR]

Says which folders may run code of their own: git's hooks and filters, scripts,
servers that a project names. In a folder that is not trusted only looking is
free. A folder counts with what lies in it, but not with repositories within,
which have their own answer. Without DIR the current folder is meant.

  list           what was decided, and how it stands with DIR
  add            trust DIR
  never          do not trust DIR, and never ask for it
  remove         forget what was decided: it is asked for again when it matters

Flags:
  --json         one JSON object on stdout

Examples:
  kimi-acp trust list
  kimi-acp trust add ~/src/mine
  kimi-acp trust never ~/Downloads/somebody-elses
  kimi-acp trust remove ~/src/mine

Exit codes: 0 done, 1 it could not be, 2 wrong arguments. The agent asks by
itself, once a session, when the answer makes a difference.
`

// Run runs kimi-acp trust and gives the exit code: 0; 1 when what was asked for could
// not be done; 2 when the arguments cannot be understood.
func Run(args []string, o Options) int {
	wrong := func(format string, args ...any) int {
		_, _ = fmt.Fprintf(o.Err, "kimi-acp trust: "+format+"; see kimi-acp trust --help\n", args...)
		return 2
	}
	flags := flag.NewFlagSet("trust", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	asJSON := flags.Bool("json", false, "")
	var words []string
	for rest := args; ; {
		switch err := flags.Parse(rest); {
		case errors.Is(err, flag.ErrHelp):
			_, _ = fmt.Fprint(o.Out, usage)
			return 0
		case err != nil:
			return wrong("%v", err)
		}
		if rest = flags.Args(); len(rest) == 0 {
			break
		}
		words, rest = append(words, rest[0]), rest[1:]
	}
	if len(words) == 0 {
		_, _ = fmt.Fprint(o.Err, usage)
		return 2
	}
	if words[0] == "help" {
		_, _ = fmt.Fprint(o.Out, usage)
		return 0
	}
	does, known := map[string]func(Options, string) (report, error){"list": list, "add": add, "never": never, "remove": remove}[words[0]]
	if !known {
		return wrong("there is no command %q", words[0])
	}
	if len(words) > 2 {
		return wrong("%q is left over", words[2])
	}
	dir := "."
	if len(words) == 2 {
		dir = words[1]
	}
	r, err := does(o, dir)
	if err == nil {
		err = r.write(o.Out, *asJSON)
	}
	if err != nil {
		_, _ = fmt.Fprintln(o.Err, "kimi-acp trust:", err)
		return 1
	}
	return 0
}

// report is what a command has to say.
type report struct {
	Folder  string        `json:"folder,omitempty"` // the one that was meant
	Trust   trust.Answer  `json:"trust"`            // of that folder: trusted, never, or empty
	Folders []trust.Entry `json:"folders,omitempty"`
	text    string
}

func (r report) write(out io.Writer, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintln(out, r.text)
		return err
	}
	text := json.NewEncoder(out)
	text.SetEscapeHTML(false)
	return text.Encode(r)
}

func list(o Options, dir string) (report, error) {
	entries, err := o.Store.List()
	if err != nil {
		return report{}, err
	}
	r := report{Folders: entries}
	var b strings.Builder
	for _, e := range entries {
		gone := ""
		if _, err := os.Stat(e.Path); err != nil {
			gone = "  (not there any more)"
		}
		fmt.Fprintf(&b, "%-8s %s  %s%s\n", e.Trust, e.Since.Format("2006-01-02"), policy.Visible(e.Path), gone)
	}
	if len(entries) == 0 {
		b.WriteString("No folder was decided about yet.\n")
	}
	if r.Folder, err = trust.Real(dir); err != nil {
		return report{}, err
	}
	if r.Trust, err = o.Store.Of(dir); err != nil {
		return report{}, err
	}
	fmt.Fprintf(&b, "\n%s: %s", policy.Visible(r.Folder), map[trust.Answer]string{
		trust.Trusted: "trusted.", trust.Never: "not trusted, and not asked for.", trust.Undecided: "not decided, so not trusted.",
	}[r.Trust])
	r.text = b.String()
	return r, nil
}

func add(o Options, dir string) (report, error) {
	real, err := o.Store.Set(dir, trust.Trusted)
	return report{Folder: real, Trust: trust.Trusted, text: "Trusted: " + policy.Visible(real)}, err
}

func never(o Options, dir string) (report, error) {
	real, err := o.Store.Set(dir, trust.Never)
	return report{Folder: real, Trust: trust.Never, text: "Not trusted, and never asked for: " + policy.Visible(real)}, err
}

func remove(o Options, dir string) (report, error) {
	if real, err := trust.Real(dir); err == nil { // it need not be there any more
		dir = real
	}
	removed, err := o.Store.Remove(dir)
	if err != nil {
		return report{}, err
	}
	if !removed {
		return report{}, fmt.Errorf("nothing was decided about %s itself; kimi-acp trust list shows what was", policy.Visible(dir))
	}
	return report{Folder: dir, text: "Forgotten: " + policy.Visible(dir)}, nil
}
