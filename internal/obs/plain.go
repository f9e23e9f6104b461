package obs

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"unicode"
)

// maxSentence is the longest line, in bytes, for a person; the whole is in the log.
const maxSentence = 1000

// plainHandler writes warnings and errors for a person: one line each, without time,
// groups and quoting. Of the attributes it shows "err" and "error", which say why; the
// others are for the log.
type plainHandler struct {
	out   io.Writer
	mu    *sync.Mutex // shared by all that write to out
	cause string      // from an attribute given with With
}

func newPlainHandler(out io.Writer) *plainHandler {
	return &plainHandler{out: out, mu: &sync.Mutex{}}
}

// Enabled is true for warnings and whatever is worse.
func (h *plainHandler) Enabled(_ context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn
}

// Handle writes the line.
func (h *plainHandler) Handle(_ context.Context, r slog.Record) error {
	kind := "warning"
	if r.Level >= slog.LevelError {
		kind = "error"
	}
	text, cause := r.Message, h.cause
	r.Attrs(func(a slog.Attr) bool {
		if why := causeOf(a); why != "" {
			cause = why
		}
		return true
	})
	if cause != "" {
		text += ": " + cause
	}
	return h.sentence(kind, text)
}

func (h *plainHandler) sentence(kind, text string) error {
	line := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text)
	if len(line) > maxSentence {
		line = strings.ToValidUTF8(line[:maxSentence], "") + "…"
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, err := io.WriteString(h.out, "kimi-acp: "+kind+": "+line+"\n")
	return err
}

// WithAttrs keeps the cause, if one is among them.
func (h *plainHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	with := *h
	for _, a := range attrs {
		if why := causeOf(a); why != "" {
			with.cause = why
		}
	}
	return &with
}

// WithGroup changes nothing: a person is not shown groups.
func (h *plainHandler) WithGroup(string) slog.Handler { return h }

// causeOf gives the text of an attribute that says why, also within groups.
func causeOf(a slog.Attr) string {
	v := a.Value.Resolve()
	if v.Kind() == slog.KindGroup {
		for _, inner := range v.Group() {
			if why := causeOf(inner); why != "" {
				return why
			}
		}
		return ""
	}
	if a.Key == "err" || a.Key == "error" {
		return v.String()
	}
	return ""
}
