package session

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"strconv"
)

// sumsName is the file of ours that says what was written to context.jsonl: a line
// "rotations N" with the number of the newest context_N.jsonl, and then for each
// append a line "offset length crc32c". It lies behind context.jsonl, never ahead,
// since it is written afterwards; it is an aid, and a session does without it.
const sumsName = "context.sums"

// maxSums bounds how much of the file is read, in bytes.
const maxSums = 16 << 20

// extent is a stretch of context.jsonl that was written at once, whole lines.
type extent struct {
	at, size int64
	sum      uint32
}

func (e extent) end() int64 { return e.at + e.size }

func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

func sumsHeader(rotations int) []byte { return fmt.Appendf(nil, "rotations %d\n", rotations) }

func appendSum(dst []byte, at int64, lines []byte) []byte {
	return fmt.Appendf(dst, "%d %d %08x\n", at, len(lines), crc32.Checksum(lines, castagnoli()))
}

// parseSums reads the file up to the first line that is damaged; whole tells whether
// there was none. It gives nothing when context.jsonl was rotated since: the file
// tells of another one then.
func parseSums(data []byte, rotations int) (all []extent, whole bool) {
	rest, ok := bytes.CutPrefix(data, sumsHeader(rotations))
	if !ok {
		return nil, false
	}
	end := int64(0)
	for len(rest) > 0 {
		text, behind, ended := bytes.Cut(rest, []byte{'\n'})
		e, ok := parseExtent(text)
		if !ended || !ok || e.at < end {
			return all, false
		}
		end = e.end()
		all = append(all, e)
		rest = behind
	}
	return all, true
}

func parseExtent(text []byte) (extent, bool) {
	fields := bytes.Fields(text)
	if len(fields) != 3 {
		return extent{}, false
	}
	at, err1 := strconv.ParseInt(string(fields[0]), 10, 62)
	size, err2 := strconv.ParseInt(string(fields[1]), 10, 62)
	sum, err3 := strconv.ParseUint(string(fields[2]), 16, 32)
	ok := err1 == nil && err2 == nil && err3 == nil && at >= 0 && size > 0
	return extent{at: at, size: size, sum: uint32(sum)}, ok
}

// verifier compares lines with the extents that were written. The zero value knows
// of none.
type verifier struct {
	extents []extent // still to be seen
	sum     uint32   // of the lines of extents[0] so far
	seen    int64    // offset up to which they were seen; 0: none of them
	begin   int      // number of the first of them
	last    int64    // where the last extent ends
	first   int      // number of the first line that differs, 0: none
	differ  int      // extents that differ
	lost    int64    // bytes that are missing at the end
}

func newVerifier(extents []extent) *verifier {
	v := &verifier{extents: extents}
	if len(extents) > 0 {
		v.last = extents[len(extents)-1].end()
	}
	return v
}

// skipTo says that nothing before an offset will be seen.
func (v *verifier) skipTo(at int64) {
	for len(v.extents) > 0 && v.extents[0].at < at {
		v.drop()
	}
}

// line takes in the next line of the file.
func (v *verifier) line(l line) {
	for len(v.extents) > 0 && v.extents[0].at < l.at && v.seen != l.at {
		v.begin = l.number - 1 // it began within the line before
		v.fail()
		v.drop()
	}
	if len(v.extents) == 0 || l.at < v.extents[0].at {
		return
	}
	e := v.extents[0]
	if l.at == e.at {
		v.begin = l.number
	}
	v.sum = crc32.Update(v.sum, castagnoli(), l.text)
	if l.ended {
		v.sum = crc32.Update(v.sum, castagnoli(), []byte{'\n'})
	}
	v.seen = l.at + l.size
	if v.seen < e.end() {
		return
	}
	if v.seen > e.end() || v.sum != e.sum || l.long {
		v.fail()
	}
	v.drop()
}

func (v *verifier) drop() {
	v.extents, v.sum, v.seen = v.extents[1:], 0, 0
}

func (v *verifier) fail() {
	v.differ++
	if v.first == 0 {
		v.first = v.begin
	}
}

// finish reports what differs, when the file is read up to its size.
func (v *verifier) finish(size int64, n *notes) {
	if v.last > size {
		v.lost = v.last - size
		n.add(KindMissing, "the last %d bytes that were written to the history are not in it any more", v.lost)
	}
	if v.differ > 0 {
		n.add(KindChanged, "the history was changed after it was written, the first time near line %d; it is used as it is now", v.first)
	}
}

// fits tells whether the sums can be continued.
func (v *verifier) fits() bool { return v.differ == 0 && v.lost == 0 }

// openSums opens the file for appending, begun anew unless it fits.
func openSums(dir folder, rotations int, fits bool) (*log, error) {
	if !fits {
		if err := replaceLoosely(dir, sumsName, sumsName+".tmp", func(f file) error { return contents(sumsHeader(rotations))(f) }); err != nil {
			return nil, err
		}
	}
	return openLog(dir, sumsName, false)
}
