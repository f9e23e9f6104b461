package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"kimi-acp/soul/llm"
)

const (
	maxMessage    = 2000           // bytes of a provider's words that are passed on
	maxExcerpt    = 200            // bytes of what could not be read
	maxRequestID  = 128            // bytes
	maxRetryAfter = 24 * time.Hour // a provider that asks for more is not waited for
)

// statusError says what a response with a failure status means.
func statusError(status int, header http.Header, body []byte, now time.Time) error {
	f := readFailure(body)
	e := &llm.Error{
		Kind:       classify(status, f),
		Status:     status,
		RetryAfter: retryAfter(header, now),
		Message:    f.message,
		RequestID:  requestID(header),
	}
	if e.Message == "" && !strings.Contains(header.Get("Content-Type"), "html") {
		e.Message = clip(string(body), maxMessage)
	}
	if e.Message == "" {
		e.Message = http.StatusText(status)
	}
	if e.Message == "" {
		e.Message = "the provider gave no reason"
	}
	return e
}

// eventError says what an error event within a stream means.
func eventError(event []byte) error {
	f := readFailure(event)
	e := &llm.Error{Kind: classify(f.status, f), Status: f.status, Message: f.message}
	if e.Message == "" {
		e.Message = "the provider reported an error: " + excerpt(event)
	}
	return e
}

// transportError says what a failure below HTTP means. The URL is left out, for
// what it may hold.
func transportError(err error) *llm.Error {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	var n net.Error
	if errors.As(err, &n) && n.Timeout() {
		return &llm.Error{Kind: llm.KindTimeout, Message: "the provider did not answer in time: " + err.Error(), Err: err}
	}
	if untrusted(err) {
		return &llm.Error{Kind: llm.KindConnection, Message: "no secure connection to the provider can be made (SSL_CERT_FILE can name further certificate authorities): " + err.Error(), Final: true, Err: err}
	}
	return &llm.Error{Kind: llm.KindConnection, Message: "the connection to the provider failed: " + err.Error(), Err: err}
}

// failure is what a provider says of an error.
type failure struct {
	message string
	labels  string // type and code
	status  int    // an HTTP status given as code, 0: none
}

// readFailure reads the forms in which providers report errors: an object under
// `error`, a text there, the same at the top, a list of those, or `detail`.
func readFailure(body []byte) failure {
	var list []json.RawMessage
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		return readFailure(list[0])
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(body, &object) != nil {
		return failure{}
	}
	if inner, ok := object["error"]; ok && !isNull(inner) {
		if inner[0] == '{' {
			return readFailure(inner)
		}
		object["message"] = inner
	}
	var f failure
	for _, key := range [...]string{"message", "msg", "detail", "error_msg"} {
		if f.message == "" {
			f.message = clip(plainText(object[key]), maxMessage)
		}
	}
	for _, key := range [...]string{"type", "code", "status"} {
		label := plainText(object[key])
		f.labels += label + " "
		if n, err := strconv.Atoi(label); err == nil && n >= 400 && n <= 599 && f.status == 0 {
			f.status = n
		}
	}
	return f
}

// plainText gives a string's contents, and anything else as it stands.
func plainText(raw json.RawMessage) string {
	var s string
	if isNull(raw) || json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

// retryAfter reads how long the provider asks to wait, 0 when it does not say:
// in milliseconds, in seconds or as a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	value := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(value, 64); err == nil && s > 0 {
		return seconds(s)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}

// requestID gives the provider's id of a call, "" if there is none.
func requestID(h http.Header) string {
	for _, name := range [...]string{"X-Request-Id", "X-Trace-Id", "X-Msh-Trace-Id"} {
		id := h.Get(name)
		if id != "" && len(id) <= maxRequestID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return id
		}
	}
	return ""
}

func seconds(s float64) time.Duration {
	if s >= maxRetryAfter.Seconds() {
		return maxRetryAfter
	}
	return time.Duration(s * float64(time.Second))
}

// excerpt gives the beginning of what could not be read.
func excerpt(b []byte) string { return fmt.Sprintf("%q", clip(string(b), maxExcerpt)) }

// clip makes one line of text and cuts it, at a whole rune, to n bytes.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(strings.TrimSpace(s), "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}

// redact takes the key out of a text that a server or a library wrote.
func redact(text, key string) string {
	if key == "" {
		return text
	}
	return strings.ReplaceAll(text, key, "[API key]")
}
