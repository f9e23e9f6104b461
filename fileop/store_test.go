package fileop_test

import (
	"testing"

	"go.uber.org/goleak"

	"kimi-acp/fileop"
	"kimi-acp/fileop/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMem(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		root := t.TempDir()
		return storetest.Fixture{Store: fileop.NewMem(root), Root: root}
	})
}

func TestDisk(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		root := t.TempDir()
		return storetest.Fixture{Store: openDisk(t, root), Root: root, OnDisk: true}
	})
}

// TestFaultPassesOn keeps the failing store honest: with nothing to fail it is the
// store behind it.
func TestFaultPassesOn(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storetest.Fixture {
		root := t.TempDir()
		return storetest.Fixture{Store: storetest.FailBefore(fileop.NewMem(root), 0, nil), Root: root}
	})
}

func openDisk(t testing.TB, roots ...string) *fileop.Disk {
	t.Helper()
	d, err := fileop.OpenDisk(roots...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}
