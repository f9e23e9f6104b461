package openai

import (
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// secureServer answers with a stream over TLS, and notes what it was asked.
type secureServer struct {
	*httptest.Server
	caFile string

	mu    sync.Mutex
	asked []string // guarded by mu
}

func newSecureServer(t *testing.T, http2 bool) *secureServer {
	s := &secureServer{caFile: filepath.Join(t.TempDir(), "ca.pem")}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL.Path, r.Proto, r.Header.Get("Authorization")))
		s.mu.Unlock()
		if r.Method == http.MethodHead {
			w.WriteHeader(http.StatusMethodNotAllowed) // it does not matter
			return
		}
		_, _ = w.Write(cannedStream(1))
	}))
	s.EnableHTTP2 = http2
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // refused certificates
	s.StartTLS()
	t.Cleanup(s.Close)
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	if err := os.WriteFile(s.caFile, block, 0o600); err != nil {
		t.Fatal(err)
	}
	return s
}

// client makes a client with a transport of these options.
func client(t *testing.T, o TransportOptions) *http.Client {
	t.Helper()
	transport, err := NewTransport(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// connection makes a call and tells whether it found its connection open.
func connection(t *testing.T, p *Provider) string {
	t.Helper()
	got := "no connection"
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{GotConn: func(c httptrace.GotConnInfo) {
		got = "new"
		if c.Reused {
			got = "reused"
		}
	}})
	if said := transcript(ctx, p, hello()); !strings.HasSuffix(said, "finish stop\n") {
		t.Fatal(said)
	}
	return got
}

func TestWarm(t *testing.T) {
	for _, tt := range []struct {
		name       string
		http2, via bool
		proto      string
	}{
		{"HTTP/1.1", false, false, "HTTP/1.1"},
		{"HTTP/2", true, false, "HTTP/2.0"},
		{"HTTP/1.1 through a proxy", false, true, "HTTP/1.1"},
		{"HTTP/2 through a proxy", true, true, "HTTP/2.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSecureServer(t, tt.http2)
			o := TransportOptions{CAFiles: []string{"", s.caFile}}
			proxy := &connectProxy{}
			if tt.via {
				o.Proxy = http.ProxyURL(proxy.start(t))
			}
			shared := client(t, o)
			warmed := open(t, Config{BaseURL: s.URL + "/v1/", HTTPClient: shared})
			other := open(t, Config{BaseURL: s.URL + "/v1", HTTPClient: shared})
			warmed.Warm(t.Context())
			other.Close() // which is not to close what others have opened
			if got := connection(t, other); got != "reused" {
				t.Errorf("the first call's connection is %s", got)
			}
			want := []string{"HEAD /v1/models " + tt.proto + " Bearer " + testKey, "POST /v1/chat/completions " + tt.proto + " Bearer " + testKey}
			if got := strings.Join(s.asked, "\n"); got != strings.Join(want, "\n") {
				t.Errorf("the server was asked\n%s", got)
			}
			if tunnels := proxy.tunnels(); tt.via && tunnels != strings.TrimPrefix(s.URL, "https://") {
				t.Errorf("tunnels to %q", tunnels)
			}
		})
	}
}

func TestWithoutWarmTheConnectionIsNew(t *testing.T) {
	s := newSecureServer(t, true)
	p := open(t, Config{BaseURL: s.URL, HTTPClient: client(t, TransportOptions{CAFiles: []string{s.caFile}})})
	if got := connection(t, p); got != "new" {
		t.Errorf("the first call's connection is %s", got)
	}
}

// A server that does not answer holds Warm for its limit only, and one that
// cannot be reached leaves no trace.
func TestWarmIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: &paced{status: http.StatusOK}}})
		start := time.Now()
		p.Warm(t.Context())
		if took := time.Since(start); took > warmTimeout {
			t.Errorf("took %v", took)
		}
		silent := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: silent{}}})
		silent.Warm(t.Context())
		if took := time.Since(start); took != warmTimeout {
			t.Errorf("took %v, want %v", took, warmTimeout)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		silent.Warm(ctx)
		if took := time.Since(start); took != warmTimeout+time.Second {
			t.Errorf("took %v", took)
		}
	})
	open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: failing{io.ErrUnexpectedEOF}}}).Warm(t.Context())
}

// silent is an HTTP transport that never answers.
type silent struct{}

func (silent) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// A kept connection that the server closes while a request is on its way costs
// nothing: the request is made again, on another one.
func TestAConnectionThatClosesUnderARequest(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	defer wg.Wait()
	defer l.Close()
	wg.Go(func() {
		for n := 1; n <= 2; n++ {
			c, err := l.Accept()
			if err != nil {
				t.Error(err)
				return
			}
			answerHTTP(t, c)
			if n == 1 {
				readHTTP(t, c) // and it closes without an answer
			}
			_ = c.Close()
		}
	})
	p := open(t, Config{BaseURL: "http://" + l.Addr().String()})
	for range 2 {
		if got := transcript(t.Context(), p, hello()); !strings.HasSuffix(got, "finish stop\n") {
			t.Error(got)
		}
	}
}

// readHTTP reads one request whose body is short.
func readHTTP(t *testing.T, c net.Conn) {
	t.Helper()
	buf := make([]byte, 64<<10)
	for n := 0; !strings.Contains(string(buf[:n]), `"stream_options"`); {
		m, err := c.Read(buf[n:])
		if err != nil {
			t.Error(err)
			return
		}
		n += m
	}
}

func answerHTTP(t *testing.T, c net.Conn) {
	t.Helper()
	readHTTP(t, c)
	body := cannedStream(1)
	fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func TestCAFiles(t *testing.T) {
	s := newSecureServer(t, true)
	p := open(t, Config{BaseURL: s.URL, HTTPClient: client(t, TransportOptions{})})
	if got := transcript(t.Context(), p, hello()); !strings.HasPrefix(got, "connection: no secure connection to the provider can be made (SSL_CERT_FILE can name further certificate authorities): tls: failed to verify certificate") {
		t.Errorf("without the file: %s", got)
	}
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct{ path, want string }{
		{filepath.Join(dir, "none"), "read the certificates of <path>: "},
		{write("text", []byte("no certificate")), "<path> holds no certificate in PEM form"},
		{write("big", make([]byte, maxCAFile+1)), "read the certificates of <path>: it has more than 4194304 bytes"},
		{dir, "read the certificates of <path>: "},
	} {
		_, err := NewTransport(TransportOptions{CAFiles: []string{s.caFile, tt.path}})
		want := strings.Replace(tt.want, "<path>", tt.path, 1)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Count(err.Error(), tt.path) != 1 {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestTransportDefaults(t *testing.T) {
	tr, err := NewTransport(TransportOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if tr.Proxy == nil || tr.ResponseHeaderTimeout != DefaultIdleTimeout || tr.TLSClientConfig.RootCAs != nil || tr.TLSClientConfig.MinVersion < tls.VersionTLS12 {
		t.Errorf("%+v", tr)
	}
	if tr, err = NewTransport(TransportOptions{HeaderTimeout: time.Second}); err != nil || tr.ResponseHeaderTimeout != time.Second {
		t.Errorf("%v, %+v", err, tr)
	}
}

// connectProxy is a proxy that tunnels.
type connectProxy struct {
	mu      sync.Mutex
	targets []string // guarded by mu
	open    sync.WaitGroup
}

func (p *connectProxy) start(t *testing.T) *url.URL {
	t.Helper()
	s := httptest.NewServer(p)
	p.open.Add(1) // the server itself
	t.Cleanup(func() {
		s.Close()
		p.open.Done()
		p.open.Wait()
	})
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func (p *connectProxy) tunnels() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.targets, " ")
}

func (p *connectProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	p.mu.Lock()
	p.targets = append(p.targets, r.Host)
	p.mu.Unlock()
	up, err := net.Dial("tcp", r.Host)
	if err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	down, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = up.Close()
		return
	}
	// Only now: the client speaks at once, and what the server has read of that is lost.
	_, _ = io.WriteString(down, "HTTP/1.1 200 OK\r\n\r\n") // a client that is gone hears nothing
	for from, to := range map[net.Conn]net.Conn{up: down, down: up} {
		p.open.Go(func() {
			_, _ = io.Copy(to, from)
			_ = to.Close()
		})
	}
}
