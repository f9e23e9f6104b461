package acp

import (
	"fmt"
	"testing"
)

// However many calls a session makes, each has an id of its own, and what is kept
// of them does not grow without end.
func TestCallIDsAreUniqueAndFew(t *testing.T) {
	c := calls{used: map[string]bool{}}
	seen := map[string]bool{}
	for n := range 3 * maxUsed {
		for _, id := range []string{"", "call", fmt.Sprint("functions.Shell:", n), fmt.Sprintf("call~%d", n)} {
			got := c.unique(id)
			if seen[got] {
				t.Fatalf("the id %q was given before", got)
			}
			seen[got] = true
		}
	}
	if len(c.used) > maxUsed {
		t.Errorf("%d ids are kept", len(c.used))
	}
}
