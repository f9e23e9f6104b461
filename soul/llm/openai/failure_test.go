package openai

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/modeltest"
	"kimi-acp/soul/llm"
)

func TestStatuses(t *testing.T) {
	for _, tt := range []struct {
		status int
		header http.Header
		body   string
		want   string
	}{
		{401, nil, `{"error":{"message":"Incorrect API key provided: ` + testKey + `","type":"invalid_request_error","code":"invalid_api_key"}}`, "auth 401: Incorrect API key provided: [API key]"},
		{400, nil, `[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT"}}]`, "auth 400: API key not valid. Please pass a valid API key."},
		{402, nil, `{"error":{"message":"Insufficient Balance"}}`, "billing 402: Insufficient Balance"},
		{403, nil, `{"error":{"message":"You've reached your usage limit for this period"}}`, "billing 403: You've reached your usage limit for this period"},
		{403, nil, `{"error":"not for you"}`, "permission 403: not for you"},
		{404, nil, `{"error":{"message":"Not found the model x or Permission denied","type":"resource_not_found_error"}}`, "unknown model 404: Not found the model x or Permission denied"},
		{400, nil, `{"error":{"message":"Model Not Exist","type":"invalid_request_error"}}`, "unknown model 400: Model Not Exist"},
		{404, http.Header{"Content-Type": {"text/html; charset=utf-8"}}, "<html>nginx</html>", "unknown model 404: Not Found"},
		{408, nil, "", "timeout 408: Request Timeout"},
		{400, nil, `{"error":{"message":"Invalid request: Your request exceeded model token limit: 131072"}}`, "overflow 400: Invalid request: Your request exceeded model token limit: 131072"},
		{400, nil, `{"error":{"message":"too long","code":"context_length_exceeded"}}`, "overflow 400: too long"},
		{413, nil, "", "overflow 413: Request Entity Too Large"},
		{400, nil, `{"error":{"message":"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum","type":"invalid_request_error"}}`, "bad image 400: messages.0.content.1.image.source.base64: image exceeds 5 MB maximum"},
		{400, nil, `{"error":{"message":"Could not process image"}}`, "bad image 400: Could not process image"},
		{422, nil, `{"detail":[{"msg":"bad"}]}`, `bad request 422: [{"msg":"bad"}]`},
		{400, nil, `{"error":{"message":"The request was rejected because it was considered high risk","type":"content_filter"}}`, "content filter 400: The request was rejected because it was considered high risk"},
		{429, http.Header{"Retry-After": {"7"}}, `{"error":{"message":"TPM","type":"rate_limit_reached_error"}}`, "rate limit 429 after 7s: TPM"},
		{
			429,
			http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"1500.5"}},
			`{"message":"Rate limit reached. Add a payment method: https://x/account/billing"}`,
			"rate limit 429 after 1.5005s: Rate limit reached. Add a payment method: https://x/account/billing",
		},
		{429, nil, `{"error":{"message":"You exceeded your current quota, please check your plan","code":"insufficient_quota"}}`, "billing 429: You exceeded your current quota, please check your plan"},
		{429, nil, `{"error":{"message":"You exceeded your current quota. Please retry in 34.5s."}}`, "rate limit 429: You exceeded your current quota. Please retry in 34.5s."},
		{429, nil, `{"error":{"message":"The engine is currently overloaded","type":"engine_overloaded_error"}}`, "overloaded 429: The engine is currently overloaded"},
		{500, nil, "boom\x00\n\tat x", "server 500: boom   at x"},
		{500, nil, `{}`, "server 500: {}"},
		{502, nil, `{"error":null,"message":" "}`, `server 502: {"error":null,"message":" "}`},
		{503, http.Header{"Content-Type": {"text/html"}}, "<p>", "overloaded 503: Service Unavailable"},
		{529, nil, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "overloaded 529: Overloaded"},
		{504, nil, "", "timeout 504: Gateway Timeout"},
		{599, nil, "", "server 599: the provider gave no reason"},
		{418, nil, "x" + strings.Repeat("é", maxErrorBody), "bad request 418: x" + strings.Repeat("é", maxMessage/2-1) + "…"},
	} {
		t.Run(tt.want, func(t *testing.T) {
			s := modeltest.New(t)
			s.Push(modeltest.Reply{Status: tt.status, Header: tt.header, Body: tt.body})
			p := open(t, Config{BaseURL: s.URL()})
			if got := transcript(t.Context(), p, hello()); got != tt.want+"\n" {
				t.Errorf("got %swant %s", got, tt.want)
			}
		})
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "0", 0},
		{"Retry-After", "-3", 0},
		{"Retry-After", "NaN", 0},
		{"Retry-After", " 2 ", 2 * time.Second},
		{"Retry-After", "0.25", 250 * time.Millisecond},
		{"Retry-After", "1e300", maxRetryAfter},
		{"Retry-After", "Inf", maxRetryAfter},
		{"Retry-After", now.Add(90 * time.Second).Format(http.TimeFormat), 90 * time.Second},
		{"Retry-After", now.Add(-time.Hour).Format(http.TimeFormat), 0},
		{"Retry-After", now.AddDate(1, 0, 0).Format(http.TimeFormat), maxRetryAfter},
		{"Retry-After-Ms", "1500", 1500 * time.Millisecond},
		{"Retry-After-Ms", "x", 0},
	} {
		h := http.Header{}
		h.Set(tt.name, tt.value)
		if got := retryAfter(h, now); got != tt.want {
			t.Errorf("%s: %s gives %v, want %v", tt.name, tt.value, got, tt.want)
		}
	}
}

// timeoutError is a net.Error that says what it is told.
type timeoutError bool

func (e timeoutError) Error() string   { return "no route" }
func (e timeoutError) Timeout() bool   { return bool(e) }
func (e timeoutError) Temporary() bool { return false }

// failing is an HTTP transport without a network.
type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestTransportFailures(t *testing.T) {
	leaky := errors.New("proxy said: bad header Bearer " + testKey)
	for want, cause := range map[string]error{
		"timeout: the provider did not answer in time: no route\n":                                     timeoutError(true),
		"connection: the connection to the provider failed: no route\n":                                timeoutError(false),
		"connection: the connection to the provider failed: proxy said: bad header Bearer [API key]\n": leaky,
	} {
		p := open(t, Config{BaseURL: "http://user:secret@model.test", HTTPClient: &http.Client{Transport: failing{cause}}})
		if got := transcript(t.Context(), p, hello()); got != want {
			t.Errorf("got %swant %s", got, want)
		}
	}
}

func TestErrorsUnwrap(t *testing.T) {
	p := open(t, Config{BaseURL: "http://model.test", HTTPClient: &http.Client{Transport: failing{timeoutError(true)}}})
	for _, err := range p.Stream(t.Context(), hello()) {
		var e *llm.Error
		if !errors.As(err, &e) || !errors.Is(err, timeoutError(true)) {
			t.Errorf("%#v does not lead to its cause", err)
		}
	}
}

func TestRequestIDs(t *testing.T) {
	stream := modeltest.Reply{Parts: []modeltest.Part{modeltest.Lines(`data: {"error":{"message":"boom"}}`)}}
	for _, tt := range []struct {
		name   string
		reply  modeltest.Reply
		header http.Header
		want   string
	}{
		{"of a status", modeltest.Reply{Status: 500, Body: "boom"}, http.Header{"X-Request-Id": {"r-1"}, "X-Trace-Id": {"t-1"}}, "HTTP 500: boom (request r-1)"},
		{"of a trace", modeltest.Reply{Status: 500, Body: "boom"}, http.Header{"X-Trace-Id": {"t-1"}}, "HTTP 500: boom (request t-1)"},
		{"none", modeltest.Reply{Status: 500, Body: "boom"}, nil, "HTTP 500: boom"},
		{"one that is too long", modeltest.Reply{Status: 500, Body: "boom"}, http.Header{"X-Request-Id": {strings.Repeat("x", maxRequestID+1)}}, "HTTP 500: boom"},
		{"one that is no word", modeltest.Reply{Status: 500, Body: "boom"}, http.Header{"X-Request-Id": {"a b"}}, "HTTP 500: boom"},
		{"of an error in a stream", stream, http.Header{"X-Request-Id": {"r-1"}}, "boom (request r-1)"},
		{"of an empty answer", modeltest.Reply{}, http.Header{"X-Request-Id": {"r-1"}}, "the answer holds no text and no tool call (request r-1)"},
	} {
		s := modeltest.New(t)
		tt.reply.Header = tt.header
		s.Push(tt.reply)
		for _, err := range open(t, Config{BaseURL: s.URL()}).Stream(t.Context(), hello()) {
			if err != nil && err.Error() != tt.want {
				t.Errorf("%s: got  %v\nwant %s", tt.name, err, tt.want)
			}
		}
	}
}
