package session

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

const (
	untitled     = "Untitled"
	promptTitle  = 50  // characters of a title that is made from a prompt
	maxTitle     = 200 // characters of one that somebody chose
	maxTitleScan = 100 // messages of the recording in which the first prompt is looked for
)

// ShortTitle makes a title of a prompt: at most 50 characters, white space
// collapsed, cut between words where there are any.
func ShortTitle(prompt string) string { return shorten(prompt, promptTitle) }

func shorten(text string, width int) string {
	text = strings.Join(strings.Fields(text), " ")
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	runes := []rune(text)[:width] // one more than fits beside the dots
	cut := width - 1
	for i := cut; i > 0; i-- {
		if runes[i] == ' ' {
			cut = i
			break
		}
	}
	return strings.TrimSpace(string(runes[:cut])) + "…"
}

// Title is the title that somebody or something gave the session, else the first
// prompt, shortened, else "Untitled".
func (s *Session) Title() string {
	d, _ := describe(s.dir) // what cannot be read has no title
	return d.title
}

// SetTitle gives the session a title, of at most 200 characters and on one line;
// with "" it has none of its own any more.
func (s *Session) SetTitle(title string) error {
	title = shorten(title, maxTitle)
	return s.UpdateState(func(st *State) { st.CustomTitle = title })
}

// Empty tells whether nothing was said in the session and nobody gave it a title.
// Such sessions are not listed, and may be deleted when they are closed.
func (s *Session) Empty() bool {
	d, err := describe(s.dir)
	return d.empty && err == nil
}

// description is what a list shows of a session.
type description struct {
	title    string
	archived bool
	empty    bool // it is none to show
}

// describe describes a session, without changing anything.
func describe(dir folder) (d description, err error) {
	st, stateErr := loadState(dir)
	d.title, d.archived = st.CustomTitle, st.Archived
	if d.title != "" {
		return d, nil
	}
	d.title = untitled
	prompt, recorded, err := firstPrompt(dir)
	if err != nil {
		return d, err
	}
	if !recorded && stateErr == nil {
		said, err := hasMessages(dir)
		d.empty = !said
		return d, err
	}
	if title := ShortTitle(prompt); title != "" {
		d.title = title
	}
	return d, nil
}

// firstPrompt finds the text of the first turn, and whether anything was recorded.
func firstPrompt(dir folder) (text string, recorded bool, err error) {
	budget := maxTitleScan
	err = eachRecorded(dir, func(message []byte) bool {
		recorded = true
		m, err := wire.Decode(message)
		if turn, ok := m.(wire.TurnBegin); err == nil && ok {
			text = inputText(turn.UserInput)
			return false
		}
		budget--
		return budget > 0
	}, func() {})
	if errors.Is(err, errStopped) {
		err = nil
	}
	return text, recorded, err
}

// inputText is what a user typed, without pictures.
func inputText(in wire.UserInput) string {
	if in.Parts == nil {
		return in.Text
	}
	var texts []string
	for _, p := range in.Parts {
		if p.Type == llm.PartText {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, " ")
}

// hasMessages tells whether anything was said.
func hasMessages(dir folder) (bool, error) {
	f, err := dir.OpenFile(contextName, os.O_RDONLY)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	said, err := scanMessages(f)
	return said, errors.Join(err, f.Close())
}

func scanMessages(f file) (bool, error) {
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	lines := newLineReader(io.NewSectionReader(f, 0, info.Size()), 0)
	for {
		l, err := lines.next()
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		if role, err := roleOf(l.text); err == nil && !strings.HasPrefix(role, "_") {
			return true, nil
		}
	}
}

// SetArchived puts the session into the archive, or takes it out. It is not deleted, and
// may be open.
func (s *Session) SetArchived(archived bool) error {
	return s.UpdateState(func(st *State) {
		if st.Archived == archived {
			return
		}
		st.Archived, st.ArchivedAt = archived, nil
		if archived {
			now := float64(time.Now().UnixMilli()) / 1000
			st.ArchivedAt = &now
		}
	})
}
