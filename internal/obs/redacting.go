package obs

import (
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// maxText is the longest text, in bytes, that a record may hold in one place.
const maxText = 8 << 10

// redacting takes secrets out of everything in a record, names included, before the
// next handler sees it. What was given with With is redacted with each record, so that
// a secret that becomes known later is taken out of it as well.
type redacting struct {
	next    slog.Handler
	secrets *Redactor
	given   []given
}

// given is one call of WithAttrs or WithGroup.
type given struct {
	group string // or else attrs
	attrs []slog.Attr
}

// Enabled asks the next handler.
func (h redacting) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs keeps the attributes for each record.
func (h redacting) WithAttrs(attrs []slog.Attr) slog.Handler {
	if len(attrs) > 0 {
		h.given = append(slices.Clip(h.given), given{attrs: attrs})
	}
	return h
}

// WithGroup keeps the group for each record.
func (h redacting) WithGroup(name string) slog.Handler {
	if name != "" {
		h.given = append(slices.Clip(h.given), given{group: name})
	}
	return h
}

// Handle hands the record on without secrets.
func (h redacting) Handle(ctx context.Context, r slog.Record) error {
	attrs := make([]slog.Attr, 0, r.NumAttrs())
	r.Attrs(func(a slog.Attr) bool {
		attrs = append(attrs, a)
		return true
	})
	for _, g := range slices.Backward(h.given) {
		if g.group != "" {
			attrs = []slog.Attr{slog.GroupAttrs(g.group, attrs...)}
		} else {
			attrs = append(slices.Clone(g.attrs), attrs...)
		}
	}
	clean := slog.NewRecord(r.Time, r.Level, h.text(r.Message), r.PC)
	for _, a := range attrs {
		clean.AddAttrs(h.attr(a))
	}
	return h.next.Handle(ctx, clean)
}

func (h redacting) text(s string) string {
	size := len(s)
	// Far more than is shown is searched, since a secret may stand across the end.
	s = h.secrets.Text(s[:min(size, 2*maxText)])
	if size <= maxText || len(s) <= maxText && size <= 2*maxText {
		return s
	}
	return fmt.Sprintf("%s… (cut, of %d bytes)", strings.ToValidUTF8(s[:min(len(s), maxText)], ""), size)
}

func (h redacting) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	clean := slog.Attr{Key: h.text(a.Key)}
	switch {
	case v.Kind() == slog.KindGroup:
		inner := make([]slog.Attr, 0, len(v.Group()))
		for _, g := range v.Group() {
			inner = append(inner, h.attr(g))
		}
		clean.Value = slog.GroupValue(inner...)
	case h.secrets.tellingName(a.Key) && v.String() != "":
		clean.Value = slog.StringValue(hidden)
	case v.Kind() == slog.KindString:
		clean.Value = slog.StringValue(h.text(v.String()))
	case v.Kind() == slog.KindAny:
		clean.Value = h.any(v.Any())
	default: // numbers, times and truth values
		clean.Value = v
	}
	return clean
}

// any gives what the JSON handler would show of v, as far as that has no secrets.
func (h redacting) any(v any) slog.Value {
	switch v := v.(type) {
	case nil:
		return slog.AnyValue(nil)
	case error:
		return slog.StringValue(h.text(printed(v)))
	case []byte:
		return slog.StringValue(h.text(string(v)))
	case fmt.Stringer:
		_, asJSON := v.(json.Marshaler)
		_, asText := v.(encoding.TextMarshaler)
		if !asJSON && !asText {
			return slog.StringValue(h.text(printed(v)))
		}
	}
	b, err := json.Marshal(v)
	if err != nil {
		return slog.StringValue(h.text(printed(v)))
	}
	clean := h.text(string(b))
	if !json.Valid([]byte(clean)) { // it was cut
		return slog.StringValue(clean)
	}
	return slog.AnyValue(json.RawMessage(clean))
}

// printed is fmt's text of v: fmt survives methods that panic, as on a nil pointer.
func printed(v any) string { return fmt.Sprintf("%+v", v) }
