//go:build model

package llamatest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"kimi-acp/internal/foreigntest"
)

// loadTime bounds how long the server may take to load its model.
const loadTime = 3 * time.Minute

// contextSize is the window that the server opens, in tokens: the model's own.
const contextSize = 8192

// modelName is what the server calls its model.
const modelName = "smollm2"

// server is a model server behind an observer.
type server struct {
	*observer
	url     string   // of the observer, with /v1
	backend *url.URL // of the server
}

// startServer starts the model server, waits until it has loaded its model, and
// puts an observer before it.
func startServer(t *testing.T) *server {
	t.Helper()
	interpreter := python(t)
	port := freePort(t)
	log, err := os.Create(filepath.Join(t.TempDir(), "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the server has its own descriptor
	cmd := exec.CommandContext(t.Context(), interpreter, "-m", "llama_cpp.server",
		"--model", modelFile(t, interpreter), "--model_alias", modelName, "--n_ctx", fmt.Sprint(contextSize),
		// Without this a request is torn by the one behind it, be it a cancelled one's.
		"--interrupt_requests", "false",
		"--host", "127.0.0.1", "--port", fmt.Sprint(port))
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }() // it ends by a signal, which counts as a failure
	t.Cleanup(func() { <-ended })                // the test's context ends before cleanups run

	backend := &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", port)}
	began := time.Now()
	for !answers(t.Context(), backend) {
		select {
		case <-ended:
			t.Fatalf("the server ended:\n%s", logged(log.Name()))
		case <-time.After(200 * time.Millisecond):
		}
		if time.Since(began) > loadTime {
			t.Fatalf("the server has not answered in %v:\n%s", loadTime, logged(log.Name()))
		}
	}
	t.Logf("the server has loaded its model in %v", time.Since(began).Round(10*time.Millisecond))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the server's log:\n%s", logged(log.Name()))
		}
	})
	s := &server{observer: &observer{proxy: httputil.NewSingleHostReverseProxy(backend)}, backend: backend}
	s.proxy.FlushInterval = -1 // at once
	s.proxy.ErrorHandler = func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) }
	front := httptest.NewServer(s.observer)
	t.Cleanup(front.Close)
	s.url = front.URL + "/v1"
	return s
}

// logged is the end of what the server has logged.
func logged(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return err.Error()
	}
	return foreigntest.Tail(string(text), 4096)
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the server is to listen there instead
	return l.Addr().(*net.TCPAddr).Port
}

func answers(ctx context.Context, backend *url.URL) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, backend.JoinPath("v1/models").String(), nil)
	if err != nil {
		return false
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, resp.Body) // the status says all
	_ = resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// exchange is one model request as the observer saw it.
type exchange struct {
	body []byte
	cut  bool          // the client left before the answer was whole; to be read when done is closed
	done chan struct{} // closed when the exchange is over
}

// observer passes requests on and notes those for completions.
type observer struct {
	proxy *httputil.ReverseProxy

	mu        sync.Mutex
	exchanges []*exchange
}

// ServeHTTP passes one request on.
func (o *observer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		o.proxy.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the client has gone
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	e := &exchange{body: body, done: make(chan struct{})}
	o.mu.Lock()
	o.exchanges = append(o.exchanges, e)
	o.mu.Unlock()
	defer func() {
		e.cut = r.Context().Err() != nil
		close(e.done)
		if p := recover(); p != nil && p != http.ErrAbortHandler { //nolint:errorlint // what net/http panics with
			panic(p)
		}
	}()
	o.proxy.ServeHTTP(w, r)
}

// last is the newest exchange.
func (o *observer) last(t *testing.T) *exchange {
	t.Helper()
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.exchanges) == 0 {
		t.Fatal("the server was asked for nothing")
	}
	return o.exchanges[len(o.exchanges)-1]
}

// environ is an environment whose settings file names the server, and that holds
// nothing of the user's.
func (s *server) environ(t *testing.T) []string {
	t.Helper()
	home := t.TempDir()
	share := filepath.Join(home, "share")
	if err := os.Mkdir(share, 0o700); err != nil {
		t.Fatal(err)
	}
	settings := fmt.Sprintf(`default_model = "small"
[providers.llama]
type = "openai_legacy"
base_url = %q
api_key = "none"
[models.small]
provider = "llama"
model = %q
max_context_size = %d
`, s.url, modelName, contextSize)
	if err := os.WriteFile(filepath.Join(share, "config.toml"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	return []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "KIMI_SHARE_DIR=" + share}
}
