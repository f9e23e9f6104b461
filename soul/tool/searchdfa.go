package tool

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

const (
	maxLineStates = 2000 // states of one lineMatcher
	maxLineProg   = 2000 // instructions of a pattern that has one
	lineEnd       = 128  // the input behind the last byte of a line
	lineInputs    = 129  // ASCII and lineEnd
)

// lineMatcher finds lines that a pattern matches, ten times as fast as package
// regexp, by making a deterministic automaton of the pattern while it runs. It only
// says whether a line matches, only for lines of ASCII, and gives up on patterns
// that need too many states; package regexp does the rest. It serves one goroutine
// at a time.
type lineMatcher struct {
	prog   *syntax.Prog
	states []lineState
	next   []int32          // of state s and input c at s*lineInputs+c; unknownState until it is needed
	ids    map[string]int32 // states by what they are
	seen   []bool           // scratch: instructions followed
}

// lineState is where a pattern may stand behind some byte of a line.
type lineState struct {
	pcs  []uint32 // instructions to go on from, before empty matches are followed
	prev rune     // what came before, as far as \b and ^ tell: 'a', ' ', or -1 for nothing
}

const (
	unknownState int32 = iota
	matchedState
	firstState // at the beginning of a line
)

// What lineMatcher says of a line.
type lineAnswer uint8

const (
	lineDiffers lineAnswer = iota
	lineMatches
	lineUnsure // package regexp has to say
)

// newLineMatcher gives nil for a pattern that is too large.
func newLineMatcher(prog *syntax.Prog) *lineMatcher {
	if len(prog.Inst) > maxLineProg {
		return nil
	}
	m := &lineMatcher{prog: prog, ids: map[string]int32{}, seen: make([]bool, len(prog.Inst))}
	for range firstState {
		m.add(lineState{}) // they have names, not places
	}
	m.add(lineState{pcs: []uint32{uint32(prog.Start)}, prev: -1})
	return m
}

func (m *lineMatcher) add(s lineState) int32 {
	m.states = append(m.states, s)
	m.next = append(m.next, make([]int32, lineInputs)...)
	return int32(len(m.states) - 1)
}

// find gives the first line, from the line that begins at pos on, that matches or of
// which only package regexp can tell. lineDiffers: there is none.
func (m *lineMatcher) find(text []byte, pos int) (line, lineAnswer) {
	state, start := firstState, pos
	for i := pos; i < len(text); i++ {
		c := text[i]
		if c == '\n' {
			switch m.step(state, lineEnd) {
			case matchedState:
				return line{start, i}, lineMatches
			case unknownState:
				return line{start, i}, lineUnsure
			}
			state, start = firstState, i+1
			continue
		}
		if c >= lineEnd {
			return lineAt(text, i), lineUnsure
		}
		next := m.next[int(state)*lineInputs+int(c)]
		if next < firstState {
			if next = m.step(state, int(c)); next < firstState {
				l := line{start, lineAt(text, i).end}
				if next == matchedState {
					return l, lineMatches
				}
				return l, lineUnsure
			}
		}
		state = next
	}
	if start < len(text) {
		switch m.step(state, lineEnd) {
		case matchedState:
			return line{start, len(text)}, lineMatches
		case unknownState:
			return line{start, len(text)}, lineUnsure
		}
	}
	return line{}, lineDiffers
}

// matches says of one line, given without its end, whether it matches.
func (m *lineMatcher) matches(text []byte) lineAnswer {
	state := firstState
	for _, c := range text {
		if c >= lineEnd {
			return lineUnsure
		}
		next := m.next[int(state)*lineInputs+int(c)]
		if next < firstState {
			switch next = m.step(state, int(c)); next {
			case matchedState:
				return lineMatches
			case unknownState:
				return lineUnsure
			}
		}
		state = next
	}
	switch m.step(state, lineEnd) {
	case matchedState:
		return lineMatches
	case unknownState:
		return lineUnsure
	}
	return lineDiffers
}

// step gives the state behind an input: unknownState when there would be too many,
// matchedState when a match has ended before the input.
func (m *lineMatcher) step(from int32, input int) int32 {
	at := int(from)*lineInputs + input
	if m.next[at] == unknownState {
		m.next[at] = m.makeState(m.states[from], input)
	}
	return m.next[at]
}

func (m *lineMatcher) makeState(from lineState, input int) int32 {
	r := rune(input)
	if input == lineEnd {
		r = -1
	}
	clear(m.seen)
	var to []uint32
	empty := syntax.EmptyOpContext(from.prev, r)
	for _, pc := range from.pcs {
		var matched bool
		if to, matched = m.follow(pc, empty, r, to); matched {
			return matchedState
		}
	}
	// A match may begin at every byte.
	to = append(to, uint32(m.prog.Start))
	slices.Sort(to)
	next := lineState{pcs: slices.Compact(to), prev: ' '}
	if syntax.IsWordChar(r) {
		next.prev = 'a'
	}
	key := next.key()
	id, ok := m.ids[key]
	if ok {
		return id
	}
	if len(m.states) >= maxLineStates {
		return unknownState
	}
	id = m.add(next)
	m.ids[key] = id
	return id
}

// follow goes on from an instruction as far as empty matches lead, and adds to `to`
// what stands behind those that take r; true: a match ends here.
func (m *lineMatcher) follow(pc uint32, empty syntax.EmptyOp, r rune, to []uint32) ([]uint32, bool) {
	stack := []uint32{pc}
	for len(stack) > 0 {
		pc := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if m.seen[pc] {
			continue
		}
		m.seen[pc] = true
		switch inst := &m.prog.Inst[pc]; inst.Op {
		case syntax.InstMatch:
			return to, true
		case syntax.InstAlt, syntax.InstAltMatch:
			stack = append(stack, inst.Out, inst.Arg)
		case syntax.InstCapture, syntax.InstNop:
			stack = append(stack, inst.Out)
		case syntax.InstEmptyWidth:
			if syntax.EmptyOp(inst.Arg)&^empty == 0 {
				stack = append(stack, inst.Out)
			}
		case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			if r >= 0 {
				to = append(to, inst.Out)
			}
		case syntax.InstRune, syntax.InstRune1:
			if r >= 0 && inst.MatchRune(r) {
				to = append(to, inst.Out)
			}
		}
	}
	return to, false
}

func (s lineState) key() string {
	b := make([]byte, 0, 1+4*len(s.pcs))
	b = append(b, byte(s.prev))
	for _, pc := range s.pcs {
		b = binary.LittleEndian.AppendUint32(b, pc)
	}
	return string(b)
}
