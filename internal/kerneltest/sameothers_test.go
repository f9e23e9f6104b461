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
	s, program := readScene(t), buildProgram(t)
	all := s.play(t, program, "builtin")
	for _, kernel := range []struct {
		name    string
		install func(*testing.T) string
		leaves  string // what a line says that is not sent; "": all are
	}{
		{"python", installKimi, ""},
		{"rust", installAgent, "Then not."}, // a rejection ends its turn
	} {
		t.Run(kernel.name, func(t *testing.T) {
			want := slices.Clone(all)
			if kernel.leaves != "" {
				want = slices.DeleteFunc(want, func(line string) bool { return strings.Contains(line, kernel.leaves) })
			}
			got := s.play(t, program, kernel.name, "KIMI_KERNEL_BIN="+kernel.install(t))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what the editor was sent differs from the built-in kernel's:\n%s", diff)
			}
		})
	}
}
