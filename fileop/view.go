package fileop

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"unicode/utf8"
)

// view is what stands under a path at one moment, on disk and in the editor.
type view struct {
	disk    []byte // nil: not on disk
	buffer  []byte // nil: the editor does not tell, has no such file, or is behind the disk
	text    Text   // as the user sees it, with the style in which it is to be written
	dirty   bool   // the buffer differs from the disk
	alien   bool   // the disk's encoding is one that only the editor can write
	raw     bool   // not text; only files that are to go are looked at in this way
	misread bool   // the editor shows the file in another encoding than its own
}

func (v view) exists() bool { return v.disk != nil || v.buffer != nil }

// stamp binds a change to the bytes it was planned on: those on disk, and those that
// the text as the user sees it would be written with.
type stamp struct{ disk, seen digest }

// digest identifies bytes; the zero value stands for no file.
type digest [sha256.Size]byte

func (v view) stamp() stamp {
	s := stamp{disk: digestOf(v.disk)}
	if v.exists() {
		s.seen = digestOf(v.text.Encode())
	}
	return s
}

func digestOf(data []byte) digest {
	if data == nil {
		return digest{}
	}
	return sha256.Sum256(data)
}

// look reads a file from the disk and, where it reads, from the editor. It fails
// when the file cannot be taken for text; a file that is nowhere is an empty view.
func (o *Operator) look(ctx context.Context, p place) (view, error) {
	var v view
	data, err := o.disk.Read(ctx, p.name)
	switch {
	case err == nil:
		v.disk = notNil(data)
	case !errors.Is(err, fs.ErrNotExist):
		return view{}, err
	}
	onDisk, err := Decode(v.disk)
	if err != nil && (!o.reads || !isUTF16(v.disk)) {
		return view{}, fmt.Errorf("%s: %w", p.name, err)
	}
	v.text = onDisk
	v.alien = err != nil || onDisk.NotUTF8
	if !o.reads {
		return o.layUnsaved(p, v)
	}
	v.buffer, err = o.readBuffer(ctx, p, v.disk != nil)
	if err != nil || v.buffer == nil {
		return v, err
	}
	o.noteKnown(p)
	inEditor, err := Decode(v.buffer)
	if err != nil {
		return view{}, unreadableBuffer(p, err)
	}
	if o.behind.has(p.key(), digestOf(v.disk), inEditor.Body) {
		v.buffer = nil
		return v, nil
	}
	if onDisk.Encoding != UTF8 && misread(inEditor.Body, onDisk.Body) {
		v.buffer, v.misread = nil, true
		return v, nil
	}
	v.dirty = v.disk == nil || !v.alien && !sameText(inEditor.Body, onDisk.Body)
	v.text = inEditor.inStyleOf(onDisk)
	return v, nil
}

// readBuffer asks the editor. A file that is not on disk and that the editor does
// not know, or knows as empty since it opens what is missing, is no file.
func (o *Operator) readBuffer(ctx context.Context, p place, onDisk bool) ([]byte, error) {
	data, err := o.editor.Read(ctx, p.name)
	switch {
	case err == nil && len(data) == 0 && !onDisk:
		return nil, nil
	case err == nil:
		return notNil(data), nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case !onDisk:
		return nil, nil
	}
	return nil, refused("read", p.name, err)
}

func unreadableBuffer(p place, err error) error {
	return fmt.Errorf("%s, as the editor holds it: %w", p.name, err)
}

// refused carries the editor's words. Nothing but ErrRefused can be matched in it:
// what the editor calls missing may well exist.
func refused(what, path string, err error) error {
	return fmt.Errorf("%s: to %s it was %w: %s", path, what, ErrRefused, err.Error())
}

// misread tells whether an editor has put the sign for unreadable bytes where the
// file has characters. What it would save is not the file any more.
func misread(inEditor, onDisk string) bool {
	return strings.ContainsRune(inEditor, utf8.RuneError) && !strings.ContainsRune(onDisk, utf8.RuneError)
}

// inStyleOf gives a text from the editor the style that the file has on disk. An
// editor may hand out LF alone and no byte order mark, whatever the file has; one
// that hands out CRLF is taken at its word. It speaks UTF-8 whatever the file is in;
// a character that the file's encoding lacks makes the text UTF-8.
func (t Text) inStyleOf(file Text) Text {
	t.BOM = t.BOM || file.BOM
	if _, lacks := file.Encoding.lacks(t.Body); !lacks && !t.NotUTF8 {
		t.Encoding = file.Encoding
	}
	if t.Newline != LF || file.Newline == LF {
		return t
	}
	styled := Text{Body: file.Body, Newline: file.Newline, own: file.own}.withBody(t.Body)
	styled.BOM, styled.NotUTF8, styled.Encoding = t.BOM, t.NotUTF8, t.Encoding
	return styled
}

func notNil(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}
