package fileop

import "io"

// Scratch is where contents are kept for the time of a session; *os.File is one. Its
// methods may be called at once.
type Scratch interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
}

// scratch is a Scratch that is filled from its beginning on. It is not safe for
// several goroutines.
type scratch struct {
	file  Scratch
	limit int64
	used  int64
}

// stretch is where contents lie.
type stretch struct{ at, n int64 }

func (s *scratch) fits(size int64) bool { return s.used+size <= s.limit }

// add keeps data; false when there is no room, or the write fails.
func (s *scratch) add(data []byte) (stretch, bool) {
	n := int64(len(data))
	if !s.fits(n) {
		return stretch{}, false
	}
	if _, err := s.file.WriteAt(data, s.used); err != nil {
		return stretch{}, false
	}
	at := s.used
	s.used += n
	return stretch{at, n}, true
}

// get gives back what was kept, if it is still what it was.
func (s *scratch) get(p stretch, id ContentID) ([]byte, bool) {
	data := make([]byte, p.n)
	if p.n == 0 {
		return data, true
	}
	if _, err := s.file.ReadAt(data, p.at); err != nil {
		return nil, false
	}
	return data, contentID(data) == id
}

// reset gives up everything.
func (s *scratch) reset() {
	_ = s.file.Truncate(0) // what stays is written over
	s.used = 0
}
