package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"kimi-acp/fileop"
	"kimi-acp/internal/policy"
	"kimi-acp/soul/wire"
)

// commitGrace is how long a commit may go on after its turn was cancelled. A
// write that has begun should end, so that what it did is known and told.
const commitGrace = 2 * time.Second

// editPlans is how often an edit is planned before the file is given up as one
// that changes all the time.
const editPlans = 2

// Edit plans an edit, shows it, asks for it, and commits exactly what was shown.
// verb is what people read before the path, e.g. "Edit file". Edits of one path
// wait for each other; edits of different paths are asked for side by side and
// committed one after the other. When the file changes between plan and commit,
// the edit is planned once more, and asked for again unless it came out the same
// to the byte.
func (c *Invocation) Edit(ctx context.Context, verb string, e fileop.Edit) (fileop.Result, error) {
	return c.edit(ctx, verb, e, nil)
}

// edit is Edit as a part of something larger: card is what the call shows instead of
// this one change; nil: nothing else.
func (c *Invocation) edit(ctx context.Context, verb string, e fileop.Edit, card []wire.FileChange) (fileop.Result, error) {
	path, err := c.executor.operator.Resolve(e.Path)
	if err != nil {
		return fileop.Result{}, err
	}
	e.Path = path
	leave, err := c.enterPaths(ctx, e)
	if err != nil {
		return fileop.Result{}, err
	}
	defer leave()

	for range editPlans {
		change, err := c.plan(ctx, e)
		if err != nil {
			return fileop.Result{}, err
		}
		change = c.executor.journal.propose(c, change)
		result, err := c.commit(ctx, verb, change, card)
		if !errors.Is(err, fileop.ErrStale) {
			return result, err
		}
	}
	return fileop.Result{}, fmt.Errorf("%s changed again and again between showing the edit and writing it, so nothing was written: read it afresh and edit what stands there then", path)
}

// plan takes a reader's place, since planning reads.
func (c *Invocation) plan(ctx context.Context, e fileop.Edit) (fileop.Change, error) {
	if err := c.executor.readers.enter(ctx); err != nil {
		return fileop.Change{}, err
	}
	defer c.executor.readers.leave()
	change, err := c.executor.operator.Plan(ctx, e)
	var match *fileop.MatchError
	if errors.As(err, &match) && len(match.Nearest) > 0 && c.executor.files.hides(absolute(e.Path, c.executor.cwd), "") {
		blind := *match
		blind.Nearest = nil // they would tell the model what stands there
		err = &blind
	}
	if err == nil {
		err = c.executor.seen.current(e, change)
	}
	return change, err
}

// enterPaths waits for the turn of the edit's path, and of that to which it moves.
func (c *Invocation) enterPaths(ctx context.Context, e fileop.Edit) (leave func(), err error) {
	paths := []string{e.Path}
	if e.MoveTo != "" {
		to, err := c.executor.operator.Resolve(e.MoveTo)
		if err != nil {
			return nil, err
		}
		if to != e.Path {
			paths = append(paths, to)
			slices.Sort(paths) // all in one order, so that nobody waits for each other
		}
	}
	leave = func() {}
	for _, path := range paths {
		one, err := c.executor.edits.enter(ctx, path)
		if err != nil {
			leave()
			return nil, err
		}
		outer := leave
		leave = func() { one(); outer() }
	}
	return leave, nil
}

// approveEdit asks for a planned change, unless this very change was approved in this
// call or the rules allow it.
func (c *Invocation) approveEdit(ctx context.Context, verb string, change fileop.Change, card []wire.FileChange) error {
	r := c.executor.files.change(change)
	if r.Decision != policy.Deny && c.granted[change.Digest()] {
		return nil
	}
	action := editAction(verb, change)
	if card == nil {
		card = action.Files
	}
	c.Progress(false, "", card)
	return c.permit(ctx, r, action)
}

// editStands tells whether a change that was approved, or allowed, still is.
func (c *Invocation) editStands(change fileop.Change) bool {
	r := c.executor.files.change(change)
	return r.Decision == policy.Allow || r.Decision != policy.Deny && c.granted[change.Digest()]
}

func (c *Invocation) commit(ctx context.Context, verb string, change fileop.Change, card []wire.FileChange) (fileop.Result, error) {
	err := c.changeOnceAllowed(ctx, func() error {
		err := c.approveEdit(ctx, verb, change, card)
		if err != nil {
			c.executor.journal.rejected(change, err)
		}
		return err
	}, func() bool { return c.editStands(change) })
	if err != nil {
		return fileop.Result{}, err
	}
	defer c.executor.changes.leave()
	if err := c.executor.allows(Edits); err != nil {
		return fileop.Result{}, err
	}
	c.Progress(true, "", nil)
	lasting, cancel := Outlast(ctx, commitGrace)
	defer cancel()
	result, err := c.executor.operator.Commit(lasting, change)
	if err == nil {
		c.executor.seen.note(resultPath(change), result.Actual)
	}
	if err != nil && lasting.Err() != nil && !errors.Is(err, fileop.ErrUnconfirmed) {
		// Not wrapped: this must not pass for an interruption before the write.
		return result, fmt.Errorf("interrupted while %s was written, and it is not known whether it was (%s): read it before you rely on it", change.Path, err.Error())
	}
	return result, err
}

// Outlast gives a context that ends a grace after ctx has.
func Outlast(ctx context.Context, grace time.Duration) (context.Context, context.CancelFunc) {
	lasting, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer cancel()
		select {
		case <-time.After(grace):
		case <-lasting.Done():
		}
	})
	return lasting, func() {
		stop()
		cancel()
	}
}

// editFailed is the result of an edit that came to nothing, or about which it is
// only known that the file is no longer what it was.
func editFailed(ctx context.Context, r fileop.Result, err error) wire.ToolReturnValue {
	if !errors.Is(err, fileop.ErrUnconfirmed) {
		return Failed(ctx, err)
	}
	v := failure(sentence(err.Error())+" Read it before you go on.", "Written, but not confirmed")
	v.Display = append(v.Display, diffBlocks(r.Change.Path, r.Change.Before, r.Actual)...)
	v.Files = []wire.FileChange{fileChange(r.Change.Path, r.Change.Before, r.Actual)}
	return v
}

// edited is the result of a committed edit; done says in a sentence what it did. It
// waits a moment for what the edit has broken.
func (c *Invocation) edited(ctx context.Context, r fileop.Result, done string) wire.ToolReturnValue {
	path, before := resultPath(r.Change), r.Change.Before
	if r.Change.Kind == fileop.ActionDelete {
		return wire.ToolReturnValue{Message: done, Display: diffBlocks(path, before, ""), Files: filesOf(r.Change)}
	}
	if r.Change.Kind != fileop.ActionRename && before != nil && r.Actual == *before {
		return failure(fmt.Sprintf("%s is as it was before: the edit was handed to the editor, which did not keep it. The user may have turned it down there; ask before you try again.", path), "Not kept by the editor")
	}
	v := wire.ToolReturnValue{Message: done}
	if before == nil || r.Actual != *before {
		v.Display = diffBlocks(path, before, r.Actual)
		v.Files = []wire.FileChange{fileChange(path, before, r.Actual)}
	}
	if r.Adjusted {
		v.Message += " The file now differs from what you wrote: the editor formatted it, or the user changed the edit there."
		if !c.executor.files.hides(path, "") && !c.executor.files.hides(r.Change.Path, r.Change.Real) {
			v.Message += " The output shows the difference; keep to what stands there now."
			v.Output.Text = fileop.Unified(path, &r.Change.After, r.Actual)
		}
	}
	if r.Unsaved {
		v.Message += " The editor holds the new text but has not saved it, so commands do not see it yet."
	}
	if r.ReadBack != nil {
		v.Message += fmt.Sprintf(" What was written could not be read back (%v).", r.ReadBack)
	}
	if r.ReadBack == nil {
		c.check(ctx, r, &v)
	}
	return v
}
