package tool

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// search is one run of Grep. Files are searched side by side; what they give is put
// in the order of the walk.
type search struct {
	in      grepArguments
	pattern *searchPattern
	filter  fileFilter
	exec    *Executor
	shows   func(path string) bool      // it may be searched without asking
	at      settled                     // where the search begins, when that was named
	known   map[string]fileop.KnownFile // by the path that a walk gives
	stop    func()                      // ends the search
	visits  int                         // those of the scan that were announced
	order   *inOrder

	mu    sync.Mutex
	told  scanned
	found []foundFile // but with content, where the page holds it all
	page  page
	lines int // matching lines on the page or before it
	files int // with such lines
}

// foundFile is a file with matches.
type foundFile struct {
	n     int // its place in the order
	path  string
	count int
}

// wants tells which files are searched. It is called in order, by one goroutine.
func (s *search) wants(e fileop.Entry) bool {
	if !s.filter.wants(e.Rel) {
		return false
	}
	if e.Rel == "." && s.at.name != "" {
		return s.at.found(e.Path)
	}
	if !s.shows(e.Path) {
		s.note(&s.told.sensitive, e.Path)
		return false
	}
	return true
}

// visit searches one file of the disk, in the text that the user sees.
func (s *search) visit(ctx context.Context, n int, e fileop.Entry, data []byte, err error) {
	defer s.order.finish(n)
	s.mu.Lock()
	s.visits = max(s.visits, n+1)
	s.mu.Unlock()
	if known, ok := s.known[e.Path]; ok && err == nil {
		if snapshot, err := s.exec.overlay.Read(ctx, known.Name); err == nil {
			data = []byte(snapshot.Text)
		}
	}
	switch {
	case errors.Is(err, fileop.ErrTooLarge):
		s.note(&s.told.large, e.Path)
	case err != nil && ctx.Err() == nil:
		s.note(&s.told.unreadable, e.Path)
	case err == nil:
		s.searchText(ctx, n, e.Path, data)
	}
}

func (s *search) note(list *[]string, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, path)
}

// searchUnsaved searches the files that only the editor has, behind all others; false:
// there are none.
func (s *search) searchUnsaved(ctx context.Context, from string) bool {
	unsaved := unsavedFiles(ctx, s.exec, from)
	for _, u := range unsaved {
		if !s.filter.wants(u.rel) {
			continue
		}
		if asked := u.rel == "." && s.at.found(u.snapshot.Path); !asked && (!s.shows(u.snapshot.Path) || u.snapshot.Real != "" && !s.shows(u.snapshot.Real)) {
			s.note(&s.told.sensitive, u.snapshot.Path)
			continue
		}
		s.searchText(ctx, s.visits, u.snapshot.Path, []byte(u.snapshot.Text))
		s.order.finish(s.visits)
		s.visits++
	}
	return len(unsaved) > 0
}

// searchText searches one text, which is the n-th in order.
func (s *search) searchText(ctx context.Context, n int, path string, text []byte) {
	if bytes.IndexByte(text[:min(len(text), binaryHead)], 0) >= 0 {
		return
	}
	if bytes.IndexByte(text, '\r') >= 0 {
		text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	}
	switch s.in.OutputMode {
	case outputContent:
		s.searchContent(ctx, n, path, text)
	case outputCounts:
		if count := s.pattern.count(text); count > 0 {
			s.add(foundFile{n: n, path: path, count: count})
		}
	default:
		s.pattern.lines(text, func(line) bool {
			s.add(foundFile{n: n, path: path})
			return false
		})
	}
}

func (s *search) add(f foundFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.found = append(s.found, f)
}

// searchContent puts the lines of one text on the page, once it is this text's turn.
func (s *search) searchContent(ctx context.Context, n int, path string, text []byte) {
	w := lineWriter{search: s, name: relative(path, s.exec.cwd), text: text, number: 1}
	s.pattern.lines(text, func(l line) bool {
		if !w.turn {
			if s.order.wait(ctx, n) != nil {
				return false
			}
			w.turn = true
			s.mu.Lock()
			s.files++
			s.mu.Unlock()
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.page.more || !w.match(l) {
			s.stop()
			return false
		}
		return ctx.Err() == nil
	})
	if w.turn {
		s.mu.Lock()
		defer s.mu.Unlock()
		if !s.page.more && !w.after(len(text)) {
			s.stop()
		}
	}
}

// lineWriter puts matches of one text on the page, with the lines around them. Its
// caller holds the lock of the search.
type lineWriter struct {
	search *search
	name   string
	text   []byte
	turn   bool

	next    int // where the lines that were not written yet begin
	counted int // how far number is right
	number  int // of the line that begins at counted
	owed    int // lines still to be written after the last match
	matched bool
}

// match writes a line with a match, what is owed to the one before, and the lines
// before it; false: the page is full.
func (w *lineWriter) match(l line) bool {
	in := w.search.in
	if !w.after(l.start) {
		return false
	}
	start := l.start
	for range in.Before {
		if start <= w.next {
			break
		}
		start = bytes.LastIndexByte(w.text[:start-1], '\n') + 1
	}
	start = max(start, w.next)
	if in.Before+in.After > 0 && (start > w.next || !w.matched) {
		w.search.page.separate()
	}
	for start < l.start {
		before := lineAt(w.text, start)
		if !w.write(before, '-', 0) {
			return false
		}
		start = before.end + 1
	}
	at := 0
	if l.end-l.start > maxSearchLine {
		if found := w.search.pattern.re.FindIndex(w.text[l.start:l.end]); found != nil {
			at = found[0]
		}
	}
	if !w.write(l, ':', at) {
		return false
	}
	w.search.lines++
	w.owed, w.matched = in.After, true
	return true
}

// after writes the lines that are owed to the last match, but none from end on.
func (w *lineWriter) after(end int) bool {
	for ; w.owed > 0 && w.next < end; w.owed-- {
		if !w.write(lineAt(w.text, w.next), '-', 0) {
			return false
		}
	}
	return true
}

// write writes a line; at is where in it a match begins.
func (w *lineWriter) write(l line, mark byte, at int) bool {
	var b strings.Builder
	b.WriteString(w.name)
	b.WriteByte(mark)
	if w.search.in.LineNumbers {
		w.number += bytes.Count(w.text[w.counted:l.start], []byte{'\n'})
		w.counted = l.start
		b.WriteString(strconv.Itoa(w.number))
		b.WriteByte(mark)
	}
	b.WriteString(cutAround(w.text[l.start:l.end], at))
	w.next = l.end + 1
	return w.search.page.add(b.String())
}

// result puts together what was found.
func (s *search) result() wire.ToolReturnValue {
	var message string
	switch s.in.OutputMode {
	case outputContent:
		message = s.contentMessage()
	default:
		message = s.listFiles()
	}
	v := wire.ToolReturnValue{Output: wire.Output{Text: s.page.text()}, Message: message}
	if next := s.page.next(); next != "" {
		v.Message += " " + next
	}
	if s.nothing() && !s.in.IncludeIgnored {
		v.Message += " What .gitignore files leave out was not searched; `include_ignored` changes that."
	}
	return withNotes(v, s.told.notes(s.exec.cwd))
}

func (s *search) nothing() bool { return s.page.seen == 0 && !s.page.more }

func (s *search) contentMessage() string {
	switch {
	case s.nothing():
		return "No matches found."
	case s.page.more:
		return fmt.Sprintf("The first %s, in %s.", plural(s.lines, "matching line"), plural(s.files, "file"))
	}
	return fmt.Sprintf("Found %s in %s.", plural(s.lines, "matching line"), plural(s.files, "file"))
}

// listFiles puts files on the page, in the order of the walk.
func (s *search) listFiles() string {
	if len(s.found) == 0 {
		return "No matches found."
	}
	slices.SortFunc(s.found, func(a, b foundFile) int { return cmp.Compare(a.n, b.n) })
	total := 0
	for _, f := range s.found {
		total += f.count
		name := strings.ToValidUTF8(relative(f.path, s.exec.cwd), "\uFFFD")
		if s.in.OutputMode == outputCounts {
			name += ":" + strconv.Itoa(f.count)
		}
		s.page.add(name)
	}
	if s.in.OutputMode == outputCounts {
		return fmt.Sprintf("Found %s in %s.", countNoun(total), plural(len(s.found), "file"))
	}
	return fmt.Sprintf("Found matches in %s.", plural(len(s.found), "file"))
}

func countNoun(n int) string {
	if n == 1 {
		return "1 match"
	}
	return fmt.Sprintf("%d matches", n)
}
