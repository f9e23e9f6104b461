package fileop

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// MaxEdit is the largest text that can be edited or written, in bytes.
const MaxEdit = 10 << 20

// Edit is what is to be done to a file: Content or Replace, not both.
type Edit struct {
	Path    string
	Content *string       // the whole new text, or with Append the text to put behind the old one
	Append  bool          // with Content
	Replace []Replacement // all of them, one after the other, or none
}

// Change is a planned edit: what stands there, what would stand there, and the bytes
// of buffer and disk that it was planned on. It holds until one of them changes.
type Change struct {
	Path   string  // absolute, as the user and the editor write it
	Real   string  // where Path leads with symbolic links resolved
	Before *string // as the user sees it now; nil: the file is new
	After  string
	Dirty  bool // Before holds changes that are not saved; committing saves them too

	data   []byte // what is written
	spoken []byte // what an editor is given in its place, for a file that is not UTF-8
	bom    bool   // data begins with a byte order mark
	stamp  stamp
	action ActionID // under which it was proposed, "": it was not
}

// Plan computes an edit and changes nothing. A file keeps its newline style and its
// byte order mark, so LF given for a CRLF file is written as CRLF; a new file gets
// what Content has.
//
// Besides Read's errors these are ErrBadEdit, ErrNoChange, ErrTooLarge, ErrEncoding,
// ErrNoMatch and ErrAmbiguous (both as *MatchError), and ErrDirtyBuffer.
func (o *Operator) Plan(ctx context.Context, e Edit) (Change, error) {
	if err := e.check(); err != nil {
		return Change{}, err
	}
	p, err := o.folders.locate(e.Path)
	if err != nil {
		return Change{}, err
	}
	v, err := o.look(ctx, p)
	if err != nil {
		return Change{}, err
	}
	if err := o.mayEdit(p, v, e); err != nil {
		return Change{}, err
	}
	after, err := v.apply(p.name, e)
	if err != nil {
		return Change{}, err
	}
	data := after.Encode()
	if err := after.readsBack(data); err != nil {
		return Change{}, fmt.Errorf("%s: %w", p.name, err)
	}
	if len(data) > MaxEdit {
		return Change{}, &SizeError{Path: p.name, Size: int64(len(data)), Max: MaxEdit}
	}
	if v.exists() && after.Body == v.text.Body && after.BOM == v.text.BOM {
		return Change{}, fmt.Errorf("%s: %w; the file already has this text", p.name, ErrNoChange)
	}
	c := Change{
		Path: p.name, Real: p.real, After: after.Body, Dirty: v.dirty,
		data: data, stamp: v.stamp(),
	}
	c.speaks(after)
	if v.exists() {
		c.Before = &v.text.Body
	}
	return c, nil
}

func (e Edit) check() error {
	switch {
	case e.Content != nil && len(e.Replace) > 0:
		return fmt.Errorf("%w: give content or replacements, not both", ErrBadEdit)
	case e.Content == nil && len(e.Replace) == 0:
		return fmt.Errorf("%w: neither content nor replacements", ErrBadEdit)
	case e.Append && e.Content == nil:
		return fmt.Errorf("%w: to append takes content", ErrBadEdit)
	}
	return nil
}

// mayEdit says whether the edit could be carried out at all, before it is computed.
func (o *Operator) mayEdit(p place, v view, e Edit) error {
	switch {
	case v.dirty && !o.writes:
		return fmt.Errorf("%s: %w, and this editor lets nobody else write; ask the user to save the file, then read it again",
			p.name, ErrDirtyBuffer)
	case !v.exists() && e.Content == nil:
		return fmt.Errorf("%w; to make a new file, give its whole content", missing(p.name))
	case len(v.disk) > MaxEdit || len(v.buffer) > MaxEdit:
		return &SizeError{Path: p.name, Size: int64(max(len(v.disk), len(v.buffer))), Max: MaxEdit}
	case v.misread:
		return fmt.Errorf("%s: %w: the file is %s and the editor shows it as something else; ask the user to reopen it there in its encoding", p.name, ErrEncoding, v.text.Encoding)
	case v.alien && o.writes != (v.buffer != nil):
		return fmt.Errorf("%s: %w, and the editor does not both read and write; convert the file first", p.name, ErrEncoding)
	case v.text.Encoding != UTF8 && o.writes && !o.reads:
		return fmt.Errorf("%s: %w: the file is %s, and it is not known in what the editor would save it; convert the file first", p.name, ErrEncoding, v.text.Encoding)
	}
	return nil
}

// apply computes the text after the edit.
func (v view) apply(path string, e Edit) (Text, error) {
	if e.Content == nil {
		return v.text.replace(path, e.Replace)
	}
	given := *e.Content
	if len(given) > MaxEdit {
		return Text{}, &SizeError{Path: path, Size: int64(len(given)), Max: MaxEdit}
	}
	t := v.text
	if !e.Append {
		t.NotUTF8 = false // nothing of those bytes stays
	}
	if err := t.accepts(given); err != nil {
		return Text{}, fmt.Errorf("%s: %w", path, err)
	}
	if t.Body == "" && t.Encoding == UTF8 { // new or empty: exactly what was given
		whole, err := Decode([]byte(given))
		whole.BOM = whole.BOM || t.BOM
		return whole, err
	}
	if !strings.Contains(t.Body, "\n") {
		t.Newline = newlineOf(given)
	}
	if e.Append {
		return t.withBody(t.Body + joinLF(given)), nil
	}
	given, marked := strings.CutPrefix(given, bom)
	t.BOM = t.BOM || marked
	return t.withBody(joinLF(given)), nil
}

// speaks says what an editor is given of the text: UTF-8, of which it makes what the
// file is in, with the mark that it needs.
func (c *Change) speaks(t Text) {
	if t.Encoding == UTF8 {
		c.bom = t.BOM
		return
	}
	c.spoken = []byte(t.spoken(false))
}

// readsBack makes sure that what is written is taken for the same text again.
// Windows-1252 is known by how it looks, and an edit may change that.
func (t Text) readsBack(data []byte) error {
	if t.Encoding != Windows1252 {
		return nil
	}
	if again, err := Decode(data); err != nil || again.Body != t.Body {
		return fmt.Errorf("%w: after this edit the file could not be told to be %s any more; convert it to UTF-8 first", ErrEncoding, t.Encoding)
	}
	return nil
}

// planned tells a Change that Plan made from one that was put together by hand.
func (c Change) planned() error {
	if c.data == nil {
		return errors.New("fileop: a change that was not planned cannot be committed")
	}
	return nil
}
