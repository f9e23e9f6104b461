//go:build kernels

package kerneltest

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An editor cannot tell kimi-cli, nor the Rust kernel, from the built-in kernel: it is
// sent the same lines, but for what docs/kernels.md names.
func TestSameSceneInOtherKernels(t *testing.T) {
	s := readScene(t)
	all := s.play(t, "builtin")
	for _, kernel := range []struct {
		name    string
		install func(*testing.T) string
		leaves  string                  // what a line says that is not sent; "": all are
		order   func([]string) []string // undoes the order that the kernel leaves open; nil: it leaves none
	}{
		{"python", installKimi, "", nil},
		{"rust", installAgent, "Then not.", saidFirst}, // a rejection ends its turn
	} {
		t.Run(kernel.name, func(t *testing.T) {
			want := slices.Clone(all)
			if kernel.leaves != "" {
				want = slices.DeleteFunc(want, func(line string) bool { return strings.Contains(line, kernel.leaves) })
			}
			got := s.play(t, kernel.name, "KIMI_KERNEL_BIN="+kernel.install(t))
			if kernel.order != nil {
				got = kernel.order(got)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what the editor was sent differs from the built-in kernel's:\n%s", diff)
			}
		})
	}
}

// saidFirst puts what a model said beside a call before that call, where it was sent
// between the call and its end. The Rust kernel asks for a call in one task and tells what
// the model said in another, and tells nothing while it waits for the call: when it asks
// first, no host can know those words earlier. All else has to be in its place.
func saidFirst(lines []string) []string {
	const none = -1
	var told []string
	call := none // where the call that is open stands in told
	for _, line := range lines {
		switch {
		case call != none && strings.Contains(line, `_chunk","content"`):
			told = slices.Insert(told, call, line)
			call++
			continue
		case strings.Contains(line, `"sessionUpdate":"tool_call",`):
			call = len(told)
		case strings.Contains(line, `"status":"completed"`), strings.Contains(line, `"status":"failed"`):
			call = none
		}
		told = append(told, line)
	}
	return told
}
