package fileop

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// MaxEdit is the largest text that can be edited or written, in bytes.
const MaxEdit = 10 << 20

// Edit is what is to be done to a file: one of Content, Replace, Patch and Delete.
// MoveTo stands alone, or with Replace or Patch.
type Edit struct {
	Path    string
	Content *string       // the whole new text, or with Append the text to put behind the old one
	Append  bool          // with Content
	New     bool          // with Content: the file must not be there yet
	Replace []Replacement // all of them, one after the other, or none
	Patch   []Passage     // all of them or none
	Delete  bool          // the file is to be gone; Patch, if there is one, has to take every line
	MoveTo  string        // the path at which the file is to be, "": it stays
}

// Change is a planned edit: what stands there, what would stand there, and the bytes
// of buffer and disk that it was planned on. It holds until one of them changes.
type Change struct {
	Path   string     // absolute, as the user and the editor write it
	Real   string     // where Path leads with symbolic links resolved
	Kind   ActionKind // what it does to the file
	Before *string    // as the user sees it now; nil: the file is new
	After  string     // "" for a deletion
	Dirty  bool       // Before holds changes that are not saved; committing saves them too

	NewPath, NewReal string // where a rename leads, as Path and Real
	NotText          bool   // of a deletion or a rename: the file is no text, and Before is empty
	Size             int    // of a deletion or a rename: how many bytes the file has

	data   []byte // what is written
	spoken []byte // what an editor is given in its place, for a file that is not UTF-8
	bom    bool   // data begins with a byte order mark
	stamp  stamp
	action ActionID // under which it was proposed, "": it was not
}

// Plan computes an edit and changes nothing. A file keeps its newline style, its
// byte order mark and its encoding, so LF given for a CRLF file is written as CRLF; a
// new file gets what Content has.
//
// Besides Read's errors these are ErrBadEdit, ErrNoChange, ErrTooLarge, ErrEncoding,
// ErrNoMatch and ErrAmbiguous (both as *MatchError), ErrDirtyBuffer, and
// ErrInTheWay for a file that is where a new or a moved one is to be.
func (o *Operator) Plan(ctx context.Context, e Edit) (Change, error) {
	if err := e.check(); err != nil {
		return Change{}, err
	}
	p, err := o.folders.locate(e.Path)
	switch {
	case err != nil:
		return Change{}, err
	case e.Delete:
		return o.planDelete(ctx, p, e)
	case e.MoveTo != "":
		return o.planMove(ctx, p, e)
	}
	v, err := o.look(ctx, p)
	if err != nil {
		return Change{}, err
	}
	if e.New && v.exists() {
		return Change{}, fmt.Errorf("%s: %w; it was to be a new file, so change the one that is there instead", p.name, ErrInTheWay)
	}
	c := Change{Path: p.name, Real: p.real, Kind: ActionCreate, Dirty: v.dirty, stamp: v.stamp()}
	if v.exists() {
		c.Kind, c.Before = ActionEdit, &v.text.Body
	}
	if err := o.planText(&c, p, v, e); err != nil {
		return Change{}, err
	}
	return c, nil
}

// planText works out the text after an edit and how it is written.
func (o *Operator) planText(c *Change, p place, v view, e Edit) error {
	if err := o.mayEdit(p, v, e); err != nil {
		return err
	}
	after, err := v.apply(p.name, e)
	if err != nil {
		return err
	}
	data := after.Encode()
	if err := after.readsBack(data); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	if len(data) > MaxEdit {
		return &SizeError{Path: p.name, Size: int64(len(data)), Max: MaxEdit}
	}
	if v.exists() && after.Body == v.text.Body && after.BOM == v.text.BOM {
		return fmt.Errorf("%s: %w; the file already has this text", p.name, ErrNoChange)
	}
	c.After, c.data = after.Body, data
	c.speaks(after)
	return nil
}

// changesText tells a change of the text from a mere move.
func (e Edit) changesText() bool {
	return e.Content != nil || len(e.Replace) > 0 || len(e.Patch) > 0
}

func (e Edit) check() error {
	asked := 0
	for _, is := range []bool{e.Content != nil, len(e.Replace) > 0, len(e.Patch) > 0 && !e.Delete, e.Delete} {
		if is {
			asked++
		}
	}
	switch {
	case asked > 1:
		return fmt.Errorf("%w: give one of content, replacements, a patch and a deletion", ErrBadEdit)
	case asked == 0 && e.MoveTo == "":
		return fmt.Errorf("%w: neither content nor replacements", ErrBadEdit)
	case e.MoveTo != "" && (e.Delete || e.Content != nil):
		return fmt.Errorf("%w: a move goes with replacements or a patch alone", ErrBadEdit)
	case (e.Append || e.New) && e.Content == nil:
		return fmt.Errorf("%w: to append, or to make a new file, takes content", ErrBadEdit)
	}
	return nil
}

// mayEdit says whether the edit could be carried out at all, before it is computed.
func (o *Operator) mayEdit(p place, v view, e Edit) error {
	switch {
	case v.dirty && (!o.writes || o.unsaved != nil):
		return fmt.Errorf("%s: %w, and this editor lets nobody else write; ask the user to save the file, then read it again",
			p.name, ErrDirtyBuffer)
	case !v.exists() && e.Content == nil:
		return fmt.Errorf("%w; to make a new file, give its whole content", missing(p.name))
	case len(v.disk) > MaxEdit || len(v.buffer) > MaxEdit:
		return &SizeError{Path: p.name, Size: int64(max(len(v.disk), len(v.buffer))), Max: MaxEdit}
	case v.misread:
		return fmt.Errorf("%s: %w: the file is %s and the editor shows it as something else; ask the user to reopen it there in its encoding", p.name, ErrEncoding, v.text.Encoding)
	case v.alien && o.throughEditor(v.disk != nil) != (v.buffer != nil):
		return fmt.Errorf("%s: %w, and the editor does not both read and write; convert the file first", p.name, ErrEncoding)
	}
	return nil
}

// apply computes the text after the edit.
func (v view) apply(path string, e Edit) (Text, error) {
	switch {
	case len(e.Patch) > 0 && isNotebook(path), e.Append && isNotebook(path):
		return Text{}, fmt.Errorf("%s: %w: a notebook is edited by replacing texts in its cells", path, ErrBadEdit)
	case len(e.Patch) > 0:
		return v.text.patch(path, e.Patch)
	case e.Content == nil && isNotebook(path):
		return v.text.replaceInCells(path, e.Replace)
	case e.Content == nil:
		return v.text.replace(path, e.Replace)
	}
	given := *e.Content
	if len(given) > MaxEdit {
		return Text{}, &SizeError{Path: path, Size: int64(len(given)), Max: MaxEdit}
	}
	if isNotebook(path) {
		if err := wholeNotebook(path, given); err != nil {
			return Text{}, err
		}
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
	if c.data == nil && c.Kind != ActionDelete || c.Real == "" {
		return errors.New("fileop: a change that was not planned cannot be committed")
	}
	return nil
}
