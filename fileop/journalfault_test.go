package fileop_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"kimi-acp/fileop"
)

// faultyFile fails at its n-th write, from 1, after some bytes.
type faultyFile struct {
	bytes.Buffer
	at, after, calls int
	err              error
}

func (f *faultyFile) Write(p []byte) (int, error) {
	if f.calls++; f.calls != f.at {
		return f.Buffer.Write(p)
	}
	n, _ := f.Buffer.Write(p[:min(f.after, len(p))])
	return n, f.err
}

// faultyContents cannot keep what it is given the n-th time, from 1.
type faultyContents struct {
	fileop.Contents
	at, calls int
	err       error
}

func (f *faultyContents) Put(data []byte, sync bool) (fileop.ContentID, error) {
	if f.calls++; f.calls == f.at {
		return "", f.err
	}
	return f.Contents.Put(data, sync)
}

// TestJournalFaults lets each write of the journal fail, and each keeping of contents,
// while edits are made, parts refused and everything is undone. Nothing of that is
// refused for it, the user's bytes come back, and what is on disk can be read again.
func TestJournalFaults(t *testing.T) {
	for _, why := range []error{syscall.ENOSPC, syscall.EIO, syscall.EACCES, nil} { // nil: a short write alone
		for _, where := range []string{"file", "contents"} {
			if why == nil && where == "contents" {
				continue // the store itself tells a short write
			}
			for n, more := 1, true; more; n++ {
				t.Run(fmt.Sprint(where, " ", why, " ", n), func(t *testing.T) {
					l := newLedger(t, ways["both"])
					file, contents := &faultyFile{err: why, after: 7}, &faultyContents{Contents: fileop.NewMemContents(fileop.ContentLimits{}), err: why}
					if where == "file" {
						file.at = n
					} else {
						contents.at = n
					}
					l.kept = contents
					l.journal = l.open(nil, file)
					l.op = fileop.New(fileop.Options{Disk: l.disk, Editor: l.editor, EditorReads: true, EditorWrites: true, Roots: []string{l.root}, Recorder: l.journal})
					l.save(threeHunks)
					id := l.edits(1, 1, swapAll("1\n", "one\n"))
					l.edits(1, 2, fileop.Edit{Path: l.root + "/new", Content: ptr("new\n")})
					if _, err := l.journal.Refuse(t.Context(), l.op, id, 1); err != nil {
						t.Fatal(err)
					}
					for _, r := range l.undo(fileop.Which{All: true}) {
						if r.How == fileop.UndoKept || r.Err != nil {
							t.Errorf("%+v", r)
						}
					}
					l.wantDisk(threeHunks)
					if _, err := l.disk.Read(t.Context(), l.root+"/new"); err == nil {
						t.Error("the new file is still there")
					}
					again := l.open(strings.NewReader(file.String()), io.Discard)
					if got, want := len(again.Actions(fileop.Which{All: true})), len(l.journal.Actions(fileop.Which{All: true})); got != want {
						t.Errorf("%d actions can be read again, want %d", got, want)
					}
					more = file.calls >= n && where == "file" || contents.calls >= n && where == "contents"
				})
			}
		}
	}
}

func swapAll(old, text string) fileop.Edit {
	return fileop.Edit{Replace: []fileop.Replacement{{Old: old, New: text, All: true}}}
}
