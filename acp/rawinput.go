package acp

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// rawInput is a model's arguments as editors can read them. JSON lets a string hold
// half of a surrogate pair as an escape, and models write that; but many editors
// refuse the whole message for it, so it becomes U+FFFD, as in Go.
func rawInput(args json.RawMessage) json.RawMessage {
	var out []byte // nil: nothing had to be changed
	kept := 0      // args[:kept] are in out
	for at := 0; at < len(args); {
		i := bytes.IndexByte(args[at:], '\\')
		if i < 0 {
			break
		}
		at += i
		first, size := escape(args[at:])
		if utf16.IsSurrogate(first) {
			if second, more := escape(args[at+size:]); utf16.DecodeRune(first, second) != utf8.RuneError {
				size += more
			} else {
				out = append(append(out, args[kept:at]...), `\ufffd`...)
				kept = at + size
			}
		}
		at += size
	}
	if out == nil {
		return args
	}
	return append(out, args[kept:]...)
}

// escape reads the \u escape that valid JSON begins with, and tells its size in
// bytes. Anything else is no rune (-1); of an escape of another kind the size is 2.
func escape(s []byte) (r rune, size int) {
	if len(s) < 2 || s[0] != '\\' {
		return -1, 0
	}
	if s[1] != 'u' || len(s) < 6 {
		return -1, 2
	}
	v, err := strconv.ParseUint(string(s[2:6]), 16, 16)
	if err != nil {
		return -1, 2
	}
	return rune(v), 6
}
