package catalog

import (
	"context"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/internal/config"
)

// server lists models and answers calls with `ok`.
type server struct {
	*httptest.Server

	mu    sync.Mutex
	list  string    // guarded by mu; "": there is none
	asked []request // guarded by mu
}

type request struct {
	what   string
	header http.Header
	body   []byte
}

func newServer(t *testing.T, list string) *server {
	s := &server{list: list}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.asked = append(s.asked, request{r.Method + " " + r.URL.Path, r.Header, body})
	list := s.list
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodPost:
		_, _ = io.WriteString(w, `data: {"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	case list == "":
		http.Error(w, "no list", http.StatusNotFound)
	default:
		_, _ = io.WriteString(w, list)
	}
}

func (s *server) last() request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[len(s.asked)-1]
}

func (s *server) requests() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []string
	for _, r := range s.asked {
		all = append(all, r.what)
	}
	return strings.Join(all, ", ")
}

func textLogger(w io.Writer) *slog.Logger {
	return slog.New(slog.NewTextHandler(w, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// without the server's address, which changes
func at(s *server, text string) string {
	return strings.ReplaceAll(text, strings.TrimPrefix(s.URL, "http://"), "<host>")
}

func TestListsCompleteTheChoices(t *testing.T) {
	s := newServer(t, `{"data":[`+
		`{"id":"z","context_length":262144,"supports_reasoning":true,"supports_image_in":false},`+
		`{"id":"kimi-b","display_name":"Kimi B","context_length":64000,"supports_reasoning":true,"supports_image_in":true,"supports_video_in":true},`+
		`{"id":"kimi-a","display_name":"Kimi A","context_length":64000,"supports_image_in":true},`+
		`{"id":"text-embedding-3"},{"id":"own"},{"id":"c","architecture":{"output_modalities":["image"]}}]}`)
	k := kimi(s.URL)
	stated := configured("own", "kimi-a", k, "thinking")
	stated.ContextSize, stated.DisplayName = 5000, "Mine"
	changed := 0
	c := open(t, Options{Models: []config.Model{configured("k", "kimi-b", k, ""), stated}, Changed: func() { changed++ }})
	c.Warm(t.Context(), "k")
	c.Close() // waits for Changed
	want := []string{
		"k | Kimi B | kimi-b at <host> · 64k tokens · images · video · thinking | on=On off=Off",
		"own | Mine | kimi-a at <host> · 5k tokens · thinking | on=On off=Off",
		"moonshot/own | moonshot/own | own at <host> · 128k tokens · images |",
		"z | z | z at <host> · 262k tokens · thinking | on=On off=Off",
	}
	if diff := cmp.Diff(strings.Join(want, "\n")+"\n", at(s, show(c.Choices()))); diff != "" {
		t.Error(diff)
	}
	if changed != 1 {
		t.Errorf("%d changes", changed)
	}
	p, err := c.Provider("z", "off")
	if err != nil {
		t.Fatal(err)
	}
	if m := p.Model(); m.Name != "z" || m.ContextSize != 262144 || m.ImageInput || !m.Thinking {
		t.Errorf("%+v", m)
	}
	if r := s.last(); r.what != "GET /models" || r.header.Get("Authorization") != "Bearer key-k" {
		t.Errorf("%+v", r)
	}
}

func TestListedModelsOfSeveralServers(t *testing.T) {
	a, b, d := newServer(t, `["one"]`), newServer(t, `["one","two"]`), newServer(t, `["one"]`)
	same := openAI(d.URL) // another provider of the same name, as two files may have it
	models := []config.Model{configured("k", "m", kimi(a.URL), ""), configured("o", "m", openAI(b.URL), ""), configured("o2", "m", same, "")}
	c := open(t, Options{Models: models})
	for _, id := range []string{"o2", "o", "k"} { // in whatever order
		c.Warm(t.Context(), id)
	}
	var ids []string
	for _, ch := range c.Choices() {
		ids = append(ids, ch.ID)
	}
	if got := strings.Join(ids, " "); got != "k o o2 moonshot/one other-2/one other/one other/two" {
		t.Errorf("choices %s", got)
	}
}

func TestListedModelsAreBounded(t *testing.T) {
	var list []string
	for i := range maxListed + 5 {
		list = append(list, fmt.Sprintf(`"m%03d"`, i))
	}
	s := newServer(t, "["+strings.Join(list, ",")+"]")
	c := open(t, Options{Models: []config.Model{configured("k", "m", kimi(s.URL), "")}})
	c.Warm(t.Context(), "")
	if got := c.Choices(); len(got) != 1+maxListed || got[maxListed].ID != fmt.Sprintf("m%03d", maxListed-1) {
		t.Errorf("%d choices", len(got))
	}
}

// A list is asked for once in a while only; the connection is warmed always.
func TestListsAreKept(t *testing.T) {
	s := newServer(t, `["one"]`)
	changed := make(chan struct{}, 9)
	c := open(t, Options{Models: []config.Model{configured("k", "m", kimi(s.URL), "")}, Changed: func() { changed <- struct{}{} }})
	c.Warm(t.Context(), "k")
	<-changed
	c.Warm(t.Context(), "k")
	c.Warm(t.Context(), "unknown")
	if got := s.requests(); got != "GET /models, HEAD /models" {
		t.Errorf("asked %s", got)
	}
	c.expire()
	s.mu.Lock()
	s.list = "" // a list that is lost is better than none
	s.mu.Unlock()
	c.Warm(t.Context(), "k")
	c.Warm(t.Context(), "k") // not at once again
	c.Close()
	if got := s.requests(); got != "GET /models, HEAD /models, GET /models, HEAD /models" {
		t.Errorf("asked %s", got)
	}
	if got := c.Choices(); len(got) != 2 || len(changed) != 0 {
		t.Errorf("%s and %d changes", show(got), len(changed))
	}
	c.Warm(t.Context(), "k")
	if got := strings.Count(s.requests(), ","); got != 3 {
		t.Error("a closed catalog asks")
	}
}

// expire makes all lists old.
func (c *Catalog) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.endpoints {
		e.next = time.Time{}
	}
}

// roundTrip is a function as an HTTP transport.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestServersThatDoNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		silent := roundTrip(func(r *http.Request) (*http.Response, error) {
			asked.Add(1)
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		var log strings.Builder
		models := []config.Model{configured("k", "m", kimi("http://model.test/v1"), "")}
		c := New(Options{Models: models, HTTPClient: &http.Client{Transport: silent}, Logger: textLogger(&log)})
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { c.Warm(ctx, "k") })
		}
		wg.Wait()
		if took := time.Since(start); took != time.Second || asked.Load() != 1 {
			t.Errorf("%d requests, back after %v", asked.Load(), took)
		}
		c.Warm(t.Context(), "k") // until the list is given up
		if took := time.Since(start); took != 20*time.Second || asked.Load() != 1 {
			t.Errorf("%d requests, given up after %v", asked.Load(), took)
		}
		if !strings.Contains(log.String(), `msg="the list of models cannot be had" provider=moonshot`) {
			t.Errorf("logged %s", log.String())
		}
		if _, err := c.Provider("k", ""); err != nil || len(c.Choices()) != 1 {
			t.Errorf("the settings do not count: %v", err)
		}
		time.Sleep(retryAfter)
		go c.Warm(t.Context(), "k") // which Close sets free
		synctest.Wait()
		before := time.Now()
		c.Close()
		c.Close()
		if took := time.Since(before); took != 0 || asked.Load() != 2 {
			t.Errorf("%d requests, closed after %v", asked.Load(), took)
		}
	})
}

// The catalog's own client trusts the files, and all providers share a connection
// from Warm on.
func TestTheCatalogsOwnConnections(t *testing.T) {
	s := &server{list: `["one"]`}
	var opened atomic.Int32
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := open(t, Options{Models: []config.Model{configured("k", "m", kimi(s.URL), ""), configured("o", "m", openAI(s.URL), "")}, CAFiles: []string{"", ca}})
	c.Warm(t.Context(), "k")
	for _, id := range []string{"k", "o", "moonshot/one"} {
		p, err := c.Provider(id, "")
		if err != nil {
			t.Fatal(err)
		}
		if got := say(t, p, "hi"); got != "ok" {
			t.Error(got)
		}
	}
	if n := opened.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
}
