package acp

import (
	"strings"
	"testing"
)

func TestUTF8Pieces(t *testing.T) {
	const text = "aé日😀\xffb\xe6\x97"
	want := strings.ToValidUTF8("aé日😀\xffb", "\ufffd")
	for size := 1; size <= len(text); size++ {
		var u utf8Pieces
		var got strings.Builder
		for i := 0; i < len(text); i += size {
			piece := u.add([]byte(text[i:min(i+size, len(text))]))
			if strings.ToValidUTF8(piece, "") != piece {
				t.Errorf("pieces of %d: %q is not UTF-8", size, piece)
			}
			got.WriteString(piece)
		}
		// What is cut off at the very end waits for more.
		if got.String() != want {
			t.Errorf("pieces of %d: %q, want %q", size, got.String(), want)
		}
	}
}
