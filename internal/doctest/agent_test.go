package doctest

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"kimi-acp/acp"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/scripted"
	"kimi-acp/soul/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// request is what an editor asks; params are JSON.
type request struct{ method, params string }

// answer is what the agent says to it.
type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// ask puts requests to an agent in this process, behind an initialize, and gives
// the answers in the same order: first the one to initialize.
func ask(t *testing.T, requests ...request) []answer {
	t.Helper()
	requests = append([]request{{"initialize", `{"protocolVersion":1}`}}, requests...)
	var in strings.Builder
	for i, r := range requests {
		fmt.Fprintf(&in, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", i, r.method, r.params)
	}
	var out bytes.Buffer
	quiet := slog.New(slog.DiscardHandler)
	silent := scripted.New(nil, llm.Model{Name: "silent", ContextSize: 1000})
	err := acp.Serve(t.Context(), strings.NewReader(in.String()), &out, acp.Options{
		Version:  "1.0.0",
		Logger:   quiet,
		Sessions: session.NewStore(t.TempDir()),
		NewSoul: func(s acp.SoulSpec) (soul.Soul, error) {
			return soul.New(soul.Config{SessionID: s.SessionID, Provider: silent, Wire: s.Wire, Tools: s.Executor.Specs(), Controls: s.Controls, Logger: quiet}), nil
		},
	}, jsonrpc.Options{Logger: quiet, Linger: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	answers := make([]answer, len(requests))
	got := 0
	for lines := bufio.NewScanner(&out); lines.Scan(); {
		a := answer{ID: -1}
		if err := json.Unmarshal(lines.Bytes(), &a); err != nil {
			t.Fatalf("%v: %s", err, lines.Text())
		}
		if a.ID >= 0 && a.ID < len(answers) {
			answers[a.ID] = a
			got++
		}
	}
	if got != len(requests) {
		t.Fatalf("%d of %d requests were answered", got, len(requests))
	}
	return answers
}

// mode is what a session offers as one.
type mode struct{ ID, Name, Description string }

// modes are those that a session offers, in its order.
func modes(t *testing.T) []mode {
	t.Helper()
	cwd, err := json.Marshal(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	var opened struct {
		Modes struct {
			AvailableModes []mode `json:"availableModes"`
		} `json:"modes"`
	}
	made := ask(t, request{"session/new", `{"cwd":` + string(cwd) + `,"mcpServers":[]}`})[1]
	if made.Error != nil {
		t.Fatalf("a session was not made: %s", made.Error.Message)
	}
	if err := json.Unmarshal(made.Result, &opened); err != nil {
		t.Fatal(err)
	}
	if len(opened.Modes.AvailableModes) == 0 {
		t.Fatalf("a session offers no modes: %s", made.Result)
	}
	return opened.Modes.AvailableModes
}
