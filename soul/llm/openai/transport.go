package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"time"

	"kimi-acp/soul/llm"
)

// The limits of a transport.
const (
	dialTimeout   = 10 * time.Second
	pingInterval  = 15 * time.Second // notices a connection that died with the network
	maxRedirects  = 5
	idlePerOrigin = 4
	idleFor       = 5 * time.Minute // a person thinks between two prompts
	maxCAFile     = 4 << 20         // bytes
)

// TransportOptions says how servers are reached.
type TransportOptions struct {
	// CAFiles are PEM files, of at most 4 MiB each, with certificate authorities
	// to trust besides the system's; empty names are passed over. On Unix other
	// than macOS SSL_CERT_FILE says where the system's are; elsewhere it can
	// be named here.
	CAFiles []string
	// Proxy says through which proxy a request goes, as in http.Transport. Nil:
	// what HTTPS_PROXY, HTTP_PROXY and NO_PROXY say.
	Proxy func(*http.Request) (*url.URL, error)
	// HeaderTimeout bounds the wait for the header of a response; 0:
	// DefaultIdleTimeout.
	HeaderTimeout time.Duration
}

// NewTransport makes the transport that the providers of a process share, so
// that a connection that one has opened serves the others. It speaks HTTP/2
// where the server does, gives up a connection that cannot be made after 10 s,
// keeps idle ones for 5 minutes and notices dead ones. The error names a CA
// file that cannot be used.
func NewTransport(o TransportOptions) (*http.Transport, error) {
	roots, err := loadRoots(o.CAFiles)
	if err != nil {
		return nil, err
	}
	t := &http.Transport{
		Proxy:                 o.Proxy,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		TLSClientConfig:       &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:     true,
		HTTP2:                 &http.HTTP2Config{SendPingTimeout: pingInterval, PingTimeout: pingInterval},
		ResponseHeaderTimeout: o.HeaderTimeout,
		MaxIdleConnsPerHost:   idlePerOrigin,
		IdleConnTimeout:       idleFor,
		DisableCompression:    true, // a compressed stream comes in lumps
	}
	if t.Proxy == nil {
		t.Proxy = http.ProxyFromEnvironment
	}
	if t.ResponseHeaderTimeout == 0 {
		t.ResponseHeaderTimeout = DefaultIdleTimeout
	}
	return t, nil
}

// loadRoots gives the system's certificates and those of the files; nil without
// files, which leaves the system's to the TLS library.
func loadRoots(files []string) (*x509.CertPool, error) {
	var roots *x509.CertPool
	for _, name := range files {
		if name == "" {
			continue
		}
		pem, err := readCAFile(name)
		if err != nil {
			return nil, fmt.Errorf("read the certificates of %s: %w", name, err)
		}
		if roots == nil {
			if roots, err = x509.SystemCertPool(); err != nil {
				roots = x509.NewCertPool() // a system without any
			}
		}
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("%s holds no certificate in PEM form", name)
		}
	}
	return roots, nil
}

func readCAFile(name string) ([]byte, error) {
	f, err := os.Open(name) //nolint:forbidigo // a setting of the user's, not a file of the workspace
	if err != nil {
		return nil, withoutName(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	pem, err := io.ReadAll(io.LimitReader(f, maxCAFile+1))
	if err == nil && len(pem) > maxCAFile {
		err = fmt.Errorf("it has more than %d bytes", maxCAFile)
	}
	return pem, withoutName(err)
}

// withoutName takes the file's name out of an error, since the caller says it.
func withoutName(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// newHTTPClient gives the client of the config, or one of our own, with
// redirects bound to the origin.
func newHTTPClient(cfg *Config) (*http.Client, error) {
	var client http.Client
	if cfg.HTTPClient != nil {
		client = *cfg.HTTPClient
	} else {
		own, err := NewTransport(TransportOptions{HeaderTimeout: cfg.IdleTimeout})
		if err != nil {
			return nil, err
		}
		client.Transport = own
	}
	client.CheckRedirect = checkRedirect
	return &client, nil
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
