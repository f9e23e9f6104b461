package doctor

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"kimi-acp/internal/modeltest"
	"kimi-acp/internal/proc"
	"kimi-acp/internal/screen"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/llm/openai"
)

var update = flag.Bool("update", false, "write the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const key = "sk-0123456789-secret"

// noon is when all tests take place.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// sound is a setup in which nothing is wrong, but for the server, which it lacks.
// Its folders are named relative to one of the test's, so that the names are always
// the same.
func sound(t *testing.T) Setup {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.Mkdir("share", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return Setup{
		Version:    "kimi-acp 1.2.3, linux/amd64, go1.26.0",
		Self:       "/opt/kimi-acp/kimi-acp",
		Sources:    "/home/ada/.kimi/config.toml, the environment",
		Model:      Model{Name: "kimi-k2", Why: "from KIMI_MODEL_NAME", ContextSize: 128_000, Images: true, Address: "https://models.example.com/v1", HasKey: true, NameSetting: "KIMI_MODEL_NAME", KeySetting: "KIMI_API_KEY", AddressSetting: "KIMI_BASE_URL"},
		ShareDir:   "share",
		LogFile:    "/home/ada/.kimi/logs/kimi-acp.log",
		Runner:     shell{"echo ready": {Output: "ready\n"}, "git --version": {Output: "git version 2.51.0\n"}},
		Supervisor: func(context.Context) error { return nil },
		LookPath:   having("git", "zed", "nvim"),
		Now:        func() time.Time { return noon },
	}
}

func having(programs ...string) func(string) (string, error) {
	return func(name string) (string, error) {
		for _, p := range programs {
			if p == name {
				return "/usr/bin/" + p, nil
			}
		}
		return "", errors.New("not found")
	}
}

// shell is a Runner that knows what commands print.
type shell map[string]proc.Outcome

func (s shell) Shell() string { return "/bin/bash" }

func (s shell) Run(_ context.Context, c proc.Command) (proc.Outcome, error) {
	o, ok := s[c.Shell]
	if !ok {
		return proc.Outcome{}, errors.New("run a command: start the shell: no such file or directory")
	}
	return o, nil
}

// serving makes a server that lists models and answers the model's calls.
func serving(t *testing.T, s *Setup, models string, replies ...modeltest.Reply) {
	t.Helper()
	chat := modeltest.New(t)
	chat.Push(replies...)
	mux := http.NewServeMux()
	mux.Handle("POST /v1/chat/completions", chat)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+key {
			t.Errorf("authorized by %q", r.Header.Get("Authorization"))
		}
		if status := 0; models == "" || models[0] != '{' {
			if _, err := fmt.Sscan(models, &status); err != nil {
				t.Error(err)
			}
			http.Error(w, `{"error":{"message":"no, `+key+` is not for this","code":"none"}}`, status)
			return
		}
		_, _ = w.Write([]byte(models))
	})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Date", noon.Format(http.TimeFormat))
		mux.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	reach(t, s, server.URL+"/v1")
}

func reach(t *testing.T, s *Setup, address string) {
	t.Helper()
	transport := &http.Transport{}
	t.Cleanup(transport.CloseIdleConnections)
	s.Clock = &Clock{Next: transport, Now: s.Now}
	p, err := openai.New(openai.Config{BaseURL: address, APIKey: key, Model: llm.Model{Name: s.Model.Name, ContextSize: s.Model.ContextSize}, HTTPClient: &http.Client{Transport: s.Clock}})
	if err != nil {
		t.Fatal(err)
	}
	s.Server = p
}

func failing(status int, message string) modeltest.Reply {
	return modeltest.Reply{Status: status, Body: `{"error":{"message":"` + message + `","type":"error"}}`}
}

var (
	says  = modeltest.Reply{Parts: []modeltest.Part{modeltest.Text("ready")}}
	calls = modeltest.Reply{Parts: []modeltest.Part{modeltest.Call(0, "c", "ping", "{}")}}
)

const twoModels = `{"data":[{"id":"kimi-k2"},{"id":"kimi-k2-turbo"}]}`

func TestReports(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name   string
		faults int
		make   func(t *testing.T, s *Setup)
	}{
		{"good", 0, func(t *testing.T, s *Setup) { serving(t, s, twoModels, says, calls) }},
		{"no-config", 1, func(_ *testing.T, s *Setup) {
			s.Sources, s.Model = "the environment", Model{}
			s.Missing = "No model is set up. Set KIMI_API_KEY to your Moonshot key and KIMI_MODEL_NAME to the model's name."
		}},
		{"broken-config", 2, func(_ *testing.T, s *Setup) {
			s.Model = Model{}
			s.Warnings = []Warning{{"/home/ada/.kimi/acp.toml:7", "expected a value after =; the file is not used"}}
			s.Missing = "No model is set up."
		}},
		{"expired-key", 1, func(t *testing.T, s *Setup) { serving(t, s, "401") }},
		{"no-key", 1, func(t *testing.T, s *Setup) {
			serving(t, s, "401")
			s.Model.HasKey = false
		}},
		{"wrong-path", 1, func(t *testing.T, s *Setup) {
			serving(t, s, "404")
			reach(t, s, strings.Replace(addressOf(t, s), "/v1", "/v2", 1))
		}},
		{"no-list", 0, func(t *testing.T, s *Setup) { serving(t, s, "404", says, calls) }},
		{"no-tools", 1, func(t *testing.T, s *Setup) {
			serving(t, s, twoModels, says, failing(400, "this model does not support tools"))
		}},
		{"calls-no-tool", 1, func(t *testing.T, s *Setup) { serving(t, s, twoModels, says, says) }},
		{"unknown-model", 1, func(t *testing.T, s *Setup) {
			s.Model.Name = "kimi-k2-trubo"
			serving(t, s, twoModels, failing(404, "model not found"))
		}},
		{"no-credit", 1, func(t *testing.T, s *Setup) {
			serving(t, s, twoModels, failing(429, "You exceeded your current quota"))
		}},
		{"thinks-only", 0, func(t *testing.T, s *Setup) {
			serving(t, s, twoModels, modeltest.Reply{Parts: []modeltest.Part{modeltest.Think("hm")}, Finish: "length"}, calls)
		}},
		{"folder-to-make", 0, func(_ *testing.T, s *Setup) {
			s.Offline, s.ShareDir = true, filepath.Join("share", "not", "yet")
		}},
		{"offline", 0, func(_ *testing.T, s *Setup) { s.Offline = true }},
		{"local-model", 0, func(_ *testing.T, s *Setup) {
			s.Model = Model{Name: "_scripted_echo", Why: "from KIMI_MODEL_NAME", ContextSize: 128_000, Local: true}
		}},
		{"machine", 4, func(_ *testing.T, s *Setup) {
			s.Offline = true
			s.Runner, s.LookPath = shell{}, having()
			s.ShareDir = filepath.Join("file", "share")
			s.Supervisor = func(context.Context) error { return errors.New("exit status 2") }
		}},
		{"shell-that-fails", 2, func(_ *testing.T, s *Setup) {
			s.Offline, s.ShareDir = true, ""
			s.Runner = shell{"echo ready": {ExitCode: 127}, "git --version": {Output: "git version 2.51.0\n"}}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := sound(t)
			tt.make(t, &s)
			r := Examine(t.Context(), s)
			if got := r.Faults(); got != tt.faults {
				t.Errorf("%d faults, want %d", got, tt.faults)
			}
			for _, width := range []int{50, 100} {
				var b bytes.Buffer
				r.Show(screen.New(&b, false, width))
				golden(t, filepath.Join(here, "testdata", fmt.Sprintf("%s-%d.golden", tt.name, width)), b.String())
			}
			for _, c := range r.Checks {
				if (c.Status == Fault) != (c.Mend != "") {
					t.Errorf("%s: status %s with the mend %q", c.Name, c.Status, c.Mend)
				}
				if strings.Contains(c.Detail+c.Mend, key) {
					t.Errorf("%s shows the key", c.Name)
				}
			}
		})
	}
}

func addressOf(t *testing.T, s *Setup) string {
	t.Helper()
	// The provider does not tell its address; a request does.
	var address string
	s.Clock.Next = roundTrip(func(r *http.Request) (*http.Response, error) {
		address = strings.TrimSuffix(r.URL.String(), "/models")
		return nil, errors.New("not sent")
	})
	if _, err := s.Server.Models(t.Context()); err == nil {
		t.Fatal("the request was sent")
	}
	return address
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(file), diff)
	}
}

// silent is a server that never answers.
type silent struct{}

func (silent) Model() llm.Model { return llm.Model{Name: "kimi-k2", ContextSize: 1} }

func (silent) Models(ctx context.Context) ([]openai.ModelInfo, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func (silent) Stream(ctx context.Context, _ *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		<-ctx.Done()
		yield(llm.Delta{}, ctx.Err())
	}
}

func TestASlowServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := Setup{Model: Model{Address: "https://models.example.com/v1", AddressSetting: "KIMI_BASE_URL"}, Server: silent{}, Timeout: 20 * time.Second, Now: time.Now}
		began := time.Now()
		got := server(t.Context(), &s)[0]
		want := Check{"server", Fault, "https://models.example.com/v1 did not answer within 20s", "try again in a while; if it stays so, check the network, the proxy, and KIMI_BASE_URL"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if took := time.Since(began); took != s.Timeout {
			t.Errorf("gave up after %v", took)
		}
	})
}

// chatty is a server whose model never stops.
type chatty struct {
	silent
	said *int
}

func (c chatty) Models(context.Context) ([]openai.ModelInfo, error) { return nil, nil }

func (c chatty) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		for yield(llm.Delta{Kind: llm.DeltaText, Text: "la "}, nil) {
			*c.said++
		}
	}
}

func TestAModelThatNeverStops(t *testing.T) {
	s := sound(t)
	said := 0
	s.Server, s.Timeout = chatty{said: &said}, time.Hour
	checks := server(t.Context(), &s)
	if got := checks[len(checks)-1]; got.Status != Fault || got.Name != "tools" || said >= 2*maxPieces {
		t.Errorf("%+v after %d pieces", got, said)
	}
}

// Every kind of failure is a fault, with a mend of its own where one is known.
func TestExplain(t *testing.T) {
	s := sound(t)
	for kind, want := range map[llm.Kind]string{
		llm.KindAuth:       "KIMI_API_KEY",
		llm.KindPermission: "KIMI_MODEL_NAME",
		llm.KindBilling:    "top it up",
		llm.KindRateLimit:  "try again",
		llm.KindServer:     "try again",
		llm.KindTimeout:    "KIMI_BASE_URL",
		llm.KindStalled:    "the network",
		llm.KindConnection: "KIMI_BASE_URL",
		llm.KindMalformed:  "/v1",
		llm.KindBadRequest: "another model",
	} {
		c := explain(&s, "server", &llm.Error{Kind: kind, Message: "words"}, nil)
		if c.Status != Fault || !strings.Contains(c.Mend, want) || !strings.Contains(c.Detail, "words") {
			t.Errorf("kind %d: %+v", kind, c)
		}
	}
}

func TestBrokenOff(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	s := sound(t)
	s.Server = silent{}
	r := Examine(ctx, s)
	for _, c := range r.Checks {
		if c.Name == "server" && c.Status != Skipped {
			t.Errorf("%+v", c)
		}
	}
}

func TestClock(t *testing.T) {
	for _, tt := range []struct {
		date string
		want []Check
	}{
		{"", nil},
		{noon.Add(-2 * time.Minute).Format(http.TimeFormat), []Check{{Name: "clock", Status: OK, Detail: "agrees with the server's"}}},
		{noon.Add(-3 * time.Hour).Format(http.TimeFormat), []Check{{"clock", Fault, "this machine's clock is 3h0m0s ahead of the server's", "set the clock: sudo timedatectl set-ntp true, or in the system's settings"}}},
		{noon.Add(40 * time.Minute).Format(http.TimeFormat), []Check{{"clock", Fault, "this machine's clock is 40m0s behind the server's", "set the clock: sudo timedatectl set-ntp true, or in the system's settings"}}},
	} {
		c := &Clock{Now: func() time.Time { return noon }, Next: roundTrip(func(*http.Request) (*http.Response, error) {
			return &http.Response{Header: http.Header{"Date": {tt.date}}}, nil
		})}
		if _, err := c.RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, clock(t.Context(), &Setup{Clock: c})); diff != "" {
			t.Errorf("%q: %s", tt.date, diff)
		}
	}
}

func TestJSON(t *testing.T) {
	var b bytes.Buffer
	r := Report{Checks: []Check{{"git", OK, "2.51.0", ""}, {"key", Fault, "none <here>", "set KIMI_API_KEY"}}}
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	want := `{
  "ok": false,
  "faults": 1,
  "checks": [
    {
      "name": "git",
      "status": "ok",
      "detail": "2.51.0"
    },
    {
      "name": "key",
      "status": "fault",
      "detail": "none <here>",
      "mend": "set KIMI_API_KEY"
    }
  ]
}
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	if err := r.WriteJSON(closed{}); err == nil {
		t.Error("a writer that fails was not heard of")
	}
}

type closed struct{}

func (closed) Write([]byte) (int, error) { return 0, os.ErrClosed }
