package fileop

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

const (
	maxFindings     = 200 // that one report gives
	maxLookedAt     = 256 // files that are compared for one report, those touched last
	maxPathActions  = 50  // actions of one file that are compared, the latest ones
	maxFindingBytes = 4 << 10
)

// Mark is up to where the user's doings were reported. The zero value is the
// beginning of the journal. It holds for the journal that gave it.
type Mark struct {
	seq  uint64
	seen map[string]ContentID // what stood in a file that somebody else had changed
}

// mark is a Mark as it is written down.
type mark struct {
	Seq  uint64               `json:"seq"`
	Seen map[string]ContentID `json:"seen,omitempty"`
}

// MarshalJSON writes the mark down, to be read by UnmarshalJSON alone.
func (m Mark) MarshalJSON() ([]byte, error) { return json.Marshal(mark{m.seq, m.seen}) }

// UnmarshalJSON reads a mark that was written down.
func (m *Mark) UnmarshalJSON(data []byte) error {
	var read mark
	if err := json.Unmarshal(data, &read); err != nil {
		return err
	}
	m.seq, m.seen = read.Seq, read.Seen
	return nil
}

// within is a mark no later than the journal, which may have lost its latest records.
func (j *Journal) within(m Mark) Mark {
	j.mu.Lock()
	defer j.mu.Unlock()
	m.seq = min(m.seq, j.seq)
	return m
}

// Finding is what the user did with a change, or what became of it.
type Finding struct {
	Action  ActionID // "": what changed was not ours
	Hunk    int      // 0: the whole action
	Path    string
	Verdict Verdict
	Reason  string // as the journal has it: why it was refused, how it was undone
	Diff    string // what was changed, as a unified diff, bounded; "": nothing to show
	Deleted bool   // the file is not there any more
}

// Since tells what the user kept, changed and refused since a mark, and gives the
// next mark: verdicts on proposals and hunks, what was undone, and, by comparing the
// files as they are now with what was left there, hunks that were changed or taken
// back by hand. A hunk that just stays is not mentioned.
//
// Changes by commands are the journal's own, so they are not the user's. At most 200
// findings are given, and the 256 files that were touched last are compared. Files
// that cannot be read are left out. An error is ctx's.
func (j *Journal) Since(ctx context.Context, o *Operator, since Mark) ([]Finding, Mark, error) {
	next := Mark{seen: map[string]ContentID{}}
	j.mu.Lock()
	next.seq = j.seq
	found := j.verdictsSince(since.seq)
	paths := j.latestPaths()
	j.mu.Unlock()

	for _, path := range paths {
		if err := ctx.Err(); err != nil {
			return nil, since, err
		}
		now, err := o.imageOf(ctx, path)
		if err != nil {
			if seen, ok := since.seen[path]; ok {
				next.seen[path] = seen
			}
			continue
		}
		c := j.comparison(path)
		found = append(found, c.findings(since, now)...)
		if id := contentOf(now); id != c.left() {
			next.seen[path] = id
		}
	}
	return found[:min(len(found), maxFindings)], next, nil
}

// verdictsSince gives what was decided by word. The caller holds the lock.
func (j *Journal) verdictsSince(seq uint64) []Finding {
	var out []Finding
	for _, id := range j.order {
		a := j.actions[id]
		if a.Seq <= seq {
			continue
		}
		whole := Finding{Action: a.ID, Path: a.Path, Reason: a.Reason, Verdict: VerdictRefused}
		if a.State == StateRejected || a.State == StateUndone {
			out = append(out, whole)
			continue
		}
		if a.State == StateApplied && a.Reason == broughtBack {
			out = append(out, Finding{Action: a.ID, Path: a.Path, Verdict: VerdictKept, Reason: a.Reason})
			continue
		}
		if a.State == StateReviewed && len(a.Hunks) == 0 {
			out = append(out, Finding{Action: a.ID, Path: a.Path, Verdict: VerdictKept})
		}
		for _, h := range a.Hunks {
			if h.Decided > seq {
				out = append(out, Finding{Action: a.ID, Path: a.Path, Hunk: h.ID, Verdict: h.Verdict})
			}
		}
	}
	return out
}

// latestPaths lists the files that were touched last. The caller holds the lock.
func (j *Journal) latestPaths() []string {
	paths := slices.Sorted(maps.Keys(j.touches))
	latest := func(path string) uint64 { ts := j.touches[path]; return ts[len(ts)-1].seq }
	slices.SortStableFunc(paths, func(a, b string) int {
		switch x, y := latest(a), latest(b); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	paths = paths[:min(len(paths), maxLookedAt)]
	slices.Sort(paths)
	return paths
}

// imageOf reads a file's bytes as the user sees them; nil: there is none.
func (o *Operator) imageOf(ctx context.Context, path string) ([]byte, error) {
	f := undoFile{path: path}
	err := f.look(ctx, o)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return f.was, err
}

// comparison holds what is known of a file against what somebody else made of it.
type comparison struct {
	journal *Journal
	path    string
	touches []touch
	actions []TaskAction // that stand in it, the oldest first
}

func (j *Journal) comparison(path string) comparison {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := comparison{journal: j, path: path, touches: j.touches[path]}
	for _, id := range slices.Backward(j.order) {
		a := j.actions[id]
		if a.standing() && (a.Path == path && a.Kind != ActionRename || a.NewPath == path) && len(c.actions) < maxPathActions {
			c.actions = append(c.actions, a.clone())
		}
	}
	slices.Reverse(c.actions)
	return c
}

func (c comparison) left() ContentID { return c.touches[len(c.touches)-1].left }

// findings compares what each touch left with what the next one found, and what the
// last one left with what is there now, as far as that is new since the mark.
func (c comparison) findings(since Mark, now []byte) []Finding {
	seen, wasSeen := since.seen[c.path]
	var out []Finding
	for i, t := range c.touches {
		found, told := contentOf(now), false
		if i+1 < len(c.touches) {
			following := c.touches[i+1]
			if found = following.found; following.blind {
				continue
			}
			told = following.seq <= since.seq
		}
		told = told || wasSeen && t.seq <= since.seq && found == seen
		if told || t.blind || t.left == "" || t.left == found {
			continue
		}
		out = append(out, c.between(t, found, now)...)
	}
	return out
}

// between says what somebody made of what a touch had left.
func (c comparison) between(t touch, found ContentID, now []byte) []Finding {
	if found == "" {
		return []Finding{{Path: c.path, Verdict: VerdictRefused, Deleted: true}}
	}
	left, err := c.journal.content(t.left)
	to := now
	if err == nil && found != contentOf(now) {
		to, err = c.journal.content(found)
	}
	if err != nil || !isText(left) || !isText(to) {
		return []Finding{{Path: c.path, Verdict: VerdictChanged}} // more is not known
	}
	a, b := splitBytes(left), splitBytes(to)
	changes := diffLines(a, b)
	covered := make([]bool, len(changes))
	var out []Finding
	for _, action := range c.actions {
		out = append(out, c.hunkFindings(action, a, b, changes, covered)...)
	}
	if slices.Contains(covered, false) {
		out = append(out, Finding{Path: c.path, Verdict: VerdictChanged, Diff: findingDiff(c.path, string(left), string(to))})
	}
	return out
}

// hunkFindings finds the hunks of an action that were changed from a to b. It marks
// the changes that it has told of.
func (c comparison) hunkFindings(action TaskAction, a, b []string, changes []region, covered []bool) []Finding {
	if len(action.Hunks) == 0 {
		return nil
	}
	before, after, err := c.journal.images(action)
	if err != nil {
		return nil
	}
	old, made := splitBytes(before), splitBytes(after)
	later := diffLines(made, a)
	var out []Finding
	for _, h := range action.Hunks {
		r := h.region()
		if h.Verdict == VerdictRefused || !h.within(old, made) {
			continue
		}
		start, end, ok := shift(later, r.newStart, r.newEnd)
		if !ok {
			continue // a later change has rewritten it
		}
		touched := touching(changes, start, end)
		if len(touched) == 0 {
			continue
		}
		for _, i := range touched {
			covered[i] = true
		}
		from, to := changes[touched[0]], changes[touched[len(touched)-1]]
		first, last := min(start, from.oldStart), max(end, to.oldEnd)
		now := b[from.newStart-(from.oldStart-first) : to.newEnd+(last-to.oldEnd)]
		f := Finding{Action: action.ID, Hunk: h.ID, Path: c.path, Verdict: VerdictChanged}
		if slices.Equal(now, slices.Concat(a[first:start], old[r.oldStart:r.oldEnd], a[end:last])) {
			f.Verdict = VerdictRefused
		}
		f.Diff = findingDiff(c.path, strings.Join(a[first:last], ""), strings.Join(now, ""))
		out = append(out, f)
	}
	return out
}

func findingDiff(path, before, after string) string {
	if strings.ContainsRune(before+after, 0) {
		return "" // a part of a text in UTF-16, which only the whole tells
	}
	before = readable([]byte(before))
	return clipText(Unified(path, &before, readable([]byte(after))), maxFindingBytes)
}

// shift follows a range of lines through changes; false: one of them touches it.
func shift(changes []region, start, end int) (int, int, bool) {
	if len(touching(changes, start, end)) > 0 {
		return 0, 0, false
	}
	by := 0
	for _, r := range changes {
		if r.oldEnd <= start {
			by += (r.newEnd - r.newStart) - (r.oldEnd - r.oldStart)
		}
	}
	return start + by, end + by, true
}

// touching gives the indexes of the changes that change lines of a range or put
// lines inside it. Into an empty range they put lines at its very place.
func touching(changes []region, start, end int) []int {
	var out []int
	for i, r := range changes {
		inside := r.oldStart < end && r.oldEnd > start
		if start == end {
			inside = r.oldStart < start && r.oldEnd > start || r.oldStart == start && r.oldEnd == start
		}
		if inside {
			out = append(out, i)
		}
	}
	return out
}
