package fileop

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// readBackTime is how long reading back after a write may take. It runs on when the
// caller's context has ended, since the write has happened.
const readBackTime = 10 * time.Second

// Result is what a commit did.
type Result struct {
	Change   Change
	Actual   string // the text that was read back: what stands there now
	Adjusted bool   // Actual is not what was planned: a formatter ran, or parts were rejected
	Unsaved  bool   // the editor took the text but has not saved it; commands do not see it
	ReadBack error  // why nothing could be read back; Actual is then what was planned

	image []byte // the bytes that the write has left; nil: none, or not known
}

// Commit carries out a planned change if neither buffer nor disk has changed since,
// else it is ErrStale and nothing has been done. It writes through the editor where
// that is offered, else on disk, and then reads back by the same way. Through an editor
// that only writes go files that are not on disk.
//
// Other errors are those of Read and of the store that writes, an editor's as
// ErrRefused, and the Recorder's. After any of them the file is as it was, except
// after ErrUnconfirmed.
func (o *Operator) Commit(ctx context.Context, c Change) (Result, error) {
	return o.commit(ctx, c, o.recorder)
}

func (o *Operator) commit(ctx context.Context, c Change, rec Recorder) (Result, error) {
	if err := c.planned(); err != nil {
		return Result{}, err
	}
	p, err := o.folders.locate(c.Path)
	if err != nil {
		return Result{}, err
	}
	to := p
	if c.Kind == ActionRename {
		if to, err = o.folders.locate(c.NewPath); err != nil {
			return Result{}, err
		}
	}
	unlock, err := o.locks.lockBoth(ctx, p.key(), to.key())
	if err != nil {
		return Result{}, err
	}
	defer unlock()

	now, err := o.lookFor(ctx, p, c)
	if err != nil {
		return Result{}, err
	}
	if p.real != c.Real || c.Kind == ActionRename && to.real != c.NewReal || now.stamp() != c.stamp {
		rec.Stale(c)
		return Result{}, fmt.Errorf("%s %w; nothing was written, read it again", p.name, ErrStale)
	}
	switch c.Kind {
	case ActionDelete:
		return o.commitDelete(ctx, p, c, now, rec)
	case ActionRename:
		return o.commitMove(ctx, p, to, c, now, rec)
	}
	end, err := rec.Begin(c, now.image())
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", p.name, err)
	}
	if err := o.write(ctx, p, c); err != nil {
		if errors.Is(err, ErrStale) { // in the last moment, and nothing was written
			end(Outcome{Err: err, Stale: true})
			return Result{}, fmt.Errorf("%s %w; nothing was written, read it again", p.name, ErrStale)
		}
		r, known, err := o.failed(ctx, p, c, err)
		end(Outcome{Image: r.image, Unknown: !known, Err: err})
		return r, err
	}
	r := o.readBack(ctx, p, c)
	end(Outcome{Image: r.image})
	return r, nil
}

// lookFor looks at the file of a change. One that is to go counts as changed when it
// is not there, or not saved, any more.
func (o *Operator) lookFor(ctx context.Context, p place, c Change) (view, error) {
	if c.Kind != ActionDelete && c.Kind != ActionRename {
		return o.look(ctx, p)
	}
	v, err := o.standing(ctx, p)
	if errors.Is(err, fs.ErrNotExist) {
		return view{}, nil
	}
	return v, err
}

func (o *Operator) write(ctx context.Context, p place, c Change) error {
	if !c.throughEditor(o) {
		if err := o.replace(ctx, p, c.stamp.disk, c.data); err != nil {
			return err
		}
		if o.reads {
			shown := ""
			if c.Before != nil {
				shown = *c.Before
			}
			o.behind.note(p.key(), c.stamp.disk, shown, c.data)
		}
		return nil
	}
	data := c.data
	if c.spoken != nil {
		data = c.spoken
	}
	if c.bom && o.addsBOM.Load() {
		data = data[len(bom):]
	}
	if err := o.writeBuffer(ctx, p, data); err != nil {
		return err
	}
	return o.takeBackSecondBOM(ctx, p, c)
}

// replace writes on disk over what is expected there, as far as the store can tell.
func (o *Operator) replace(ctx context.Context, p place, expected digest, data []byte) error {
	if r, ok := o.disk.(Replacer); ok {
		return r.Replace(ctx, p.name, expected, data)
	}
	return o.disk.Write(ctx, p.name, data)
}

func (o *Operator) writeBuffer(ctx context.Context, p place, data []byte) error {
	err := o.editor.Write(ctx, p.name, data)
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("writing %s through the editor: %w", p.name, ctx.Err())
	}
	return refused("write", p.name, err)
}

// takeBackSecondBOM repairs what comes of an editor that hides a file's byte order
// mark and puts it back itself: the one that was sent has become text.
func (o *Operator) takeBackSecondBOM(ctx context.Context, p place, c Change) error {
	if !c.bom || o.addsBOM.Load() {
		return nil
	}
	got, err := o.disk.Read(ctx, p.name)
	if err != nil || !bytes.HasPrefix(got, []byte(bom+bom)) {
		return nil // the read-back that follows reports what there is to report
	}
	o.addsBOM.Store(true)
	return o.writeBuffer(ctx, p, c.data[len(bom):])
}

// failed finds out whether a write that was reported as failed has happened all the
// same, as when only the answer was lost. It is not known when nothing can be read.
func (o *Operator) failed(ctx context.Context, p place, c Change, cause error) (r Result, known bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	now, err := o.look(ctx, p)
	if err != nil {
		return Result{}, false, cause
	}
	r.image = now.image()
	if now.stamp() == c.stamp {
		return r, true, cause
	}
	r.Change, r.Actual, r.Unsaved = c, now.text.Body, now.dirty
	r.Adjusted = !sameText(now.text.Body, c.After)
	return r, true, fmt.Errorf("%w: %w", cause, ErrUnconfirmed)
}

// readBack looks at what a write has left, by the way it was written: an editor
// that only reads may not have noticed yet what was written past it.
func (o *Operator) readBack(ctx context.Context, p place, c Change) Result {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readBackTime)
	defer cancel()
	r := Result{Change: c, Actual: c.After, image: c.data}
	var now view
	edits := c.throughEditor(o)
	if !edits {
		now, r.ReadBack = o.lookAtDisk(ctx, p)
	} else {
		now, r.ReadBack = o.look(ctx, p)
	}
	switch {
	case r.ReadBack != nil:
		return r
	case edits && !o.reads && now.stamp() == c.stamp:
		r.Unsaved = true // it was taken, and only the editor knows more
		return r
	case !now.exists():
		r.ReadBack = missing(p.name)
		return r
	}
	r.Actual = now.text.Body
	if edits {
		r.image = now.left(c.stamp)
	}
	r.Adjusted = !sameText(r.Actual, c.After)
	r.Unsaved = now.dirty
	return r
}

// left is what a write through the editor has left: what the editor made of it, but
// not what was typed after that. On disk nobody makes anything of what is written.
func (v view) left(old stamp) []byte {
	if v.dirty && v.disk != nil && digestOf(v.disk) != old.disk {
		return v.disk
	}
	return v.image()
}

func (o *Operator) lookAtDisk(ctx context.Context, p place) (view, error) {
	data, err := o.disk.Read(ctx, p.name)
	if err != nil {
		return view{}, err
	}
	text, err := Decode(data)
	return view{disk: notNil(data), text: text}, err
}
