package acp_test

import (
	"context"
	"encoding/json"
	"testing"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// asker is a soul that asks the user two questions and keeps the answers.
type asker struct {
	wire *wire.Wire
	got  chan wire.QuestionAnswers
}

func (a *asker) Commands() []soul.Command { return nil }
func (a *asker) Status() soul.Status      { return soul.Status{} }

func (a *asker) Run(ctx context.Context, in soul.Input) (soul.Outcome, error) {
	a.wire.Send(wire.TurnBegin{UserInput: in.Wire()})
	a.wire.Send(wire.ToolCall{Call: llm.ToolCall{ID: "ask", Name: "AskUserQuestion"}})
	answers, err := a.wire.Ask(ctx, wire.QuestionRequest{ToolCallID: "ask", Questions: []wire.Question{
		{Question: "Which store?", Header: "Store", Options: []wire.QuestionOption{{Label: "disk", Description: "slow"}, {Label: "memory"}}},
		{Question: "Which checks?", Header: "Checks", MultiSelect: true, Options: []wire.QuestionOption{{Label: "lint"}, {Label: "test"}, {Label: "race"}}},
	}})
	a.wire.Send(wire.ToolResult{ToolCallID: "ask", ReturnValue: wire.ToolReturnValue{Message: "asked"}})
	a.wire.EndTurn()
	a.wire.Send(wire.TurnEnd{})
	if ctx.Err() != nil {
		return soul.Outcome{Stop: soul.StopCancelled}, nil
	}
	a.got <- answers
	return soul.Outcome{}, err
}

// questions opens a session whose soul asks.
func questions(t *testing.T, caps acptest.Capabilities) (*acptest.Client, *acptest.Session, *asker) {
	a := &asker{got: make(chan wire.QuestionAnswers, 1)}
	e := stage{newSoul: func(spec acp.SoulSpec, _ llm.Provider) (soul.Soul, error) {
		a.wire = spec.Wire
		return a, nil
	}}.serve(t)
	e.Initialize(caps)
	s := e.NewSession(t.TempDir())
	return e, s, a
}

func TestQuestionsAsForm(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         wire.QuestionAnswers
	}{
		{"accepted", `{"action":"accept","content":{"q1":"disk","q2":["lint","race"]}}`, wire.QuestionAnswers{"Which store?": "disk", "Which checks?": "lint, race"}},
		{"in own words", `{"action":"accept","content":{"q1_other":" a database ","q2":["test"],"q2_other":"fuzz"}}`, wire.QuestionAnswers{"Which store?": "a database", "Which checks?": "test, fuzz"}},
		{"one left out", `{"action":"accept","content":{"q1":"memory"}}`, wire.QuestionAnswers{"Which store?": "memory"}},
		{"declined", `{"action":"decline"}`, nil},
		{"cancelled", `{"action":"cancel"}`, nil},
		{"what was not offered", `{"action":"accept","content":{"q1":"tape","q2":["lint","none"]}}`, wire.QuestionAnswers{"Which checks?": "lint"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, s, a := questions(t, acptest.Capabilities{ElicitationForm: true})
			e.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) { return json.RawMessage(c.answer), nil })
			if got := s.Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
				t.Errorf("ended with %s", got)
			}
			sameAnswers(t, <-a.got, c.want)
		})
	}
}

func TestQuestionFormFails(t *testing.T) {
	e, s, a := questions(t, acptest.Capabilities{ElicitationForm: true})
	e.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) {
		return nil, &acptest.Error{Code: -32603, Message: "no window"}
	})
	if got := s.Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
		t.Errorf("ended with %s", got)
	}
	sameAnswers(t, <-a.got, nil)
}

func TestQuestionsAsPermissions(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []string // option names, in order; "": dismissed
		want    wire.QuestionAnswers
	}{
		{"both", []string{"memory", "race"}, wire.QuestionAnswers{"Which store?": "memory", "Which checks?": "race"}},
		{"the second skipped", []string{"disk", "Skip the question"}, wire.QuestionAnswers{"Which store?": "disk"}},
		{"skipped", []string{"Skip the question"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, s, a := questions(t, acptest.Capabilities{})
			asked := 0
			e.OnPermission = func(_ context.Context, p acptest.Permission) acptest.Answer {
				name := c.answers[asked]
				asked++
				for _, o := range p.Options {
					if o.Name == name {
						return acptest.Answer{OptionID: o.OptionID}
					}
				}
				t.Errorf("question %d offers no %q", asked, name)
				return acptest.Answer{}
			}
			if got := s.Prompt(acptest.Text("go")).Wait(); got != "end_turn" {
				t.Errorf("ended with %s", got)
			}
			sameAnswers(t, <-a.got, c.want)
		})
	}
}

// An editor that answers a question with "cancelled" has cancelled the turn.
func TestQuestionAnsweredCancelled(t *testing.T) {
	e, s, _ := questions(t, acptest.Capabilities{})
	e.OnPermission = func(context.Context, acptest.Permission) acptest.Answer { return acptest.Answer{} }
	if got := s.Prompt(acptest.Text("go")).Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
}

func TestCancelWhileAQuestionIsOpen(t *testing.T) {
	e, s, _ := questions(t, acptest.Capabilities{ElicitationForm: true})
	open := make(chan struct{})
	e.Handle("elicitation/create", func(context.Context, json.RawMessage) (any, error) {
		close(open)
		return nil, acptest.ErrSilent
	})
	turn := s.Prompt(acptest.Text("go"))
	<-open
	s.Cancel()
	if got := turn.Wait(); got != "cancelled" {
		t.Errorf("ended with %s", got)
	}
}

func sameAnswers(t *testing.T, got, want wire.QuestionAnswers) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("answers %v, want %v", got, want)
	}
	for q, a := range want {
		if got[q] != a {
			t.Errorf("%s %q, want %q", q, got[q], a)
		}
	}
}
