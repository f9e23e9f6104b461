package openai

import (
	"context"
	"net/http"
	"time"
)

// warmTimeout bounds how long Warm takes.
const warmTimeout = 10 * time.Second

// Warm opens a connection to the provider, through the proxy if there is one, so
// that the next call finds it open and its first token comes sooner. It takes up
// to 10 s, or until ctx ends, and sends a HEAD request for the list of models
// whose answer does not matter. If it fails, the next call does what it would
// have done anyway and says what is wrong.
func (p *Provider) Warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	resp, err := p.ask(ctx, http.MethodHead, modelsPath)
	if err != nil {
		return
	}
	_ = resp.Body.Close() // an answer to HEAD has no body, so the connection is kept
}

// ask sends a request without a body to a path beneath the base URL.
func (p *Provider) ask(ctx context.Context, method, path string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.cfg.BaseURL+path, nil)
	if err != nil {
		return nil, err
	}
	if key := p.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	req.Header.Set("Accept", "application/json")
	p.setHeader(req.Header)
	return p.http.Do(req)
}
