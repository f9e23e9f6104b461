package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"time"
)

// maxErrorBody bounds what is read of a failure's body, in bytes.
const maxErrorBody = 64 << 10

// exchange is the HTTP side of one call, as go-openai's HTTPDoer: it replaces
// the library's body by ours, turns failures into errors with what their header
// says, and guards the stream that the library reads. It serves one request.
type exchange struct {
	provider *Provider
	key      string // that is sent; "": none
	body     []byte
	cancel   context.CancelCauseFunc
	header   http.Header // of the response, set by Do
	lines    *lines      // set by Do
}

// Do sends the request. Its error is an *llm.Error or the transport's.
func (ex *exchange) Do(req *http.Request) (*http.Response, error) {
	req.Body = io.NopCloser(bytes.NewReader(ex.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(ex.body)), nil }
	req.ContentLength = int64(len(ex.body))
	req.Header.Del("Connection") // hop-by-hop: the transport's to set
	ex.provider.setHeader(req.Header)
	// Without a value it is not sent. It lets the transport repeat a request that
	// met a kept connection just as the server closed it: nothing was answered.
	req.Header["Idempotency-Key"] = nil

	resp, err := ex.provider.http.Do(req)
	if err == nil && resp.StatusCode == http.StatusUnauthorized && ex.again(req) {
		_ = resp.Body.Close() // it says no more than the status
		resp, err = ex.provider.http.Do(req)
	}
	if err != nil {
		return nil, err
	}
	ex.header = resp.Header
	ex.lines = newLines(resp.Body, ex.provider.cfg.IdleTimeout, ex.cancel)
	if resp.StatusCode < 200 || resp.StatusCode >= 300 {
		defer func() { _ = ex.lines.Close() }() // the failure is told already
		// What was read before the body broke is still the best account of the failure.
		body, _ := io.ReadAll(io.LimitReader(readerFunc(ex.lines.readBody), maxErrorBody))
		return nil, statusError(resp.StatusCode, resp.Header, body, time.Now())
	}
	resp.Body = ex.lines
	return resp, nil
}

// setHeader sets the fields that the config asks for.
func (p *Provider) setHeader(h http.Header) {
	if p.cfg.UserAgent != "" {
		h.Set("User-Agent", p.cfg.UserAgent)
	}
	for name, values := range p.cfg.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
}
