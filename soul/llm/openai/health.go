package openai

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/http"

	"kimi-acp/soul/llm"
)

var (
	_ llm.Guarded     = (*Provider)(nil)
	_ llm.Reconnecter = (*Provider)(nil)
)

// Circuit gives Config.Circuit.
func (p *Provider) Circuit() *llm.Circuit { return p.cfg.Circuit }

// Reconnect closes the connections that no call uses, those of Config.HTTPClient
// too: after a failure of the network the kept ones are likely dead.
func (p *Provider) Reconnect() { p.http.CloseIdleConnections() }

// untrusted tells whether a connection failed for what the other side is, which no
// repetition changes: its certificate, or that it speaks no TLS.
func untrusted(err error) bool {
	var (
		verify *tls.CertificateVerificationError
		record tls.RecordHeaderError
		alert  tls.AlertError
		host   x509.HostnameError
		author x509.UnknownAuthorityError
		cert   x509.CertificateInvalidError
	)
	return errors.Is(err, http.ErrSchemeMismatch) || errors.As(err, &verify) || errors.As(err, &record) || errors.As(err, &alert) ||
		errors.As(err, &host) || errors.As(err, &author) || errors.As(err, &cert)
}
