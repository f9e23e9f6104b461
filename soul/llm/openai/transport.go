package openai

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"kimi-acp/soul/llm"
)

// The limits of the provider's own HTTP client.
const (
	dialTimeout   = 10 * time.Second
	pingInterval  = 15 * time.Second // notices a connection that died with the network
	maxRedirects  = 5
	idlePerOrigin = 4
	idleFor       = 90 * time.Second
)

// newHTTPClient gives the client of the config, or one of our own, with
// redirects bound to the origin.
func newHTTPClient(cfg *Config) *http.Client {
	var client http.Client
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	} else {
		client.Transport = &http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout:   dialTimeout,
			ForceAttemptHTTP2:     true,
			HTTP2:                 &http.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingInterval},
			ResponseHeaderTimeout: cfg.IdleTimeout,
			MaxIdleConnsPerHost:   idlePerOrigin,
			IdleConnTimeout:       idleFor,
			DisableCompression:    true, // a compressed stream comes in lumps
		}
	}
	client.CheckRedirect = checkRedirect
	return &client
}

// checkRedirect lets a request go on only to where the user sent it: the same
// scheme, host and port, with the same method. Anything else would hand the
// key and the conversation to a stranger, or turn the call into a GET.
func checkRedirect(req *http.Request, via []*http.Request) error {
	from, to := via[0].URL, req.URL
	e := &llm.Error{Kind: llm.KindBadRequest, Status: req.Response.StatusCode}
	switch {
	case to.Scheme != from.Scheme || to.Host != from.Host:
		e.Message = fmt.Sprintf("the provider redirects to %s://%s, which is not followed; set base_url to the new address", to.Scheme, to.Host)
	case req.Method != via[0].Method:
		e.Message = fmt.Sprintf("the provider redirects to %s with another method; set base_url to the new address", to.Path)
	case len(via) > maxRedirects:
		e.Message = "the provider redirects in a circle"
	default:
		return nil
	}
	return e
}
