package trustcmd

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kimi-acp/internal/trust"
)

var days = regexp.MustCompile(`\d{4}-\d\d-\d\d(T[\d:]+Z)?`)

// command runs kimi-acp trust and gives what it printed, without dates.
func command(t *testing.T, s *trust.Store, want int, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if got := Run(args, Options{Out: &out, Err: &errs, Store: s}); got != want {
		t.Errorf("%q exits with %d, want %d\n%s%s", args, got, want, &out, &errs)
	}
	if want == 0 && errs.Len() > 0 || want != 0 && out.Len() > 0 {
		t.Errorf("%q: the wrong stream: %s%s", args, &out, &errs)
	}
	return days.ReplaceAllString(out.String()+errs.String(), "DAY")
}

func TestTrust(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(dir, "me")
	mine, theirs := filepath.Join(home, "mine"), filepath.Join(home, "theirs")
	for _, d := range []string{mine, theirs} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s := trust.NewStore(filepath.Join(dir, "kept"), home)
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"list", mine}, 0, "No folder was decided about yet.\n\nHOME/mine: not decided, so not trusted.\n"},
		{[]string{"add", mine}, 0, "Trusted: HOME/mine\n"},
		{[]string{"never", theirs}, 0, "Not trusted, and never asked for: HOME/theirs\n"},
		{[]string{"list", mine}, 0, "trusted  DAY  HOME/mine\nnever    DAY  HOME/theirs\n\nHOME/mine: trusted.\n"},
		{[]string{"list", "--json", theirs}, 0, `{"folder":"HOME/theirs","trust":"never","folders":[{"path":"HOME/mine","trust":"trusted","since":"DAY"},{"path":"HOME/theirs","trust":"never","since":"DAY"}]}` + "\n"},
		{[]string{"add", home}, 1, "kimi-acp trust: HOME is your home folder; trust the folder of a project\n"},
		{[]string{"remove", mine, "--json"}, 0, `{"folder":"HOME/mine","trust":""}` + "\n"},
		{[]string{"remove", mine}, 1, "kimi-acp trust: nothing was decided about HOME/mine itself; kimi-acp trust list shows what was\n"},
		{[]string{"dance"}, 2, "kimi-acp trust: there is no command \"dance\"; see kimi-acp trust --help\n"},
		{[]string{"add", "a", "b"}, 2, "kimi-acp trust: \"b\" is left over; see kimi-acp trust --help\n"},
		{[]string{"add", "--loud"}, 2, "kimi-acp trust: flag provided but not defined: -loud; see kimi-acp trust --help\n"},
	} {
		got := strings.ReplaceAll(command(t, s, tt.code, tt.args...), home, "HOME")
		if got != tt.want {
			t.Errorf("%q:\n%s\nwant\n%s", tt.args, got, tt.want)
		}
	}
}

func TestHelp(t *testing.T) {
	s := trust.NewStore("", "")
	for code, args := range map[int][]string{0: {"--help"}, 2: nil} {
		text := command(t, s, code, args...)
		for line := range strings.Lines(text) {
			if len(line) > 81 {
				t.Errorf("wider than 80 columns: %s", line)
			}
		}
		if !strings.HasPrefix(text, "Usage: kimi-acp trust") {
			t.Error(text)
		}
	}
}
