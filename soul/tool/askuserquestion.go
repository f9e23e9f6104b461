package tool

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"kimi-acp/soul/wire"
)

// The limits of one call.
const (
	maxQuestions     = 4
	minChoices       = 2
	maxChoices       = 4
	maxHeaderChars   = 12
	maxQuestionChars = 1000
	maxChoiceChars   = 200
)

//go:embed askuserquestion.md
var askUserQuestionDescription string

type askUserQuestionArguments struct {
	Questions []questionArgument `json:"questions" jsonschema:"The questions, shown together."`
}

type questionArgument struct {
	Question    string           `json:"question" jsonschema:"The whole question, different from the others."`
	Header      string           `json:"header,omitempty" jsonschema:"A word or two that stand for the question."`
	Options     []choiceArgument `json:"options" jsonschema:"The answers to choose from, all different."`
	MultiSelect bool             `json:"multi_select,omitempty" jsonschema:"Whether several answers may be chosen."`
}

type choiceArgument struct {
	Label       string `json:"label" jsonschema:"The answer in a few words."`
	Description string `json:"description,omitempty" jsonschema:"What choosing it means."`
}

func newAskUserQuestion() Tool {
	return Define(Definition[askUserQuestionArguments]{
		Name:        "AskUserQuestion",
		Description: askUserQuestionDescription,
		Effect:      Asks,
		Refine: func(a map[string]*jsonschema.Schema) {
			limit := func(s *jsonschema.Schema, least, most int) {
				if least > 0 {
					s.MinLength = jsonschema.Ptr(least)
				}
				s.MaxLength = jsonschema.Ptr(most)
			}
			a["questions"].MinItems, a["questions"].MaxItems = jsonschema.Ptr(1), jsonschema.Ptr(maxQuestions)
			q := a["questions"].Items.Properties
			limit(q["question"], 1, maxQuestionChars)
			q["multi_select"].Default = []byte("false")
			q["options"].MinItems, q["options"].MaxItems = jsonschema.Ptr(minChoices), jsonschema.Ptr(maxChoices)
			limit(q["options"].Items.Properties["label"], 1, maxChoiceChars)
			limit(q["options"].Items.Properties["description"], 0, maxQuestionChars)
			q["header"].Description += fmt.Sprintf(" At most %d characters.", maxHeaderChars)
		},
		Run: askUserQuestion,
	})
}

func askUserQuestion(ctx context.Context, c *Invocation, in askUserQuestionArguments) wire.ToolReturnValue {
	questions, err := in.questions()
	if err != nil {
		return failure("Error validating JSON arguments: "+sentence(err.Error()), "Invalid arguments")
	}
	answers, err := c.Ask(ctx, questions)
	switch {
	case ctx.Err() != nil:
		return failure("The questions were withdrawn before the user answered.", "Interrupted")
	case err != nil:
		return failure(fmt.Sprintf("The user could not be asked in this way (%s). Put the question in your answer, with the choices, and end your turn there.", err.Error()), "Cannot ask")
	}
	return answered(questions, answers)
}

// questions checks what a schema cannot say.
func (in askUserQuestionArguments) questions() ([]wire.Question, error) {
	out := make([]wire.Question, 0, len(in.Questions))
	for i, q := range in.Questions {
		at := fmt.Sprintf("questions[%d]", i)
		if strings.TrimSpace(q.Question) == "" {
			return nil, fmt.Errorf("`%s.question` must not be blank", at)
		}
		// Answers go by the text of the question.
		if slices.ContainsFunc(out, func(o wire.Question) bool { return o.Question == q.Question }) {
			return nil, fmt.Errorf("`%s.question` is the same as an earlier one", at)
		}
		question := wire.Question{Question: q.Question, Header: q.Header, MultiSelect: q.MultiSelect}
		if utf8.RuneCountInString(q.Header) > maxHeaderChars {
			question.Header = string([]rune(q.Header)[:maxHeaderChars-1]) + "…"
		}
		for j, o := range q.Options {
			if strings.TrimSpace(o.Label) == "" {
				return nil, fmt.Errorf("`%s.options[%d].label` must not be blank", at, j)
			}
			if slices.ContainsFunc(question.Options, func(other wire.QuestionOption) bool { return other.Label == o.Label }) {
				return nil, fmt.Errorf("`%s.options[%d].label` is the same as an earlier one", at, j)
			}
			question.Options = append(question.Options, wire.QuestionOption{Label: o.Label, Description: o.Description})
		}
		out = append(out, question)
	}
	return out, nil
}

// answered tells the model what the user chose. Answers to what was not asked are
// left out.
func answered(questions []wire.Question, answers wire.QuestionAnswers) wire.ToolReturnValue {
	given := map[string]string{}
	for _, q := range questions {
		if answer := strings.TrimSpace(answers[q.Question]); answer != "" {
			given[q.Question] = answer
		}
	}
	reply := struct {
		Answers map[string]string `json:"answers"`
		Note    string            `json:"note,omitempty"`
	}{Answers: given}
	v := wire.ToolReturnValue{Message: "The user answered."}
	switch {
	case len(given) == 0:
		reply.Note = "The user dismissed the questions without an answer. Decide by yourself where that is safe, and ask in your answer where it is not."
		v.Message = "The user dismissed the questions."
	case len(given) < len(questions):
		reply.Note = "The user left some questions unanswered."
	}
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(reply); err != nil {
		return failure("The answers could not be written down: "+sentence(err.Error()), "")
	}
	v.Output.Text = strings.TrimSuffix(b.String(), "\n")
	return v
}
