package fileop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// How sure we are that a change is the command's and what it was. The user may have
// saved the same file at the same time.
const (
	confidenceSeen   = 0.9 // the bytes before and after are known
	confidenceGuess  = 0.8 // a rename, seen by equal contents alone
	confidenceUnseen = 0.5 // only size and times are known
)

// difference is a file that is not what it was before the command.
type difference struct {
	kind          ActionKind
	path, newPath string
	before, after scanned
	confidence    float64
}

// After looks at the files once the command has ended, and takes down what it finds
// as applied actions of the cause. It may be called once, and should be also when the
// command was interrupted, so ctx must outlast that. An error is ctx's, or one of
// walking the roots.
func (c *CommandScan) After(ctx context.Context, cause Cause) ([]TaskAction, Coverage, error) {
	s := c.scans
	s.mu.Lock()
	defer s.mu.Unlock()
	p := pass{scans: s, want: c.changed}
	if err := p.run(ctx, s.limits.After); err != nil {
		return nil, c.coverage, fmt.Errorf("looking at the files after the command: %w", err)
	}
	c.coverage.Partial = c.coverage.Partial || p.partial
	c.coverage.Unusable = max(c.coverage.Unusable, p.unusable)
	found := c.compare()
	found = pairRenames(append(c.missing(ctx), c.withoutOthers(ctx, found)...))
	if most := s.limits.Changes; len(found) > most {
		c.coverage.Dropped = len(found) - most
		found = found[:most]
	}
	maps.Copy(s.files, c.came)
	actions := s.record(ctx, cause, found)
	for _, d := range found {
		if d.kind != ActionCreate && !d.before.inside && d.before.id != d.after.id {
			c.coverage.NotKept++
		}
	}
	return actions, c.coverage, nil
}

// changed takes down a file that may have been changed, and tells whether it has to be
// read for that.
func (c *CommandScan) changed(path string, stat fingerprint) (*scanned, bool) {
	s := c.scans
	was := s.files[path]
	if was != nil {
		if was.round != s.round {
			c.stayed++
		}
		was.round = s.round
		if was.stat == stat && was.certain() {
			return was, false
		}
	}
	now := &scanned{stat: stat, at: s.now(), round: s.round}
	c.came[path] = now
	return now, stat.size <= MaxEdit && (was != nil || !c.older(stat))
}

// older tells whether a file was there, as it is, before the command.
func (c *CommandScan) older(stat fingerprint) bool {
	return stat.changed().Before(c.began.Add(-timeResolution))
}

// compare finds what was changed or made.
func (c *CommandScan) compare() []difference {
	doubtful := c.coverage.Partial || c.rulesChanged()
	var out []difference
	for path, now := range c.came {
		now, was := *now, c.scans.files[path]
		switch {
		case was != nil:
			if d, differs := compareFile(path, *was, now); differs {
				out = append(out, d)
			}
		case c.older(now.stat):
			// It was there, and was not looked at.
		case doubtful:
			// It may have been there. Taken for new, it would be deleted by an undo.
			out = append(out, difference{kind: ActionEdit, path: path, after: now, confidence: confidenceUnseen})
		default:
			out = append(out, difference{kind: ActionCreate, path: path, after: now, confidence: confidenceSeen})
		}
	}
	slices.SortStableFunc(out, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	return out
}

// rulesChanged tells whether files may have come into sight that were ignored.
func (c *CommandScan) rulesChanged() bool {
	for path, now := range c.came {
		if filepath.Base(path) != gitIgnoreFile {
			continue
		}
		was := c.scans.files[path]
		if was == nil {
			return true
		}
		if _, differs := compareFile(path, *was, *now); differs {
			return true
		}
	}
	for path := range c.outOfSight() {
		if filepath.Base(path) == gitIgnoreFile {
			return true
		}
	}
	return false
}

// outOfSight gives the files from before that the pass after the command did not come
// by: for most commands there are none.
func (c *CommandScan) outOfSight() iter.Seq2[string, *scanned] {
	return func(yield func(string, *scanned) bool) {
		if c.stayed == len(c.scans.files) {
			return
		}
		for path, f := range c.scans.files {
			if f.round != c.scans.round && !yield(path, f) {
				return
			}
		}
	}
}

func compareFile(path string, was, now scanned) (difference, bool) {
	d := difference{kind: ActionEdit, path: path, before: was, after: now, confidence: confidenceSeen}
	if was.id != "" && now.id != "" {
		return d, was.id != now.id
	}
	d.confidence = confidenceUnseen
	return d, was.stat.size != now.stat.size || was.stat.written != now.stat.written
}

// missing finds what was deleted. A file that is only out of sight, since it is
// ignored now or there was no time for it, is looked at by itself.
func (c *CommandScan) missing(ctx context.Context) []difference {
	var out []difference
	var gone []string
	reads := c.scans.limits.Changes
	for path, was := range c.outOfSight() {
		stat, err := fingerprintOf(path)
		switch {
		case err == nil:
			now, read := c.changed(path, stat)
			if read && reads > 0 {
				reads--
				c.lookAgain(ctx, path, now)
			}
			if d, differs := compareFile(path, *was, *now); differs {
				out = append(out, d)
			}
			continue
		case errors.Is(err, fs.ErrNotExist):
			d := difference{kind: ActionDelete, path: path, before: *was, confidence: confidenceSeen}
			if was.id == "" {
				d.confidence = confidenceUnseen
			}
			out = append(out, d)
		default:
			c.coverage.Unusable++
		}
		gone = append(gone, path)
	}
	for _, path := range gone {
		delete(c.scans.files, path)
	}
	slices.SortStableFunc(out, func(a, b difference) int { return strings.Compare(a.path, b.path) })
	return out
}

func (c *CommandScan) lookAgain(ctx context.Context, path string, now *scanned) {
	if data, err := c.scans.operator.disk.Read(ctx, path); err == nil {
		c.scans.remember(now, contentID(data), data)
	}
}

// pairRenames makes a rename of a file that went and one that came with the same
// bytes.
func pairRenames(found []difference) []difference {
	came := map[renameKey][]int{}
	for i, d := range found {
		if d.kind == ActionCreate {
			k := keyOfRename(d.after)
			came[k] = append(came[k], i)
		}
	}
	gone := make([]bool, len(found))
	for i := range found {
		d := &found[i]
		if d.kind != ActionDelete || d.before.stat.size == 0 {
			continue
		}
		k := keyOfRename(d.before)
		if len(came[k]) == 0 {
			continue
		}
		at := slices.IndexFunc(came[k], func(n int) bool { return found[n].after.stat.sameFile(d.before.stat) })
		d.confidence = confidenceSeen
		if at < 0 {
			if d.before.id == "" {
				continue // of two large files only that they are as large
			}
			at, d.confidence = 0, confidenceGuess
		}
		n := came[k][at]
		came[k] = slices.Delete(came[k], at, at+1)
		d.kind, d.newPath, d.after, gone[n] = ActionRename, found[n].path, found[n].after, true
	}
	out := found[:0]
	for i, d := range found {
		if !gone[i] {
			out = append(out, d)
		}
	}
	return out
}

// renameKey is what a renamed file takes along.
type renameKey struct {
	id            ContentID
	size, written int64 // when the bytes are not known
}

func keyOfRename(f scanned) renameKey {
	if f.id != "" {
		return renameKey{id: f.id}
	}
	return renameKey{size: f.stat.size, written: f.stat.written}
}

func (p fingerprint) sameFile(other fingerprint) bool {
	return p.inode != 0 && p.inode == other.inode && p.device == other.device
}

// record makes actions of what was found.
func (s *CommandScans) record(ctx context.Context, cause Cause, found []difference) []TaskAction {
	cause.Command = true
	s.journal.enterTurn(cause.Turn)
	actions := make([]TaskAction, 0, len(found))
	for _, d := range found {
		a := TaskAction{Kind: d.kind, Path: d.path, NewPath: d.newPath, Cause: cause, Confidence: d.confidence}
		at := d.path
		if d.newPath != "" {
			at = d.newPath
		}
		before, after := s.bytesOf(ctx, "", d.before), s.bytesOf(ctx, at, d.after)
		a.Before, a.After = d.before.id, d.after.id
		if d.kind == ActionEdit && before != nil && after != nil {
			a.Hunks = actionHunks(before, after)
		}
		for _, data := range [][]byte{before, after} {
			s.journal.keep(data, false)
		}
		actions = append(actions, a)
	}
	return s.journal.found(actions)
}

// bytesOf gives the bytes of a file that was looked at, nil when they are not there
// any more. With a path it looks there too.
func (s *CommandScans) bytesOf(ctx context.Context, path string, f scanned) []byte {
	if f.id == "" {
		return nil
	}
	if f.inside {
		if data, ok := s.scratch.get(f.kept, f.id); ok {
			return data
		}
	}
	if path == "" || f.stat.size > s.limits.FileBytes {
		return nil
	}
	data, err := s.operator.disk.Read(ctx, path)
	if err != nil || contentID(data) != f.id {
		return nil
	}
	return notNil(data)
}

// found takes down changes that were made by others, and gives them as actions.
func (j *Journal) found(actions []TaskAction) []TaskAction {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i, a := range actions {
		made := j.newAction(a.Cause)
		a.ID, a.State, a.At = made.ID, StateApplied, made.At
		stored := a.clone()
		j.put(&stored)
		actions[i] = stored.clone()
	}
	j.flush(false)
	return actions
}
