package doctor

import (
	"encoding/json"
	"fmt"
	"io"

	"kimi-acp/internal/screen"
)

// Status is what came of a check.
type Status string

// The statuses.
const (
	OK      Status = "ok"
	Note    Status = "note" // nothing is wrong, but good to know
	Fault   Status = "fault"
	Skipped Status = "skipped" // it could not, or should not, be tried
)

// Check is one thing that was looked at.
type Check struct {
	Name   string `json:"name"` // one word
	Status Status `json:"status"`
	Detail string `json:"detail"`
	// Mend is what to do about a fault, a command or a setting; "" where there is
	// nothing to do.
	Mend string `json:"mend,omitempty"`
}

// Report is all that was looked at, in order.
type Report struct {
	Checks []Check
}

// Faults counts the faults.
func (r Report) Faults() int {
	n := 0
	for _, c := range r.Checks {
		if c.Status == Fault {
			n++
		}
	}
	return n
}

// nameColumns is the room for a check's name.
const nameColumns = 9

// Show lays the report out for a person.
func (r Report) Show(s *screen.Screen) {
	for _, c := range r.Checks {
		mark, style := look(c.Status)
		s.Item(style, mark+" "+screen.Pad(c.Name, nameColumns)+" ", screen.Shown(c.Detail))
		if c.Mend != "" {
			s.Item(screen.Bold, "  → ", screen.Shown(c.Mend))
		}
	}
	s.Gap()
	switch n := r.Faults(); n {
	case 0:
		s.Item(screen.Green, "", "Everything that was looked at is in order.")
	case 1:
		s.Item(screen.Red, "", "1 fault. The line behind → mends it.")
	default:
		s.Item(screen.Red, "", fmt.Sprintf("%d faults. The lines behind → mend them; begin with the first.", n))
	}
}

func look(st Status) (mark string, style screen.Style) {
	switch st {
	case OK:
		return "✓", screen.Plain
	case Fault:
		return "✗", screen.Red
	case Skipped:
		return "-", screen.Faint
	}
	return "·", screen.Plain
}

// WriteJSON writes the report as one JSON object: ok, faults and checks.
func (r Report) WriteJSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(struct {
		OK     bool    `json:"ok"`
		Faults int     `json:"faults"`
		Checks []Check `json:"checks"`
	}{r.Faults() == 0, r.Faults(), r.Checks})
	if err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
