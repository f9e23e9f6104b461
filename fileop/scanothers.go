package fileop

import (
	"context"
	"slices"
	"time"
)

// The editor is asked about few files around a command, and not for long.
const (
	maxUnsavedAsked = 16
	unsavedTime     = 500 * time.Millisecond
)

// Ended says that nothing of the command runs any more: what is changed from here on
// is somebody else's. It may be left out when that is not known.
func (c *CommandScan) Ended() { c.ended = c.scans.now() }

// withoutOthers leaves out what the user has changed while the command ran, as far as
// that can be told: a file that was changed after the command's end, and one that the
// editor held unsaved before the command and holds as it is on disk now, which is to
// say that the user has saved it.
func (c *CommandScan) withoutOthers(ctx context.Context, found []difference) []difference {
	return slices.DeleteFunc(found, func(d difference) bool {
		others := c.changedAfterEnd(d.after) ||
			d.kind == ActionEdit && c.unsaved[d.path] && c.scans.operator.isSaved(ctx, d.path)
		if others {
			c.coverage.Others++
		}
		return others
	})
}

// changedAfterEnd tells whether a file was changed between the command's end and the
// look at it. A time beyond that is one of another machine's clock, and says nothing.
func (c *CommandScan) changedAfterEnd(f scanned) bool {
	changed := f.stat.changed()
	return !c.ended.IsZero() && changed.After(c.ended) && !changed.After(f.at)
}

// unsavedFiles lists, as a Walk names them, those files of which the editor holds
// another text than the disk: of the few that it gave last, as far as it answers in
// time.
func (o *Operator) unsavedFiles(ctx context.Context) map[string]bool {
	if !o.reads {
		return nil
	}
	known := o.Known()
	unsaved := map[string]bool{}
	ctx, cancel := context.WithTimeout(ctx, unsavedTime)
	defer cancel()
	for _, f := range known[max(0, len(known)-maxUnsavedAsked):] {
		if v, err := o.lookAt(ctx, f.Name); err == nil && v.dirty {
			unsaved[f.Path] = true
		}
	}
	return unsaved
}

// isSaved tells whether the editor is known to hold a file as it is on disk.
func (o *Operator) isSaved(ctx context.Context, path string) bool {
	ctx, cancel := context.WithTimeout(ctx, unsavedTime)
	defer cancel()
	v, err := o.lookAt(ctx, path)
	return err == nil && v.buffer != nil && !v.dirty
}

func (o *Operator) lookAt(ctx context.Context, path string) (view, error) {
	p, err := o.folders.locate(path)
	if err != nil {
		return view{}, err
	}
	return o.look(ctx, p)
}
