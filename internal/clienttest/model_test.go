//go:build clients

package clienttest

import (
	"encoding/json"
	"path/filepath"
	"testing"

	"kimi-acp/internal/modeltest"
)

// served are the settings for a model behind an HTTP API on loopback, which
// judges each conversation that it is sent.
func served(model *modeltest.Server) []string {
	return []string{"KIMI_BASE_URL=" + model.URL(), "KIMI_API_KEY=of-no-use", "KIMI_MODEL_NAME=served"}
}

// scripted are the settings for the model without a network, with its answers in
// order.
func scripted(t *testing.T, answers ...string) []string {
	t.Helper()
	scripts := filepath.Join(t.TempDir(), "answers.json")
	writeFile(t, scripts, marshal(t, answers))
	return []string{"KIMI_MODEL_NAME=_scripted_echo", "KIMI_SCRIPTED_ECHO_SCRIPTS=" + scripts}
}

// says is an answer of text alone, with its usage.
func says(pieces ...string) modeltest.Reply {
	r := modeltest.Reply{Usage: &modeltest.Usage{Prompt: 900, Completion: 100}}
	for _, piece := range pieces {
		r.Parts = append(r.Parts, modeltest.Text(piece))
	}
	return r
}

// calls is an answer that calls a tool, in pieces.
func calls(t *testing.T, id, tool string, arguments any) modeltest.Reply {
	t.Helper()
	return modeltest.Reply{Parts: []modeltest.Part{modeltest.CallPieces(0, id, tool, marshal(t, arguments), 16)}}
}

// told is the text that the model was given as the result of a call, in its
// request number n, from 1.
func told(t *testing.T, model *modeltest.Server, n int, call string) string {
	t.Helper()
	requests := model.Requests()
	if len(requests) < n {
		t.Fatalf("the model got %d requests, want at least %d", len(requests), n)
	}
	for _, m := range requests[n-1].Chat.Messages {
		if m.Role == "tool" && m.ToolCallID == call {
			return m.Text()
		}
	}
	t.Fatalf("request %d holds no result of the call %s", n, call)
	return ""
}

func marshal(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
