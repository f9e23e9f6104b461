package run

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/screen"
	"kimi-acp/soul/wire"
)

func TestApprove(t *testing.T) {
	for _, tt := range []struct {
		typed    string
		scope    string
		want     wire.Approval
		feedback string
		err      error
	}{
		{"y\n", "edits", wire.ApprovalApprove, "", nil},
		{"YES\n", "", wire.ApprovalApprove, "", nil},
		{"a\n", "edits", wire.ApprovalApproveForSession, "", nil},
		{"a\nn\n", "", wire.ApprovalReject, "", nil},
		{"\nwhat?\ny now\nno  use tabs \n", "edits", wire.ApprovalReject, "use tabs", nil},
		{"", "edits", "", "", errNobody},
	} {
		var b bytes.Buffer
		p := NewTerminal(strings.NewReader(tt.typed), screen.New(&b, false, 60), nil)
		got, feedback, err := p.Approve(t.Context(), wire.ApprovalRequest{Scope: tt.scope})
		if got != tt.want || feedback != tt.feedback || !errors.Is(err, tt.err) {
			t.Errorf("%q: %q, %q, %v", tt.typed, got, feedback, err)
		}
		if offered := strings.Contains(b.String(), "[a]"); offered != (tt.scope != "") {
			t.Errorf("%q: showed %q", tt.typed, b.String())
		}
	}
}

// What was being typed when a question was broken off answers the next one.
func TestABrokenOffQuestion(t *testing.T) {
	in, typing := io.Pipe()
	var b bytes.Buffer
	shown := 0
	p := NewTerminal(in, screen.New(&b, false, 60), func(wire.ApprovalRequest) { shown++ })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := p.Approve(ctx, wire.ApprovalRequest{}); !errors.Is(err, context.Canceled) {
		t.Errorf("said %v", err)
	}
	go func() { _, _ = typing.Write([]byte("y\n")) }() // ends when it is read
	if got, _, err := p.Approve(t.Context(), wire.ApprovalRequest{}); got != wire.ApprovalApprove || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if shown != 2 {
		t.Errorf("shown %d times", shown)
	}
}

func TestAnswer(t *testing.T) {
	questions := []wire.Question{
		{Question: "Which?", Header: "Choice", Options: []wire.QuestionOption{{Label: "red"}, {Label: "blue"}}},
		{Question: "Which ones?", MultiSelect: true, Options: []wire.QuestionOption{{Label: "one"}, {Label: "two"}, {Label: "three"}}},
		{Question: "Why?", Options: []wire.QuestionOption{{Label: "because"}}},
		{Question: "And?", Options: []wire.QuestionOption{{Label: "no"}}},
	}
	for _, tt := range []struct {
		typed string
		want  wire.QuestionAnswers
	}{
		{"2\n3, 1 1\nof that\n\n", wire.QuestionAnswers{"Which?": "blue", "Which ones?": "three, one", "Why?": "of that"}},
		{"1 2\n9\n\n\n", wire.QuestionAnswers{"Which?": "1 2", "Which ones?": "9"}},
		{"1\n", wire.QuestionAnswers{"Which?": "red"}},
	} {
		var b bytes.Buffer
		p := NewTerminal(strings.NewReader(tt.typed), screen.New(&b, false, 60), nil)
		if diff := cmp.Diff(tt.want, p.Answer(t.Context(), questions)); diff != "" {
			t.Errorf("%q: %s", tt.typed, diff)
		}
	}
}

// A question is answered by the person, and left to the answer's text where there is none.
func TestQuestions(t *testing.T) {
	ask := called("q", "AskUserQuestion", object{"questions": []object{{"question": "Which?", "header": "Choice", "options": []object{{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}}}}})
	for typed, want := range map[string]string{"2\n": "blue", "": "Put the question in your answer"} {
		o := turn(folder(t), ask, "text: ready")
		var b bytes.Buffer
		if typed != "" {
			o.Person = NewTerminal(strings.NewReader(typed), screen.New(&b, false, 60), nil)
		}
		var result wire.ToolReturnValue
		o.Views = []View{{wire.Raw, wire.ViewFunc(func(m wire.Message) {
			if r, ok := m.(wire.ToolResult); ok {
				result = r.ReturnValue
			}
		})}}
		if _, err := Turn(t.Context(), o); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(result.Output.Text+result.Message, want) {
			t.Errorf("%q: the model got %+v", typed, result)
		}
	}
}
