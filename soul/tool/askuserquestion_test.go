package tool

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

var _ Questioner = (*wire.Wire)(nil)

const twoQuestions = `{"questions":[
	{"question":"Which <database>?","header":"Database of the app","options":[{"label":"SQLite","description":"small"},{"label":"Postgres"}]},
	{"question":"Which tests?","header":"Tests","multi_select":true,"options":[{"label":"unit"},{"label":"fuzz"}]}]}`

func TestAskUserQuestion(t *testing.T) {
	const dismissed = "The user dismissed the questions without an answer. Decide by yourself where that is safe, and ask in your answer where it is not."
	for _, test := range []struct {
		name    string
		answers wire.QuestionAnswers
		output  string
	}{
		{"all", wire.QuestionAnswers{"Which <database>?": "SQLite", "Which tests?": "unit, fuzz"}, `{"answers":{"Which <database>?":"SQLite","Which tests?":"unit, fuzz"}}`},
		{"some", wire.QuestionAnswers{"Which tests?": "none of them", "Unasked?": "x"}, `{"answers":{"Which tests?":"none of them"},"note":"The user left some questions unanswered."}`},
		{"none", wire.QuestionAnswers{}, `{"answers":{},"note":"` + dismissed + `"}`},
		{"blank", wire.QuestionAnswers{"Which tests?": "  "}, `{"answers":{},"note":"` + dismissed + `"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, nil)
				w.executor.questioner = w.wire
				done := w.start(t.Context(), "1", "AskUserQuestion", twoQuestions)
				synctest.Wait()
				asked, ok := w.wire.Pending()[0].(wire.QuestionRequest)
				if !ok || asked.ToolCallID != "1" || asked.ID == "" {
					t.Fatalf("asked %+v", w.wire.Pending())
				}
				want := []wire.Question{
					{Question: "Which <database>?", Header: "Database of…", Options: []wire.QuestionOption{{Label: "SQLite", Description: "small"}, {Label: "Postgres"}}},
					{Question: "Which tests?", Header: "Tests", MultiSelect: true, Options: []wire.QuestionOption{{Label: "unit"}, {Label: "fuzz"}}},
				}
				if diff := cmp.Diff(want, asked.Questions); diff != "" {
					t.Error(diff)
				}
				w.wire.ResolveQuestion(asked.ID, test.answers)
				v := <-done
				if v.IsError || v.Output.Text != test.output {
					t.Errorf("output %s, want %s", v.Output.Text, test.output)
				}
			})
		})
	}
}

// failingQuestioner reaches nobody.
type failingQuestioner struct{}

func (failingQuestioner) Ask(context.Context, wire.QuestionRequest) (wire.QuestionAnswers, error) {
	return nil, errors.New("the editor shows no questions")
}

func TestAskUserQuestionFails(t *testing.T) {
	w := newWorld(t, nil)
	v := w.call(t.Context(), "1", "AskUserQuestion", twoQuestions)
	if !v.IsError || brief(t, v) != "Cannot ask" {
		t.Errorf("result %+v", v)
	}
	mustContain(t, v.Message, "Put the question in your answer")
	w.executor.questioner = failingQuestioner{}
	v = w.call(t.Context(), "1", "AskUserQuestion", twoQuestions)
	mustContain(t, v.Message, "the editor shows no questions", "Put the question in your answer")

	option := `{"label":"a"},{"label":"b"}`
	for args, want := range map[string]string{
		`{}`:               "`questions` is missing",
		`{"questions":[]}`: "at least 1",
		`{"questions":[` + strings.Repeat(`{"question":"q","options":[`+option+`]},`, 4) + `{"question":"q","options":[` + option + `]}]}`: "at most 4",
		`{"questions":[{"question":"q","options":[{"label":"a"}]}]}`:                                                                       "at least 2",
		`{"questions":[{"question":"q","options":[` + option + `,{"label":"a"}]}]}`:                                                        "`questions[0].options[2].label` is the same",
		`{"questions":[{"question":"q","options":[` + option + `]},{"question":"q","options":[` + option + `]}]}`:                          "`questions[1].question` is the same",
		`{"questions":[{"question":" ","options":[` + option + `]}]}`:                                                                      "must not be blank",
		`{"questions":[{"question":"q","options":[{"label":" "},{"label":"b"}]}]}`:                                                         "`questions[0].options[0].label` must not be blank",
	} {
		v := w.call(t.Context(), "1", "AskUserQuestion", args)
		if !v.IsError || brief(t, v) != "Invalid arguments" {
			t.Errorf("%s: %+v", args, v)
		}
		mustContain(t, v.Message, want)
	}
}

// TestQuestionsDoNotHoldReadersUp: reads go on while the user thinks, and a cancel
// withdraws the questions.
func TestQuestionsDoNotHoldReadersUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(o *Options) { o.MaxParallel = 1 })
		w.executor.questioner = w.wire
		w.files.set("/w/a", "x")
		ctx, cancel := context.WithCancel(t.Context())
		done := w.start(ctx, "1", "AskUserQuestion", twoQuestions)
		synctest.Wait()
		if v := w.call(t.Context(), "2", "ReadFile", `{"path":"a"}`); v.IsError {
			t.Error(v.Message)
		}
		cancel()
		if v := <-done; !v.IsError || brief(t, v) != "Interrupted" || len(w.wire.Pending()) != 0 {
			t.Errorf("result %+v, open %v", v, w.wire.Pending())
		}
	})
}

func TestThink(t *testing.T) {
	w := newWorld(t, nil)
	if v := w.call(t.Context(), "1", "Think", `{"thought":"hm"}`); v.IsError || v.Message == "" || v.Output.Text != "" {
		t.Errorf("result %+v", v)
	}
	if v := w.call(t.Context(), "1", "Think", `{}`); !v.IsError {
		t.Errorf("result %+v", v)
	}
}
