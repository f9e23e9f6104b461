package lsp

// Slots bound how many servers run at a time. They may be shared.
type Slots struct{ free chan struct{} }

// NewSlots makes n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{free: make(chan struct{}, max(n, 1))} }

func (s *Slots) take() bool {
	select {
	case s.free <- struct{}{}:
		return true
	default:
		return false
	}
}

func (s *Slots) give() { <-s.free }
