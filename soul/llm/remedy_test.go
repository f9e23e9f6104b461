package llm

import (
	"strings"
	"testing"
)

func TestEveryKindHasARemedy(t *testing.T) {
	names := map[string]bool{KindUnknown.Remedy().Name: true}
	advice := map[string]bool{KindUnknown.Remedy().Advice: true}
	for _, k := range Kinds() {
		r := k.Remedy()
		if r.Name == "" || names[r.Name] {
			t.Errorf("kind %d has the name %q", k, r.Name)
		}
		if advice[r.Advice] || !strings.HasSuffix(r.Advice, ".") || r.Means == "" || strings.HasSuffix(r.Means, ".") {
			t.Errorf("%s: advice %q, meaning %q", r.Name, r.Advice, r.Means)
		}
		if r.Slowly && !r.Repeat || r.Repeat && (r.Compact || r.Strip) {
			t.Errorf("%s: the remedies contradict one another: %+v", r.Name, r)
		}
		names[r.Name], advice[r.Advice] = true, true
	}
}

func TestRepeatable(t *testing.T) {
	for _, c := range []struct {
		err  Error
		want bool
	}{
		{Error{Kind: KindServer}, true},
		{Error{Kind: KindServer, Final: true}, false},
		{Error{Kind: KindAuth}, false},
		{Error{}, false},
	} {
		if got := c.err.Repeatable(); got != c.want {
			t.Errorf("%+v: %v", c.err, got)
		}
	}
}
