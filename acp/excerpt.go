package acp

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"kimi-acp/fileop"
	"kimi-acp/internal/jsonstring"
	"kimi-acp/soul/wire"
)

// Bounds of the texts of changes in one message, in bytes as they are sent. A question
// is read at once and has to fit on the line that carries it, which is at most 64 KiB
// long; a card is scrolled through.
const (
	maxAskedDiff = 48 << 10
	maxCardDiff  = 256 << 10
)

const (
	leastExcerpt = 240     // bytes of a place that are worth showing
	wholeContext = 1 << 30 // lines
)

// diffs shows changes: whole texts where they fit, else the places that differ. Where
// something of those is left out each place gives up as much, and the last content
// says how much that was.
func diffs(files []wire.FileChange, most int) []toolContent {
	size := 0
	for _, f := range files {
		size += sentSize(f.New)
		if f.Old != nil {
			size += sentSize(*f.Old)
		}
	}
	out := make([]toolContent, 0, len(files))
	if size <= most {
		for _, f := range files {
			out = append(out, diff(f, f.Old, f.New))
		}
		return out
	}
	e := newExcerpt(files, most)
	for i, f := range files {
		old, text := e.texts(i)
		if f.Old == nil {
			out = append(out, diff(f, nil, text))
			continue
		}
		out = append(out, diff(f, &old, text))
	}
	return append(out, textContent(e.note()))
}

func diff(f wire.FileChange, old *string, text string) toolContent {
	c := toolContent{Type: "diff", Path: f.Path, OldText: old, NewText: &text}
	if f.Deleted {
		c.Meta = &contentMeta{Deleted: true}
	}
	return c
}

// excerpt is the places in which files change, as far as there is room for them.
type excerpt struct {
	places []changedPlace
	room   int // bytes for each place
	hidden int // places that are not shown at all
	cut    int // places that are shown in part
	gone   int // bytes of text that are not shown
}

type changedPlace struct {
	fileop.Hunk
	file int
}

// placeFrame is what the lines that name a place take on both sides.
const placeFrame = 2 * len("⟨line 1000000⟩\\n\\n")

func (p changedPlace) size() int { return sentSize(p.OldText) + sentSize(p.NewText) + placeFrame }

// newExcerpt finds the places, with as many of the lines around them as fit.
func newExcerpt(files []wire.FileChange, most int) *excerpt {
	e := &excerpt{}
	for i, f := range files {
		old := ""
		if f.Old != nil {
			old = *f.Old
		}
		for _, h := range fileop.AllHunks(old, f.New) {
			e.places = append(e.places, changedPlace{h, i})
		}
	}
	for _, around := range []int{wholeContext, 1, 0} {
		total := 0
		for i := range e.places {
			e.places[i].Hunk = e.places[i].Around(around)
			total += e.places[i].size()
		}
		if total <= most {
			e.room = most
			return e
		}
	}
	if shown := max(1, most/leastExcerpt); len(e.places) > shown {
		for _, p := range e.places[shown:] {
			e.gone += len(p.OldText) + len(p.NewText)
		}
		e.hidden = len(e.places) - shown
		e.places = e.places[:shown]
	}
	e.room = fairShare(e.places, most)
	return e
}

// fairShare is how much each place may take, so that small ones are whole and large
// ones are cut to one size.
func fairShare(places []changedPlace, most int) int {
	sizes := make([]int, len(places))
	for i, p := range places {
		sizes[i] = p.size()
	}
	slices.Sort(sizes)
	for i, s := range sizes {
		if share := most / (len(sizes) - i); s > share {
			return share
		}
		most -= s
	}
	return sizes[len(sizes)-1]
}

// texts are the old and the new text of a file's places. Equal lines between them name
// the line at which each begins.
func (e *excerpt) texts(file int) (old, text string) {
	var a, b strings.Builder
	for _, p := range e.places {
		if p.file != file {
			continue
		}
		before, after := p.OldText, p.NewText
		if p.size() > e.room {
			e.cut++
			before, after = e.shortened(before, (e.room-placeFrame)/2), e.shortened(after, (e.room-placeFrame)/2)
		}
		for _, side := range []struct {
			to   *strings.Builder
			text string
		}{{&a, before}, {&b, after}} {
			fmt.Fprintf(side.to, "⟨line %d⟩\n", p.NewStart)
			if side.text != "" {
				side.to.WriteString(strings.TrimSuffix(side.text, "\n") + "\n")
			}
		}
	}
	return a.String(), b.String()
}

// shortened keeps the beginning of a text and says what is missing of it.
func (e *excerpt) shortened(text string, most int) string {
	if sentSize(text) <= most {
		return text
	}
	most -= len("⟨10000000 bytes more⟩\\n")
	kept, size := 0, 0
	for kept < len(text) {
		_, n := utf8.DecodeRuneInString(text[kept:])
		if size += sentSize(text[kept:kept+n]) - len(`""`); size > most {
			break
		}
		kept += n
	}
	if end := strings.LastIndexByte(text[:kept], '\n') + 1; end > kept/2 {
		kept = end
	}
	gone := len(text) - kept
	e.gone += gone
	return strings.TrimSuffix(text[:kept], "\n") + fmt.Sprintf("\n⟨%d bytes more⟩", gone)
}

// note says what of the change is not there to be read.
func (e *excerpt) note() string {
	all := len(e.places) + e.hidden
	if e.cut+e.hidden == 0 {
		return fmt.Sprintf("The file is large, so only the %s that change are shown. What is decided about is the whole change.", places(all))
	}
	var shown []string
	for _, part := range []struct {
		n   int
		how string
	}{{len(e.places) - e.cut, "whole"}, {e.cut, "in part"}, {e.hidden, "not at all"}} {
		if part.n > 0 {
			shown = append(shown, fmt.Sprint(part.n, " ", part.how))
		}
	}
	return fmt.Sprintf("The change is large: %s. Shown are %s; %d bytes of text are not shown. What is decided about is the whole change.",
		places(all), strings.Join(shown, ", "), e.gone)
}

func places(n int) string {
	if n == 1 {
		return "1 place"
	}
	return fmt.Sprintf("%d places", n)
}

// sentSize is how long a text is in JSON.
func sentSize(text string) int { return len(jsonstring.Append(nil, text)) }
