package acptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
)

// Program is the agent of this module, built once for all tests of a test binary. The
// zero value is one that no test has asked for yet.
type Program struct {
	once sync.Once
	dir  string
	err  error
}

// Path is where the program is. The first call builds it. Tests that run at once may
// call it.
func (p *Program) Path(t testing.TB) string {
	t.Helper()
	p.once.Do(func() {
		if p.dir, p.err = os.MkdirTemp("", "kimi-acp-test"); p.err == nil {
			p.err = build(p.dir)
		}
	})
	if p.err != nil {
		t.Fatalf("build the agent: %v", p.err)
	}
	return programIn(p.dir)
}

// Run runs the tests of a test binary and removes the program if one of them has built
// it. It gives the status to exit with.
func (p *Program) Run(m *testing.M) int {
	code := m.Run()
	if err := os.RemoveAll(p.dir); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "remove the agent that was built:", err)
		code = 1
	}
	return code
}

// Build builds the agent of this module in a folder of this test, so that its path tells
// its processes from every other, and gives that path.
func Build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := build(dir); err != nil {
		t.Fatalf("build the agent: %v", err)
	}
	return programIn(dir)
}

// build takes no flags that go test is not called with either, so that both have one
// build cache; and the state of the repository is not in the program, which then is the
// same whatever was committed.
func build(dir string) error {
	out, err := exec.Command("go", "build", "-buildvcs=false", "-o", programIn(dir), "kimi-acp/cmd/kimi-acp").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
}

func programIn(dir string) string {
	name := "kimi-acp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(dir, name)
}
