package tool

import (
	"fmt"
	"strings"
	"testing"

	"kimi-acp/fileop"
)

// TestOverwriteWhatWasRead: a text that changed since the model read it is not replaced
// as a whole, however it changed, until it was read again.
func TestOverwriteWhatWasRead(t *testing.T) {
	p := newPlace(t, map[string]string{"a": "one\n", "b": "never read\n"}, yes)
	p.ok("WriteFile", `{"path":"b","content":"two\n"}`)
	p.ok("ReadFile", `{"path":"a"}`)
	writeFiles(t, p.root, map[string]string{"a": "the user's\n"})
	p.fails("WriteFile", `{"path":"a","content":"two\n"}`, "changed since it was read", "read it again")
	if got := p.file("a"); got != "the user's\n" {
		t.Errorf("the file is %q", got)
	}
	p.ok("WriteFile", `{"path":"a","content":"more\n","mode":"append"}`)
	p.ok("WriteFile", `{"path":"a","content":"two\n"}`) // what it has just written it knows
	writeFiles(t, p.root, map[string]string{"a": "again\n"})
	p.ok("ReadFile", `{"path":"a"}`)
	p.ok("WriteFile", `{"path":"a","content":"three\n"}`)
	if got := p.file("a"); got != "three\n" {
		t.Errorf("the file is %q", got)
	}
}

func TestSeenIsBounded(t *testing.T) {
	var s seenTexts
	for i := range maxSeen + 10 {
		s.note(fmt.Sprint(i), strings.Repeat("x", i%7))
	}
	if len(s.texts) != maxSeen {
		t.Errorf("%d texts", len(s.texts))
	}
	before := "old"
	if err := s.current(fileop.Edit{Content: &before}, fileop.Change{Path: "unknown", Before: &before}); err != nil {
		t.Error(err)
	}
}
