package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/config"
	"kimi-acp/soul/llm"
)

// open makes a catalog that is closed with the test.
func open(t *testing.T, o Options) *Catalog {
	t.Helper()
	c := New(o)
	t.Cleanup(c.Close)
	return c
}

// a configured model, its capabilities given in words
func configured(id, name string, p config.Provider, capabilities string) config.Model {
	return config.Model{ID: id, Name: name, ContextSize: config.DefaultContextSize, Capabilities: strings.Fields(capabilities), Provider: p}
}

func kimi(url string) config.Provider {
	return config.Provider{Name: "moonshot", Type: config.TypeKimi, BaseURL: url, APIKey: "key-k", ReasoningKey: "reasoning_content"}
}

func openAI(url string) config.Provider {
	return config.Provider{Name: "other", Type: config.TypeOpenAI, BaseURL: url, APIKey: "key-o", ReasoningKey: "reasoning_content"}
}

// show prints choices a line each.
func show(choices []Choice) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "%s | %s | %s |", c.ID, c.Name, c.Description)
		for _, l := range c.Levels {
			fmt.Fprintf(&b, " %s=%s", l.ID, l.Name)
		}
		b.WriteString("\n")
	}
	return b.String()
}

func TestChoicesOfTheSettings(t *testing.T) {
	k, o := kimi("https://api.moonshot.test/v1"), openAI("http://127.0.0.1:9/v1")
	models := []config.Model{
		configured("k1", "kimi-a", k, "image_in video_in thinking"),
		configured("k2", "kimi-b", k, "thinking always_thinking"),
		configured("k3", "kimi-c", k, "image_in"),
		configured("o1", "gpt-a", o, "thinking"),
		configured("o2", "gpt-b", o, ""),
		{ID: "s", Name: "s", Provider: config.Provider{Type: config.TypeScripted}},
		{ID: "e", DisplayName: "Echo", Provider: config.Provider{Type: config.TypeEcho}},
	}
	models[4].ContextSize = 0
	want := []string{
		"o1 | o1 | gpt-a at 127.0.0.1:9 · 128k tokens · thinking | medium=Medium low=Low high=High",
		"k1 | k1 | kimi-a at api.moonshot.test · 128k tokens · images · video · thinking | on=On off=Off",
		"k2 | k2 | kimi-b at api.moonshot.test · 128k tokens · thinking |",
		"k3 | k3 | kimi-c at api.moonshot.test · 128k tokens · images |",
		"o2 | o2 | gpt-b at 127.0.0.1:9 · 128k tokens · images |",
		"s | s | answers from a file |",
		"e | Echo | answers with what it was asked |",
	}
	c := open(t, Options{Models: models, Default: "o1"})
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", show(c.Choices())); diff != "" {
		t.Error(diff)
	}
	if models[0].ID != "k1" {
		t.Error("the caller's models were put in another order")
	}
	for _, id := range []string{"", "none", "k1"} {
		if got := open(t, Options{Models: models, Default: id}).Choices(); got[0].ID != "k1" || len(got) != len(models) {
			t.Errorf("default %q: %s first", id, got[0].ID)
		}
	}
	for think, want := range map[bool]string{true: "[{on On} {off Off}] [] [{high High} {medium Medium} {low Low}]", false: "[{off Off} {on On}] [] [{low Low} {medium Medium} {high High}]"} {
		c := open(t, Options{Models: models, Thinking: &think}).Choices()
		if got := fmt.Sprint(c[0].Levels, c[1].Levels, c[3].Levels); got != want {
			t.Errorf("thinking %v: %s, want %s", think, got, want)
		}
	}
}

func TestUnknownChoices(t *testing.T) {
	k := kimi("https://api.moonshot.test/v1")
	models := []config.Model{configured("a", "kimi-a", k, "thinking"), configured("b", "kimi-b", k, "")}
	many := models
	for i := range 11 {
		many = append(many, configured(fmt.Sprint("m", i), "x", k, ""))
	}
	broken := k
	broken.BaseURL = "moonshot"
	for _, tt := range []struct {
		models       []config.Model
		model, level string
		kind         error
		want         string
	}{
		{models, "c", "", ErrUnknownModel, `there is no such model as "c"; there are a, b`},
		{many, "c", "", ErrUnknownModel, `there is no such model as "c"; there are a, b, m0, m1, m2, m3, m4, m5, m6, m7 and 3 more`},
		{nil, "c", "", ErrUnknownModel, `there is no such model as "c": none is set up`},
		{nil, "", "", ErrUnknownModel, `there is no such model as "": none is set up`},
		{models, "a", "high", ErrUnknownLevel, `the model has no such level of thinking as "high": a has on, off`},
		{models, "b", "on", ErrUnknownLevel, `the model has no such level of thinking as "on": b has none to choose`},
		{[]config.Model{configured("a", "x", broken, "")}, "a", "", nil, "the model a: base_url must be an http or https URL"},
		{[]config.Model{{ID: "s", Provider: config.Provider{Type: config.TypeScripted, Scripts: "none.json"}}}, "s", "", nil, "Scripted echo file not found: none.json"},
	} {
		p, err := open(t, Options{Models: tt.models}).Provider(tt.model, tt.level)
		if p != nil || err == nil || err.Error() != tt.want || tt.kind != nil && !errors.Is(err, tt.kind) {
			t.Errorf("got  %v\nwant %s", err, tt.want)
		}
	}
}

func TestModelsAreFoundByTheirNamesToo(t *testing.T) {
	k, o := kimi("https://a.test/v1"), openAI("https://b.test/v1")
	c := open(t, Options{Models: []config.Model{configured("x", "kimi-a", k, ""), configured("kimi-a", "gpt-a", o, ""), configured("y", "gpt-b", o, "")}})
	for id, want := range map[string]string{"": "kimi-a", "x": "kimi-a", "kimi-a": "gpt-a", "gpt-b": "gpt-b", "moonshot/kimi-a": "kimi-a", "other/gpt-b": "gpt-b"} {
		p, err := c.Provider(id, "")
		if err != nil {
			t.Errorf("%q: %v", id, err)
			continue
		}
		if got := p.Model().Name; got != want {
			t.Errorf("%q is %s, want %s", id, got, want)
		}
	}
}

// say makes a call and gives its text, or its error.
func say(t *testing.T, p llm.Provider, ask string) string {
	t.Helper()
	var text string
	for d, err := range p.Stream(t.Context(), &llm.Request{CacheKey: "s", Messages: []llm.Message{{Role: llm.RoleUser, Content: []llm.Part{llm.Text(ask)}}}}) {
		if err != nil {
			return err.Error()
		}
		if d.Kind == llm.DeltaText {
			text += d.Text
		}
	}
	return text
}

func TestProvidersWithoutANetwork(t *testing.T) {
	path := filepath.Join(t.TempDir(), "scripts.json")
	if err := os.WriteFile(path, []byte(`["text: one","text: two"]`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, Options{Models: []config.Model{
		{ID: "s", Name: "s", ContextSize: 5000, Provider: config.Provider{Type: config.TypeScripted, Scripts: path}},
		{ID: "e", Provider: config.Provider{Type: config.TypeEcho}},
	}})
	for _, want := range []string{"one", "two"} { // the scripts go on, whoever asks for the provider
		p, err := c.Provider("s", "")
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, p, "x"); got != want || p.Model().ContextSize != 5000 {
			t.Errorf("said %s, want %s", got, want)
		}
	}
	p, err := c.Provider("e", "")
	if err != nil {
		t.Fatal(err)
	}
	if got := say(t, p, "text: three"); got != "three" {
		t.Errorf("said %s", got)
	}
	c.Warm(t.Context(), "s") // does nothing
}

func TestWhatProvidersSend(t *testing.T) {
	s := newServer(t, "")
	k, o := kimi(s.URL), openAI(s.URL)
	k.Headers = map[string]string{"x-title": "mine", "User-Agent": "mine/2"}
	o.ReasoningKey = ""
	c := open(t, Options{UserAgent: "kimi-acp/1", Models: []config.Model{
		configured("think", "m", k, "thinking"),
		configured("always", "m", k, "always_thinking"),
		configured("plain", "m", k, "image_in"),
		configured("effort", "m", o, "thinking"),
		configured("simple", "m", o, "image_in"),
	}})
	const cached = `"prompt_cache_key":"s"`
	for _, tt := range []struct{ model, level, want string }{
		{"think", "", cached + ` "thinking":{"type":"enabled"}`},
		{"think", "on", cached + ` "thinking":{"type":"enabled"}`},
		{"think", "off", cached + ` "thinking":{"type":"disabled"}`},
		{"always", "", cached + ` "thinking":{"type":"enabled"}`},
		{"plain", "", cached},
		{"effort", "", `"reasoning_effort":"medium"`},
		{"effort", "low", `"reasoning_effort":"low"`},
		{"effort", "high", `"reasoning_effort":"high"`},
		{"simple", "", ""},
	} {
		p, err := c.Provider(tt.model, tt.level)
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, p, "hi"); got != "ok" {
			t.Fatal(got)
		}
		r := s.last()
		var body map[string]json.RawMessage
		if err := json.Unmarshal(r.body, &body); err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, name := range []string{"prompt_cache_key", "reasoning_effort", "thinking"} {
			if v, ok := body[name]; ok {
				got = append(got, fmt.Sprintf("%q:%s", name, v))
			}
		}
		if g := strings.Join(got, " "); g != tt.want {
			t.Errorf("%s at %q: %s, want %s", tt.model, tt.level, g, tt.want)
		}
		key, agent := "Bearer key-k", "mine/2"
		if tt.model == "effort" || tt.model == "simple" {
			key, agent = "Bearer key-o", "kimi-acp/1"
		}
		if r.header.Get("Authorization") != key || r.header.Get("User-Agent") != agent {
			t.Errorf("%s: %v", tt.model, r.header)
		}
	}
}

func TestCAFilesThatCannotBeUsed(t *testing.T) {
	var log strings.Builder
	c := open(t, Options{CAFiles: []string{"", "no such file"}, Logger: textLogger(&log)})
	if c.own == nil || !strings.Contains(log.String(), `level=WARN msg="a file of certificate authorities is passed over" error="read the certificates of no such file: `) {
		t.Errorf("logged %s", log.String())
	}
}
