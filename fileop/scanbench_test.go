package fileop_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/fileop"
)

// BenchmarkCommandScan is what a command costs that changes one file: the first one,
// for which everything is read, and each later one. Files have 4 KiB, 50 a folder.
func BenchmarkCommandScan(b *testing.B) {
	for _, files := range []int{200, 5_000, 50_000} {
		root := b.TempDir()
		text := strings.Repeat("a line of a file\n", 240)
		for i := range files {
			dir := filepath.Join(root, fmt.Sprint(i/2500), fmt.Sprint(i/50))
			if i%50 == 0 {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					b.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), []byte(text), 0o644); err != nil {
				b.Fatal(err)
			}
		}
		disk, err := fileop.OpenDisk(root)
		if err != nil {
			b.Fatal(err)
		}
		fresh := func() *fileop.CommandScans {
			j, err := fileop.OpenJournal(fileop.JournalOptions{File: io.Discard, Contents: fileop.NewMemContents(fileop.ContentLimits{})})
			if err != nil {
				b.Fatal(err)
			}
			scratch, err := os.Create(filepath.Join(b.TempDir(), "scratch"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = scratch.Close() }) // what it holds is thrown away
			op := fileop.New(fileop.Options{Disk: disk, Roots: []string{root}, Recorder: j})
			return fileop.NewCommandScans(op, j, scratch, fileop.ScanLimits{})
		}
		round := func(b *testing.B, s *fileop.CommandScans, n int) {
			scan, err := s.Before(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(root, "0", "0", "0"), fmt.Appendf(nil, "change %d\n", n), 0o644); err != nil {
				b.Fatal(err)
			}
			found, coverage, err := scan.After(b.Context(), fileop.Cause{Turn: 1})
			if err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
			if coverage.Partial {
				b.ReportMetric(1, "partial")
			}
		}
		n := 0
		b.Run(fmt.Sprint("first/", files), func(b *testing.B) {
			for b.Loop() {
				n++
				round(b, fresh(), n)
			}
		})
		b.Run(fmt.Sprint("later/", files), func(b *testing.B) {
			s := fresh()
			for since := time.Now(); time.Since(since) < time.Second; { // until no file is new any more
				n++
				round(b, s, n)
			}
			for b.Loop() {
				n++
				round(b, s, n)
			}
		})
		if err := disk.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
