package acp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"kimi-acp/soul/wire"
)

// ask puts the model's questions before the user: as a form where the editor has
// forms, else one by one with the options of permission requests. The request is
// on its way when this returns; the answer is awaited by a goroutine that ends
// with the turn.
func (s *session) ask(r wire.QuestionRequest, toolCallID string) {
	turn := s.running()
	if turn == nil {
		s.wire.ResolveQuestion(r.ID, nil)
		return
	}
	if !s.client.forms {
		turn.asks.Go(func() {
			answers := s.askOneByOne(turn, r, toolCallID)
			s.view.calls.asked(r.ToolCallID)
			s.wire.ResolveQuestion(r.ID, answers)
		})
		return
	}
	pending, err := s.agent.conn.Start("elicitation/create", questionForm(s.id, toolCallID, r.Questions))
	if err != nil {
		s.wire.ResolveQuestion(r.ID, nil)
		return
	}
	turn.asks.Go(func() {
		raw, err := pending.Wait(turn.asking)
		if err != nil {
			s.agent.log.Info("a question was not answered", "session", s.id, "error", err)
		}
		s.wire.ResolveQuestion(r.ID, formAnswers(r.Questions, raw))
	})
}

type elicitation struct {
	Mode            string     `json:"mode"`
	SessionID       string     `json:"sessionId"`
	ToolCallID      string     `json:"toolCallId,omitempty"`
	Message         string     `json:"message"`
	RequestedSchema formSchema `json:"requestedSchema"`
}

type formSchema struct {
	Type       string               `json:"type"`
	Properties map[string]formField `json:"properties"`
}

type formField struct {
	Type        string       `json:"type"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	OneOf       []formOption `json:"oneOf,omitempty"`
	Items       *formItems   `json:"items,omitempty"`
}

type formItems struct {
	AnyOf []formOption `json:"anyOf"`
}

type formOption struct {
	Const string `json:"const"`
	Title string `json:"title"`
}

// Names of a form's members: the answer to question n, and one in own words.
func answerField(n int) string { return fmt.Sprintf("q%d", n+1) }
func otherField(n int) string  { return fmt.Sprintf("q%d_other", n+1) }

// questionForm makes a flat form: for each question a choice, and a line for an
// answer that is not offered.
func questionForm(sessionID, toolCallID string, questions []wire.Question) elicitation {
	form := elicitation{Mode: "form", SessionID: sessionID, ToolCallID: toolCallID, RequestedSchema: formSchema{Type: "object", Properties: map[string]formField{}}}
	var texts []string
	for i, q := range questions {
		texts = append(texts, q.Question)
		var options []formOption
		for _, o := range q.Options {
			title := o.Label
			if o.Description != "" {
				title += ": " + o.Description
			}
			options = append(options, formOption{Const: o.Label, Title: title})
		}
		field := formField{Type: "string", Title: titleOf(q), Description: q.Question, OneOf: options}
		if q.MultiSelect {
			field.Type, field.OneOf, field.Items = "array", nil, &formItems{AnyOf: options}
		}
		form.RequestedSchema.Properties[answerField(i)] = field
		form.RequestedSchema.Properties[otherField(i)] = formField{Type: "string", Title: titleOf(q) + ": something else", Description: "An answer in your own words"}
	}
	form.Message = strings.Join(texts, "\n")
	return form
}

func titleOf(q wire.Question) string {
	if q.Header != "" {
		return q.Header
	}
	return q.Question
}

// maxAnswer bounds an answer in own words, in bytes.
const maxAnswer = 10_000

// formAnswers reads an editor's answer. Anything but an accepted form with values
// of the right kind, chosen from what was offered, counts as no answer.
func formAnswers(questions []wire.Question, raw json.RawMessage) wire.QuestionAnswers {
	result, _ := object(raw)
	if result.optionalText("action") != "accept" {
		return nil
	}
	content := result.sub("content")
	answers := wire.QuestionAnswers{}
	for i, q := range questions {
		var picked []string
		if q.MultiSelect {
			items, _ := content.list(answerField(i))
			for _, item := range items {
				var label string
				if json.Unmarshal(item, &label) == nil {
					picked = append(picked, label)
				}
			}
		} else if label := content.optionalText(answerField(i)); label != "" {
			picked = []string{label}
		}
		picked = slices.DeleteFunc(picked, func(label string) bool {
			return !slices.ContainsFunc(q.Options, func(o wire.QuestionOption) bool { return o.Label == label })
		})
		if other := strings.TrimSpace(content.optionalText(otherField(i))); other != "" && len(other) <= maxAnswer {
			picked = append(picked, other)
		}
		if len(picked) > 0 {
			answers[q.Question] = strings.Join(picked, ", ")
		}
	}
	return answers
}

// askOneByOne asks each question as a permission request whose options are the
// answers. The first that is dismissed ends the asking; an editor that answers
// "cancelled" ends the turn.
func (s *session) askOneByOne(t *turn, r wire.QuestionRequest, toolCallID string) wire.QuestionAnswers {
	answers := wire.QuestionAnswers{}
	for _, q := range r.Questions {
		request := permissionRequest{SessionID: s.id, ToolCall: toolCallUpdate{ToolCallID: toolCallID, Title: q.Question, Kind: "other"}}
		for i, o := range q.Options {
			request.Options = append(request.Options, permissionOption{fmt.Sprintf("answer-%d", i+1), o.Label, allowOnce})
		}
		request.Options = append(request.Options, permissionOption{rejectOnce, "Skip the question", rejectOnce})
		var raw json.RawMessage
		if err := s.agent.conn.Call(t.asking, "session/request_permission", request, &raw); err != nil {
			s.agent.log.Info("a question was not answered", "session", s.id, "error", err)
			return answers
		}
		label, cancelled := optionPicked(q, raw)
		if cancelled {
			t.cancel()
		}
		if label == "" {
			return answers
		}
		answers[q.Question] = label
	}
	return answers
}

// optionPicked gives the label of the picked option, "" when none was.
func optionPicked(q wire.Question, raw json.RawMessage) (label string, cancelled bool) {
	result, _ := object(raw)
	outcome := result.sub("outcome")
	switch outcome.optionalText("outcome") {
	case "selected":
	case "cancelled":
		return "", true
	default:
		return "", false
	}
	for i, o := range q.Options {
		if outcome.optionalText("optionId") == fmt.Sprintf("answer-%d", i+1) {
			return o.Label, false
		}
	}
	return "", false
}
