package fileop_test

import (
	"testing"

	"kimi-acp/fileop"
)

// TestChangeDigest: whatever of a change differs, its digest does.
func TestChangeDigest(t *testing.T) {
	text := func(s string) *string { return &s }
	base := fileop.Change{Path: "/w/a", Real: "/w/a", Before: text("a"), After: "b"}
	same := fileop.Change{Path: "/w/a", Real: "/w/a", Before: text("a"), After: "b"}
	if base.Digest() != same.Digest() {
		t.Error("equal changes have two digests")
	}
	for _, other := range []fileop.Change{
		{Path: "/w/b", Real: "/w/a", Before: text("a"), After: "b"},
		{Path: "/w/a", Real: "/w/b", Before: text("a"), After: "b"},
		{Path: "/w/a", Real: "/w/a", Before: text("x"), After: "b"},
		{Path: "/w/a", Real: "/w/a", Before: text("a"), After: "x"},
		{Path: "/w/a", Real: "/w/a", After: "b"},
		{Path: "/w/a", Real: "/w/a", Before: text(""), After: "ab"},
	} {
		if other.Digest() == base.Digest() {
			t.Errorf("%+v has the digest of %+v", other, base)
		}
	}
	if fileop.DigestOf("a", "bc") == fileop.DigestOf("ab", "c") {
		t.Error("texts run into each other")
	}
}
