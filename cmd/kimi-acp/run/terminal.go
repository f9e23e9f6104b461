package run

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/wire"
)

// maxLine bounds a line that a person types, in bytes.
const maxLine = 64 << 10

// Terminal is a Person who sits at a terminal and types lines.
type Terminal struct {
	in      *bufio.Scanner
	reading chan string // the line being read, nil: none is
	screen  *screen.Screen
	shown   func(wire.ApprovalRequest)
}

// NewTerminal makes a Terminal that reads from in and asks on a Screen. Shown, if
// not nil, shows a request before it is asked for.
func NewTerminal(in io.Reader, s *screen.Screen, shown func(wire.ApprovalRequest)) *Terminal {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, maxLine)
	return &Terminal{in: scanner, screen: s, shown: shown}
}

// ask reads a line. The error is ctx's, or errNobody at the end of the input.
//
// A read of a terminal cannot be broken off, so when ctx ends the goroutine that
// reads is left behind: it ends with the next line, or with the process.
func (t *Terminal) ask(ctx context.Context, question string) (string, error) {
	t.screen.End()
	t.screen.Print("  " + t.screen.Paint(screen.Bold, question) + " ")
	if t.reading == nil {
		line := make(chan string, 1)
		go func() {
			defer close(line)
			if t.in.Scan() {
				line <- t.in.Text()
			}
		}()
		t.reading = line
	}
	select {
	case line, ok := <-t.reading:
		t.reading = nil
		if !ok {
			t.screen.Print("\n")
			return "", errNobody
		}
		return strings.TrimSpace(line), nil
	case <-ctx.Done():
		t.screen.Print("\n")
		return "", ctx.Err()
	}
}

// Approve asks for an approval until there is an answer: y or yes, a or always for
// the session, which is the run, n or no, perhaps with what to do instead.
func (t *Terminal) Approve(ctx context.Context, r wire.ApprovalRequest) (wire.Approval, string, error) {
	if t.shown != nil {
		t.shown(r)
	}
	t.screen.Line(screen.Yellow, "[y] yes, once")
	if r.Scope != "" {
		t.screen.Line(screen.Yellow, "[a] "+r.Scope+", for this run")
	}
	t.screen.Line(screen.Yellow, "[n] no; or n, and what to do instead")
	for {
		line, err := t.ask(ctx, "Allow?")
		if err != nil {
			return "", "", err
		}
		word, rest, _ := strings.Cut(line, " ")
		switch word = strings.ToLower(word); {
		case rest == "" && (word == "y" || word == "yes"):
			return wire.ApprovalApprove, "", nil
		case rest == "" && r.Scope != "" && (word == "a" || word == "always"):
			return wire.ApprovalApproveForSession, "", nil
		case word == "n" || word == "no":
			return wire.ApprovalReject, strings.TrimSpace(rest), nil
		}
	}
}

// Answer asks the questions one by one; an empty line skips one, and text that is no
// number is an answer of the person's own.
func (t *Terminal) Answer(ctx context.Context, questions []wire.Question) wire.QuestionAnswers {
	answers := wire.QuestionAnswers{}
	for _, q := range questions {
		t.screen.Section("Question", q.Header)
		t.screen.Wrapped(screen.Plain, q.Question)
		for i, o := range q.Options {
			t.screen.Item(screen.Yellow, fmt.Sprintf("  [%d] ", i+1), o.Label)
		}
		line, err := t.ask(ctx, "Your answer:")
		if err != nil {
			return answers
		}
		if picked := pick(q, line); picked != "" {
			answers[q.Question] = picked
		}
	}
	return answers
}

// pick gives the labels that a line of numbers means, or the line.
func pick(q wire.Question, line string) string {
	var labels []string
	for word := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(q.Options) {
			return line
		}
		if label := q.Options[n-1].Label; !slices.Contains(labels, label) {
			labels = append(labels, label)
		}
	}
	if len(labels) > 1 && !q.MultiSelect {
		return line
	}
	return strings.Join(labels, ", ")
}
