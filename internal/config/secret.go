package config

import (
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// hidden is what a Secret shows of itself.
const hidden = "[secret]"

// Secret is a text that does not show itself: printed in whatever way, logged or
// marshalled it gives a placeholder, or nothing if it is empty. Only an unexported
// field that is printed with its struct escapes this, so keep secrets in exported ones.
type Secret string

// Reveal gives the text itself.
func (s Secret) Reveal() string { return string(s) }

// String gives the placeholder.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return hidden
}

// Format prints the placeholder for every verb: with a wrong verb fmt would pass over
// String and print the text.
func (s Secret) Format(f fmt.State, verb rune) {
	// A writer that fails is fmt's to report.
	if verb == 'q' || verb == 'v' && f.Flag('#') {
		_, _ = io.WriteString(f, `"`+s.String()+`"`)
		return
	}
	_, _ = io.WriteString(f, s.String())
}

// GoString gives the placeholder in quotes.
func (s Secret) GoString() string { return `"` + s.String() + `"` }

// MarshalJSON gives the placeholder as a JSON string.
func (s Secret) MarshalJSON() ([]byte, error) { return []byte(s.GoString()), nil }

// MarshalText gives the placeholder.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// LogValue gives the placeholder.
func (s Secret) LogValue() slog.Value { return slog.StringValue(s.String()) }

// cleanKey gives a key, and false for a text that is none. Blank space around it is what
// copying leaves behind; anything else that cannot stand in a header is not of a key.
func cleanKey(text string) (Secret, bool) {
	key := strings.TrimSpace(text)
	for _, b := range []byte(key) {
		if b <= ' ' || b > '~' {
			return "", false
		}
	}
	return Secret(key), true
}

const notAKey = "holds characters that no key has; it is not used"
