package doctest

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"kimi-acp/acp"
	"kimi-acp/internal/acptest"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/modeltest"
	"kimi-acp/soul"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

// The page about failures of models: a table of the kinds, and one of what happens when
// a server goes wrong in each way that the test kit knows.
func TestReliabilityPage(t *testing.T) {
	kinds := make([][]string, 0, len(llm.Kinds()))
	for _, k := range llm.Kinds() {
		r := k.Remedy()
		kinds = append(kinds, []string{code(r.Name), repeated(r), otherwise(r), r.Advice})
	}
	hold(t, "reliability.md", map[string]string{
		"kinds":  table([]string{"kind", "repeated", "else", "what the user reads when it stays so"}, kinds),
		"faults": table([]string{"what goes wrong", "how", "requests", "what the user sees meanwhile", "outcome"}, playFaults(t)),
	})
}

func repeated(r llm.Remedy) string {
	switch {
	case r.Slowly:
		return "yes, slowly"
	case r.Repeat:
		return "yes"
	}
	return "no"
}

func otherwise(r llm.Remedy) string {
	var all []string
	for _, o := range []struct {
		on   bool
		says string
	}{
		{r.Switch, "the fallback model"},
		{r.Compact, "a shorter conversation"},
		{r.Strip, "again without images"},
	} {
		if o.on {
			all = append(all, o.says)
		}
	}
	return strings.Join(all, ", ")
}

// theAnswer is what the model has to say. Not all of it is ASCII.
var theAnswer = strings.Repeat("The cat — an old one — sat on the mat and said nothing at all. ", 10) + "Ende gut, alles gut."

// faultCase is a fault with a server that has it.
type faultCase struct {
	modeltest.Fault
	url   string // of another server than the model's, "": the model's
	input []acptest.Block
}

// playFaults has an editor prompt an agent for each fault, and gives the rows.
func playFaults(t *testing.T) (rows [][]string) {
	t.Helper()
	var cases []faultCase
	for _, f := range modeltest.Faults(theAnswer, "SetTodoList", `{"todos":[{"title":"sit","status":"done"}]}`) {
		cases = append(cases, faultCase{Fault: f})
	}
	image := acptest.Image("image/png", "QUJD")
	cases = append(cases, faultCase{
		Fault: modeltest.Fault{Group: "images", Name: "400, an image that cannot be read", Replies: []modeltest.Reply{{Status: 400, Body: `{"error":{"message":"Could not process image"}}`}}},
		input: []acptest.Block{acptest.Text("look"), image},
	})
	cases = append(cases, unreachable(t)...)
	rows = make([][]string, len(cases))
	t.Run("faults", func(t *testing.T) {
		for i, c := range cases {
			t.Run(c.Group+"/"+c.Name, func(t *testing.T) {
				if c.Stalls {
					t.Parallel() // which lets them wait together, and alone
				}
				rows[i] = playFault(t, c)
			})
		}
	})
	return rows
}

// unreachable are servers that give no response at all.
func unreachable(t *testing.T) []faultCase {
	t.Helper()
	stranger := httptest.NewUnstartedServer(http.NotFoundHandler())
	stranger.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
	stranger.StartTLS()
	t.Cleanup(stranger.Close)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := closed.Addr().String()
	if err := closed.Close(); err != nil {
		t.Fatal(err)
	}
	reach := func(name, url string) faultCase {
		return faultCase{Fault: modeltest.Fault{Group: "no way to the server", Name: name, Lasting: true}, url: url}
	}
	return []faultCase{
		reach("nobody listens", "http://"+address+"/v1"),
		reach("a certificate of nobody's", stranger.URL+"/v1"),
		reach("no TLS where TLS is asked for", strings.Replace(plain.URL, "http:", "https:", 1)+"/v1"),
	}
}

// wellAgain is a model that gives the answer, or what is missing of it when it is asked
// to go on.
func wellAgain(r *modeltest.Request) modeltest.Reply {
	rest := theAnswer
	messages := r.Chat.Messages
	if n := len(messages); n > 2 && messages[n-2].Role == "assistant" {
		if after, ok := strings.CutPrefix(theAnswer, messages[n-2].Text()); ok && len(after) < len(theAnswer) {
			rest = after
		}
	}
	return modeltest.Reply{Parts: []modeltest.Part{modeltest.TextPieces(rest, 20)}}
}

// watchedSilence is how long a stream may be silent where a fault stalls it.
const watchedSilence = 1500 * time.Millisecond

func playFault(t *testing.T, c faultCase) []string {
	t.Helper()
	server := modeltest.New(t)
	if c.Lasting && len(c.Replies) > 0 {
		server.Answer(func(*modeltest.Request) modeltest.Reply { return c.Replies[0] })
	} else {
		server.Push(c.Replies...)
		server.Answer(wellAgain)
	}
	settings := openai.Config{BaseURL: server.URL(), APIKey: "key", Model: llm.Model{Name: "m", ContextSize: 100_000, ImageInput: true}}
	if c.url != "" {
		settings.BaseURL = c.url
	}
	if c.Stalls {
		settings.IdleTimeout = watchedSilence
	}
	model, err := openai.New(settings)
	if err != nil {
		t.Fatal(err)
	}
	defer model.Close()
	client := editor(t, model)
	client.Initialize(acptest.Capabilities{Notices: true})
	input := c.input
	if input == nil {
		input = []acptest.Block{acptest.Text("tell me of the cat")}
	}
	turn := client.NewSession(t.TempDir()).Prompt(input...)
	outcome := ending(turn)
	// Whatever could be made good was, and not a byte of the answer is lost or doubled.
	recoverable := !c.Lasting && !strings.Contains(c.Name, "an hour") && !strings.Contains(c.Name, "credit")
	if recoverable && (outcome != "the whole answer" || turn.Text() != theAnswer) {
		t.Errorf("ended with %s, said %q", outcome, turn.Text())
	}
	if !recoverable && (outcome == "the whole answer" || !strings.HasPrefix(theAnswer, turn.Text())) {
		t.Errorf("ended with %s, said %q", outcome, turn.Text())
	}
	for _, r := range server.Requests() {
		if r.Invalid != nil {
			t.Errorf("request %d: %v", r.Number, r.Invalid)
		}
	}
	return []string{c.Group, c.Name, fmt.Sprint(len(server.Requests())), strings.Join(counted(seen(turn)), "; "), outcome}
}

// ending says how a turn ended: with the whole answer, or with the advice of an error.
func ending(turn *acptest.Turn) string {
	result, failure := turn.Call().Wait()
	if failure != nil {
		advice, _, _ := strings.Cut(failure.Message, " The model's provider said: ")
		return fmt.Sprintf("error %d: %s", failure.Code, advice)
	}
	var stopped struct {
		StopReason string `json:"stopReason"`
	}
	if err := json.Unmarshal(result, &stopped); err != nil {
		return err.Error()
	}
	if stopped.StopReason == "end_turn" && turn.Text() == theAnswer {
		return "the whole answer"
	}
	return fmt.Sprintf("%s, after %d of %d bytes", stopped.StopReason, len(turn.Text()), len(theAnswer))
}

var figure = regexp.MustCompile(`in [0-9.]+ s`)

// seen is what an editor shows of a turn beside the answer.
func seen(turn *acptest.Turn) (all []string) {
	for _, u := range turn.Updates() {
		var notice struct{ SessionUpdate, Title string }
		if err := json.Unmarshal(u.Raw, &notice); err == nil && notice.SessionUpdate == "notice" {
			all = append(all, figure.ReplaceAllString(notice.Title, "in … s"))
		}
	}
	for _, call := range turn.Calls() {
		all = append(all, "a call "+call.Status)
	}
	return all
}

// counted puts neighbours that are the same into one.
func counted(all []string) (out []string) {
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n] == all[0] {
			n++
		}
		if n > 1 {
			all[0] += fmt.Sprintf(" (%d times)", n)
		}
		out = append(out, all[0])
		all = all[n:]
	}
	return out
}

// editor is one in front of an agent with a model.
func editor(t *testing.T, model llm.Provider) *acptest.Client {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	agentIn, toAgent := io.Pipe()
	fromAgent, agentOut := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		err := acp.Serve(context.Background(), agentIn, agentOut, acp.Options{
			Version: "1.0.0", Logger: quiet,
			NewSoul: func(s acp.SoulSpec) (soul.Soul, error) {
				return soul.New(soul.Config{
					SessionID: s.SessionID, Provider: model, Wire: s.Wire, Tools: s.Executor.Specs(), Controls: s.Controls, Logger: quiet,
					Retry: soul.RetryPolicy{Attempts: soul.DefaultRetry.Attempts, Base: time.Millisecond, Cap: time.Millisecond, MaxAsked: time.Minute, Busy: time.Millisecond},
				}), nil
			},
		}, jsonrpc.Options{Logger: quiet})
		_ = agentOut.Close()
		_ = agentIn.Close()
		ended <- err
	}()
	t.Cleanup(func() {
		if err := <-ended; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	return acptest.Connect(t, toAgent, fromAgent)
}
