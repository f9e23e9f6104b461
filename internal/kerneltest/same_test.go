package kerneltest

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// An editor cannot tell which kernel thinks: it is sent the same lines. Those with
// kimi-cli and the Rust kernel are TestSameSceneInOtherKernels.
func TestSameSceneInEachKernel(t *testing.T) {
	s := readScene(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	want := s.play(t, "builtin")
	for name, kernel := range map[string]string{
		"own binary": program.Path(t) + " wire --session {session} --agent-file {agent-file}",
		"fake 1.10":  self + " 1.10",
		"fake 1.2":   self + " 1.2",
	} {
		t.Run(name, func(t *testing.T) {
			got := s.play(t, kernel, fakeEnv+"=1")
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("what the editor was sent differs from the built-in kernel's:\n%s", diff)
			}
		})
	}
}
