package cmdline

import (
	"flag"
	"io"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	tests := []struct {
		args, words string
		yes         bool
		ok          bool
	}{
		{"", "", false, true},
		{"a b", "a b", false, true},
		{"--yes a b", "a b", true, true},
		{"a --yes b", "a b", true, true},
		{"a b --yes", "a b", true, true},
		{"a -- --yes b", "a --yes b", false, true},
		{"a -- b -- c", "a b -- c", false, true},
		{"- a", "- a", false, true},
		{"a --no", "", false, false},
	}
	for _, tt := range tests {
		flags := flag.NewFlagSet("x", flag.ContinueOnError)
		flags.SetOutput(io.Discard)
		yes := flags.Bool("yes", false, "")
		words, err := Parse(flags, strings.Fields(tt.args))
		if strings.Join(words, " ") != tt.words || *yes != tt.yes || (err == nil) != tt.ok {
			t.Errorf("%q: %q, yes %v, %v", tt.args, words, *yes, err)
		}
	}
}
