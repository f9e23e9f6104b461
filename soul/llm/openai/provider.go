// Package openai is a model that answers over OpenAI chat completions, the
// protocol that nearly every vendor and local server offers.
//
// The library go-openai carries the stream. Requests, chunks and failures are
// ours, because vendors differ in just those: request.go, message.go, schema.go
// and dialect.go write the body, lines.go guards the stream, chunk.go and fast.go
// read a chunk, answer.go and calls.go put the answer together, and failure.go
// with vendor.go says what went wrong. transport.go and warm.go keep connections
// ready, health.go tells how a provider does, and models.go reads what a server offers.
//
// It must not know sessions, tools that run, retries or configuration files: it
// makes one call at a time and says honestly how that ended.
package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	goopenai "github.com/sashabaranov/go-openai"

	"kimi-acp/soul/llm"
)

// DefaultIdleTimeout is how long a stream may be silent unless Config says otherwise.
const DefaultIdleTimeout = 120 * time.Second

// tailTimeout is how long a stream may go on once the finish reason is
// known: the answer is whole, and only its token counts may be missing.
const tailTimeout = 5 * time.Second

// Config is what a Provider needs to reach a model.
type Config struct {
	BaseURL string // up to and without `/chat/completions`; http or https, no query
	APIKey  string // sent as bearer token to the origin of BaseURL alone; "": none
	// NewKey gives the key as it is now. It is asked when the server has not accepted the
	// one in use, and another one is tried, once in a call. It may be called by several
	// goroutines at once. Nil: there is no other.
	NewKey func() string
	Model  llm.Model

	Dialect  Dialect
	Thinking Thinking
	// ReasoningKey is the field of an assistant's message in which its thinking
	// comes and goes back. "": DefaultReasoningKey; NoReasoningKey: it is read but
	// not sent back. DialectKimi has the default alone.
	ReasoningKey string
	// MaxCompletionTokens bounds an answer in DialectKimi, in tokens; an answer
	// never gets more than the window has room for. 0: as much as there is room
	// for; below 0: no bound is sent.
	MaxCompletionTokens int

	// HTTPClient makes the requests. A copy of it is used, whose redirects stay
	// within the origin; its transport should come from NewTransport. Nil: a
	// client of the provider's own, with a limit on the wait for the response's
	// header (IdleTimeout) and none on the answer as a whole.
	HTTPClient *http.Client

	UserAgent   string                     // "": the HTTP client's
	Header      http.Header                // further header fields; they win over ours
	Extra       map[string]json.RawMessage // further fields of the body, as `temperature`; they win over those of dialect and thinking
	IdleTimeout time.Duration              // longest silence within a stream; 0: DefaultIdleTimeout
	Circuit     *llm.Circuit               // of the provider, for those who choose; calls do not heed it. Nil: none

	cacheKey bool // the server knows prompt_cache_key
}

// Provider is one model behind one base URL. Its methods may be called side by side.
type Provider struct {
	cfg     Config
	http    *http.Client
	renewed atomic.Pointer[string] // the key that has come in the place of cfg's; nil: none has
}

// New checks a Config and makes a provider of it; nothing is sent. The caller
// closes it. An error names the field that is wrong and never holds the key.
func New(cfg Config) (*Provider, error) {
	base, err := url.Parse(cfg.BaseURL)
	switch {
	case err != nil || (base.Scheme != "http" && base.Scheme != "https") || base.Host == "":
		return nil, errors.New("base_url must be an http or https URL")
	case base.RawQuery != "" || base.Fragment != "":
		return nil, errors.New("base_url must have no query and no fragment")
	case cfg.Model.Name == "":
		return nil, errors.New("the model has no name")
	case cfg.IdleTimeout < 0:
		return nil, fmt.Errorf("the idle timeout %v is negative", cfg.IdleTimeout)
	case cfg.Dialect > DialectKimi:
		return nil, fmt.Errorf("there is no dialect %d", cfg.Dialect)
	case reservedInMessage(cfg.ReasoningKey):
		return nil, fmt.Errorf("the message field %q is not free for thinking", cfg.ReasoningKey)
	}
	if err := cfg.Thinking.check(); err != nil {
		return nil, err
	}
	for name := range cfg.Extra {
		if reserved(name) {
			return nil, fmt.Errorf("the body field %q is not free to set", name)
		}
	}
	cfg.APIKey = strings.TrimSpace(cfg.APIKey)
	if !usableKey(cfg.APIKey) {
		return nil, errors.New("the API key holds characters that no header can carry")
	}
	cfg.BaseURL = strings.TrimRight(cfg.BaseURL, "/")
	if cfg.IdleTimeout == 0 {
		cfg.IdleTimeout = DefaultIdleTimeout
	}
	if cfg.ReasoningKey == "" || cfg.Dialect == DialectKimi {
		cfg.ReasoningKey = DefaultReasoningKey
	}
	cfg.cacheKey = cfg.Dialect == DialectKimi || base.Hostname() == openAIHost
	client, err := newHTTPClient(&cfg)
	if err != nil {
		return nil, err
	}
	return &Provider{cfg: cfg, http: client}, nil
}

// Model tells what Config was given.
func (p *Provider) Model() llm.Model { return p.cfg.Model }

// Close closes connections that are kept for later calls, unless they are those
// of Config.HTTPClient, which others may use. Calls under way go on.
func (p *Provider) Close() {
	if p.cfg.HTTPClient == nil {
		p.http.CloseIdleConnections()
	}
}

// Stream asks the model. The contract is llm.Provider's; besides:
//
//   - DeltaCall comes once id and name are known, with Index 0, 1, 2… in that
//     order whatever the vendor counts; ids are unique within the answer and are
//     made up where the vendor sent none;
//   - DeltaID comes once, DeltaUsage once and right before DeltaFinish;
//   - an answer that holds neither text nor calls is KindEmpty, unless it was cut
//     (FinishLength) or filtered (FinishContentFilter).
//
// When ctx ends, or the reader stops, the HTTP response is closed at once.
func (p *Provider) Stream(ctx context.Context, req *llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		stopped := false
		emit := func(d llm.Delta) error {
			if !yield(d, nil) {
				stopped = true
				return errStopped
			}
			return nil
		}
		ex := &exchange{provider: p, key: p.key()}
		if err := p.call(ctx, ex, req, emit); err != nil && !stopped {
			yield(llm.Delta{}, p.failed(ctx, err, ex.header))
		}
	}
}

// errStopped unwinds a call whose reader wants no more.
var errStopped = errors.New("the reader stopped")

// call makes one model call and emits its deltas.
func (p *Provider) call(parent context.Context, ex *exchange, req *llm.Request, emit func(llm.Delta) error) error {
	body, err := encodeRequest(&p.cfg, req)
	if err != nil {
		return &llm.Error{Kind: llm.KindBadRequest, Message: "encode the request: " + err.Error(), Err: err}
	}
	ctx, cancel := context.WithCancelCause(parent)
	defer cancel(nil)

	ex.body, ex.cancel = body, cancel
	stream, err := p.client(ex).CreateChatCompletionStream(ctx, goopenai.ChatCompletionRequest{})
	if err != nil {
		return cause(ctx, err)
	}
	defer func() { _ = stream.Close() }() // it was only read

	a := answer{emit: emit, thinkKey: p.cfg.ReasoningKey}
	for {
		events, err := stream.RecvRaw()
		if err != nil {
			if parent.Err() != nil {
				return parent.Err()
			}
			if err := a.end(ex.lines, cause(ctx, err)); err != nil {
				return err
			}
			ex.lines.drain()
			return nil
		}
		for event := range bytes.SplitSeq(events, []byte{separator}) {
			if err := a.add(event); err != nil {
				return err
			}
		}
		if a.finish != "" && ex.lines.until.IsZero() {
			ex.lines.endIn(min(p.cfg.IdleTimeout, tailTimeout))
		}
	}
}

// client makes the library's client for one exchange. It is a few words of
// memory; the connections live in the provider's HTTP client.
func (p *Provider) client(ex *exchange) *goopenai.Client {
	conf := goopenai.DefaultConfig(ex.key)
	conf.BaseURL = p.cfg.BaseURL
	conf.HTTPClient = ex
	return goopenai.NewClientWithConfig(conf)
}

// cause puts the reason for which ctx was cancelled in place of the error that
// the cancelling made. An end of the stream and a failure that the provider told
// stand.
func cause(ctx context.Context, err error) error {
	var told *llm.Error
	if ctx.Err() == nil || errors.Is(err, io.EOF) || errors.As(err, &told) {
		return err
	}
	return context.Cause(ctx)
}

// failed makes err what a reader of Stream may see: ctx's error or an *llm.Error
// without the key. header is the response's, nil if there was none.
func (p *Provider) failed(ctx context.Context, err error, header http.Header) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	var e *llm.Error
	if !errors.As(err, &e) {
		e = transportError(err)
	}
	out := *e
	out.Message = redact(redact(out.Message, p.cfg.APIKey), p.key())
	if out.RequestID == "" {
		out.RequestID = requestID(header)
	}
	return &out
}
