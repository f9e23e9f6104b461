package fileop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// undoFile is a file while changes are taken out of it: as it was found, and as it
// is to be.
type undoFile struct {
	place
	path string
	view view
	raw  bool // not text: it is read and written on disk, whatever the editor does

	was, now []byte    // nil: no file
	wanted   bool      // something is taken out of it
	goesTo   *undoFile // its contents move there, so it stays until they are there
	visited  bool
	image    []byte // what stands there after it was written
	written  bool
	err      error // why it could not be looked at or written
	note     error // what was not as it should be all the same
}

// left is what stands there when everything is done.
func (f *undoFile) left() []byte {
	if f.written {
		return f.image
	}
	return f.was
}

// undoFiles are the files of one undoing. They serve one goroutine.
type undoFiles struct {
	operator *Operator
	byPath   map[string]*undoFile
	order    []*undoFile
}

// open looks at a file, once for the whole undoing.
func (u *undoFiles) open(ctx context.Context, path string) (*undoFile, error) {
	if f, ok := u.byPath[path]; ok {
		return f, f.err
	}
	f := &undoFile{path: path}
	f.err = f.look(ctx, u.operator)
	if u.byPath == nil {
		u.byPath = map[string]*undoFile{}
	}
	u.byPath[path] = f
	u.order = append(u.order, f)
	return f, f.err
}

func (f *undoFile) look(ctx context.Context, o *Operator) (err error) {
	if f.place, err = o.folders.locate(f.path); err != nil {
		return err
	}
	f.view, err = o.look(ctx, f.place)
	if errors.Is(err, ErrBinary) {
		f.raw = true
		f.was, err = o.readRaw(ctx, f.place)
	} else {
		f.was = f.view.image()
	}
	f.now = f.was
	return err
}

// flush writes the files that are to change: first those that stay, then those that
// go, so that a crash in between leaves a file twice and never nowhere.
func (u *undoFiles) flush(ctx context.Context) {
	for _, f := range u.order {
		u.write(ctx, f)
	}
	for _, f := range u.order {
		if f.now != nil || f.err != nil || f.was == nil {
			continue
		}
		f.err = u.operator.remove(ctx, f)
		f.written = f.err == nil
	}
}

func (u *undoFiles) write(ctx context.Context, f *undoFile) {
	if f.visited {
		return
	}
	f.visited = true
	if f.goesTo != nil {
		u.write(ctx, f.goesTo)
		f.err = f.goesTo.err
	}
	if f.now != nil && f.err == nil && f.changes() {
		f.image, f.note, f.err = u.operator.restore(ctx, f)
		f.written = f.err == nil
	}
}

// changes tells whether anything is to be written. A text that the user has typed
// back without saving it is: the disk still holds the other one.
func (f *undoFile) changes() bool {
	if f.was == nil || !bytes.Equal(f.now, f.was) {
		return true
	}
	return f.wanted && f.view.dirty && !bytes.Equal(f.view.disk, f.now)
}

// image is a file's bytes as the user sees them: those on disk, or those that an
// unsaved text would be saved as.
func (v view) image() []byte {
	switch {
	case !v.exists():
		return nil
	case v.raw:
		return v.disk
	case v.disk != nil && !v.dirty && !(v.alien && v.buffer != nil):
		return v.disk
	}
	return v.text.Encode()
}

// restore writes a file as it is to be. It gives what stands there then, and what is
// worth knowing about that.
func (o *Operator) restore(ctx context.Context, f *undoFile) (image []byte, note, err error) {
	if f.raw || !isText(f.now) || len(f.now) > MaxEdit {
		return f.now, nil, o.exchangeRaw(ctx, f)
	}
	c, err := o.planBytes(f.place, f.view, f.now)
	if err != nil {
		return nil, nil, err
	}
	r, err := o.commit(ctx, c, noRecorder{})
	switch {
	case err != nil && bytes.Equal(r.image, f.now):
		return r.image, nil, nil // only its answer was lost
	case err != nil:
		return nil, nil, err
	case f.was != nil && bytes.Equal(r.image, f.was) && !bytes.Equal(r.image, f.now):
		return nil, nil, fmt.Errorf("%s: to write it back was %w: it did not keep the text", f.path, ErrRefused)
	case r.Adjusted:
		note = fmt.Errorf("%s: the editor changed the text on saving it", f.path)
	case r.Unsaved:
		note = fmt.Errorf("%s: the editor has not saved it yet", f.path)
	}
	return r.image, note, nil
}

// planBytes plans that a file is to hold exactly these bytes, in their own style.
func (o *Operator) planBytes(p place, v view, data []byte) (Change, error) {
	text, err := Decode(data)
	if err != nil {
		return Change{}, err
	}
	if err := o.mayEdit(p, v, Edit{Content: &text.Body}); err != nil {
		return Change{}, err
	}
	foreign := text.Encoding != UTF8 && (!o.reads || text.Encoding != v.text.Encoding)
	if o.throughEditor(v.disk != nil) && (text.NotUTF8 || foreign) {
		return Change{}, fmt.Errorf("%s: %w, so the editor cannot write it back", p.name, ErrEncoding)
	}
	c := Change{Path: p.name, Real: p.real, After: text.Body, Dirty: v.dirty, data: notNil(data), stamp: v.stamp()}
	c.speaks(text)
	if v.exists() {
		c.Before = &v.text.Body
	}
	return c, nil
}

// remove deletes a file that is still what it was found to be. A text that is only
// in the editor cannot be deleted by anybody else.
func (o *Operator) remove(ctx context.Context, f *undoFile) error {
	if f.raw {
		return o.exchangeRaw(ctx, f)
	}
	unlock, err := o.locks.lock(ctx, f.key())
	if err != nil {
		return err
	}
	defer unlock()
	now, err := o.look(ctx, f.place)
	switch {
	case err != nil:
		return err
	case now.stamp() != f.view.stamp():
		return fmt.Errorf("%s %w", f.path, ErrStale)
	case now.dirty:
		return fmt.Errorf("%s: %w; close it there without saving, then delete it", f.path, ErrDirtyBuffer)
	}
	return o.removeFromDisk(ctx, f.place, now.stamp().disk)
}

// removeFromDisk deletes what is expected on disk, as far as the store can tell.
func (o *Operator) removeFromDisk(ctx context.Context, p place, expected digest) error {
	err := o.discard(ctx, p, expected)
	if err == nil || errors.Is(err, ErrStale) || errors.Is(err, ErrUnconfirmed) {
		return err
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	if now, looking := o.readRaw(lasting, p); looking == nil && now == nil {
		return nil // only its answer was lost
	}
	return err
}

func (o *Operator) discard(ctx context.Context, p place, expected digest) error {
	if r, ok := o.disk.(Replacer); ok {
		return r.Discard(ctx, p.name, expected)
	}
	return o.disk.Remove(ctx, p.name)
}

// readRaw reads a file from the disk; nil: there is none.
func (o *Operator) readRaw(ctx context.Context, p place) ([]byte, error) {
	data, err := o.disk.Read(ctx, p.name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return notNil(data), nil
}

// exchangeRaw writes or deletes on disk what is no text, if it is still what it was.
func (o *Operator) exchangeRaw(ctx context.Context, f *undoFile) error {
	if f.view.dirty {
		return fmt.Errorf("%s: %w", f.path, ErrDirtyBuffer)
	}
	unlock, err := o.locks.lock(ctx, f.key())
	if err != nil {
		return err
	}
	defer unlock()
	now, err := o.readRaw(ctx, f.place)
	switch {
	case err != nil:
		return err
	case contentOf(now) != contentOf(f.was):
		return fmt.Errorf("%s %w", f.path, ErrStale)
	case f.now == nil:
		return o.removeFromDisk(ctx, f.place, digestOf(f.was))
	}
	err = o.replace(ctx, f.place, digestOf(f.was), f.now)
	if err == nil {
		return nil
	}
	lasting, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	if now, looking := o.readRaw(lasting, f.place); looking == nil && bytes.Equal(now, f.now) {
		return nil // only its answer was lost
	}
	return err
}
