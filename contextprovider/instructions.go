package contextprovider

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Reader reads whole files under absolute paths; fileop's stores are readers. A
// file that cannot be read is an error, for whatever reason.
type Reader interface {
	Read(ctx context.Context, path string) ([]byte, error)
}

// Instruction is what a project tells agents about itself.
type Instruction struct {
	Path      string // absolute
	Text      string
	Truncated bool
}

// maxInstructions bounds the text of all instructions together, in bytes, as
// kimi-cli does.
const maxInstructions = 32 << 10

// Instructions reads the AGENTS.md files of the roots: for each root
// .kimi/AGENTS.md, then AGENTS.md, else agents.md. Empty files, and files that are
// no text, are passed over; what is beyond 32 KiB in all is left out.
func Instructions(ctx context.Context, r Reader, roots []string) []Instruction {
	var out []Instruction
	left := maxInstructions
	add := func(path string) bool {
		raw, err := r.Read(ctx, path)
		if err != nil {
			return false
		}
		text, ok := plainText(raw)
		if !ok || text == "" || left == 0 {
			return true
		}
		i := Instruction{Path: path, Text: text}
		if len(text) > left {
			i.Text, i.Truncated = strings.ToValidUTF8(text[:left], ""), true
		}
		left -= len(i.Text)
		out = append(out, i)
		return true
	}
	for _, root := range roots {
		add(filepath.Join(root, ".kimi", "AGENTS.md"))
		if !add(filepath.Join(root, "AGENTS.md")) {
			add(filepath.Join(root, "agents.md"))
		}
	}
	return out
}

// plainText gives the trimmed text of a file without BOM and with LF line ends; ok
// is false for what is no text.
func plainText(raw []byte) (text string, ok bool) {
	raw = bytes.TrimPrefix(raw, []byte("\ufeff"))
	if !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return "", false
	}
	return strings.TrimSpace(strings.ReplaceAll(string(raw), "\r\n", "\n")), true
}
