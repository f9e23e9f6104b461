package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// server asks the model's server what models it has, and then the model itself, in
// as few tokens as will do.
func server(ctx context.Context, s *Setup) []Check {
	switch {
	case s.Missing != "", s.Model.Local:
		return nil
	case s.Offline || s.Server == nil:
		return skip("not asked, as you wish", "server", "answer", "tools")
	}
	listed, listing := models(ctx, s)
	checks := []Check{listing}
	if listing.Status == Fault {
		return append(checks, skip("not tried, since the server cannot be used", "answer", "tools")...)
	}
	answering, ok := answer(ctx, s, listed)
	checks = append(checks, answering)
	if !ok {
		return append(checks, skip("not tried, since the model does not answer", "tools")...)
	}
	return append(checks, tools(ctx, s))
}

func skip(why string, names ...string) []Check {
	var out []Check
	for _, n := range names {
		out = append(out, Check{Name: n, Status: Skipped, Detail: why})
	}
	return out
}

// models gives the ids that the server lists; nil where it has no list, which is no
// fault: many servers have none.
func models(ctx context.Context, s *Setup) ([]string, Check) {
	began := s.Now()
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	list, err := s.Server.Models(ctx)
	var e *llm.Error
	switch {
	case err == nil && slices.ContainsFunc(list, func(m openai.ModelInfo) bool { return m.ID == s.Model.Name }):
		return ids(list), Check{Name: "server", Status: OK, Detail: fmt.Sprintf("%s lists %d models, this one among them (%s)", s.Model.Address, len(list), seconds(s.Now().Sub(began)))}
	case err == nil:
		return ids(list), Check{Name: "server", Status: Note, Detail: fmt.Sprintf("%s lists %d models, and %s is not among them", s.Model.Address, len(list), s.Model.Name)}
	case errors.As(err, &e) && noList(e):
		return nil, Check{Name: "server", Status: Note, Detail: s.Model.Address + " answers, but has no list of models"}
	}
	return nil, explain(s, "server", err, nil)
}

// noList tells whether a server answered that it has no list of models.
func noList(e *llm.Error) bool {
	return e.Kind == llm.KindMalformed || e.Status == 404 || e.Status == 405 || e.Status == 501
}

func ids(list []openai.ModelInfo) []string {
	var out []string
	for _, m := range list {
		out = append(out, m.ID)
	}
	return out
}

// answer has the model say something, and stops it at once.
func answer(ctx context.Context, s *Setup, listed []string) (Check, bool) {
	began := s.Now()
	first := time.Duration(-1)
	err := ask(ctx, s, &llm.Request{Messages: []llm.Message{user("Answer with the one word: ready")}}, func(d llm.Delta) bool {
		if d.Kind == llm.DeltaText || d.Kind == llm.DeltaThink {
			first = s.Now().Sub(began)
		}
		return first < 0
	})
	switch {
	case err != nil && first < 0:
		return explain(s, "answer", err, listed), false
	case first < 0:
		// It was cut before it said anything, which thinking models do.
		return Check{Name: "answer", Status: OK, Detail: "the model answers"}, true
	}
	return Check{Name: "answer", Status: OK, Detail: "the model answers, streamed; the first piece came after " + seconds(first)}, true
}

// tools has the model call a tool that does nothing.
func tools(ctx context.Context, s *Setup) Check {
	probe := llm.ToolSpec{
		Name:        "ping",
		Description: "Does nothing. Call it once.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{}}`),
	}
	called := false
	err := ask(ctx, s, &llm.Request{Messages: []llm.Message{user("Call the tool ping now, and say nothing.")}, Tools: []llm.ToolSpec{probe}}, func(d llm.Delta) bool {
		called = called || d.Kind == llm.DeltaCall
		return !called
	})
	mend := "choose a model that calls tools: set " + s.Model.NameSetting
	var e *llm.Error
	switch {
	case called:
		return Check{Name: "tools", Status: OK, Detail: "the model calls tools"}
	case errors.As(err, &e) && (e.Kind == llm.KindBadRequest || e.Kind == llm.KindUnknownModel):
		return Check{Name: "tools", Status: Fault, Detail: "the model takes no tools, without which the agent can do nothing: " + e.Error(), Mend: mend}
	case err != nil:
		return explain(s, "tools", err, nil)
	}
	return Check{Name: "tools", Status: Fault, Detail: "the model was asked to call a tool and did not", Mend: mend}
}

func user(text string) llm.Message {
	return llm.Message{Role: llm.RoleUser, Content: []llm.Part{llm.Text(text)}}
}

// maxPieces bounds an answer to a call of the doctor's, in pieces, most of which are
// a token. It leaves room for a thought before a tool is called.
const maxPieces = 300

// ask makes a call and stops it once more says so, or after maxPieces.
func ask(ctx context.Context, s *Setup, req *llm.Request, more func(llm.Delta) bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	pieces := 0
	for d, err := range s.Server.Stream(ctx, req) {
		if err != nil {
			return err
		}
		if pieces++; !more(d) || pieces == maxPieces {
			break
		}
	}
	return nil
}

// explain says what a failed call means, and what mends it.
func explain(s *Setup, name string, err error, listed []string) Check {
	m := s.Model
	c := Check{Name: name, Status: Fault, Detail: err.Error(), Mend: "try again in a while"}
	var e *llm.Error
	if !errors.As(err, &e) {
		if errors.Is(err, context.DeadlineExceeded) {
			c.Detail = fmt.Sprintf("%s did not answer within %v", m.Address, s.Timeout)
			c.Mend = "try again in a while; if it stays so, check the network, the proxy, and " + m.AddressSetting
			return c
		}
		return Check{Name: name, Status: Skipped, Detail: "broken off"}
	}
	switch e.Kind {
	case llm.KindAuth:
		c.Detail = "the key is not accepted: " + e.Error()
		if !m.HasKey {
			c.Detail = "the server wants a key, and none is set: " + e.Error()
		}
		c.Mend = "set " + m.KeySetting + " to a key of " + m.Address + " that is valid"
	case llm.KindPermission:
		c.Detail = "the key may not do this: " + e.Error()
		c.Mend = "use a key that may use " + m.Name + ", or another model (" + m.NameSetting + ")"
	case llm.KindBilling:
		c.Detail = "the account has no credit or quota left: " + e.Error()
		c.Mend = "top it up, or set " + m.KeySetting + " to another key"
	case llm.KindConnection:
		c.Mend = "set " + m.AddressSetting + " to the server's address; if it is right, check the network and the proxy"
	case llm.KindTimeout, llm.KindStalled:
		c.Mend = "try again in a while; if it stays so, check the network, the proxy, and " + m.AddressSetting
	case llm.KindUnknownModel:
		c.Detail = "the server does not know " + m.Name + ": " + e.Error()
		c.Mend = "set " + m.NameSetting + " to a model that the server has"
		if near := nearest(m.Name, listed); near != "" {
			c.Mend += ", such as " + near
		}
		if listed == nil {
			c.Detail = "neither a list of models nor " + m.Name + " was found at this address: " + e.Error()
			c.Mend = "set " + m.AddressSetting + " to the server's address, which most often ends in /v1; if it is right, set " + m.NameSetting
		}
	case llm.KindMalformed:
		c.Mend = "set " + m.AddressSetting + " to an address that speaks OpenAI's chat completions; it most often ends in /v1"
	case llm.KindBadRequest:
		c.Mend = "set " + m.NameSetting + " to another model, or " + m.AddressSetting + " to another server"
	}
	return c
}

// nearest is up to three ids that begin most like a name.
func nearest(name string, listed []string) string {
	sorted := slices.Clone(listed)
	slices.SortStableFunc(sorted, func(a, b string) int { return prefix(name, b) - prefix(name, a) })
	return strings.Join(sorted[:min(len(sorted), 3)], ", ")
}

func prefix(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
