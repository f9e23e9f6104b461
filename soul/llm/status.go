package llm

import "net/http"

// statusTimedOut is Cloudflare's status for an origin that did not answer in time.
const statusTimedOut = 524

// statusOverloaded is the status that several vendors use for "no capacity".
const statusOverloaded = 529

// KindOfStatus tells what an HTTP status says about a failed model call when
// nothing else is known of it. Statuses below 400 are KindUnknown.
func KindOfStatus(status int) Kind {
	switch status {
	case http.StatusUnauthorized:
		return KindAuth
	case http.StatusPaymentRequired:
		return KindBilling
	case http.StatusForbidden:
		return KindPermission
	case http.StatusNotFound:
		return KindUnknownModel
	case http.StatusRequestTimeout, http.StatusGatewayTimeout, statusTimedOut:
		return KindTimeout
	case http.StatusRequestEntityTooLarge:
		return KindOverflow
	case http.StatusTooManyRequests:
		return KindRateLimit
	case http.StatusServiceUnavailable, statusOverloaded:
		return KindOverloaded
	}
	switch {
	case status >= 500:
		return KindServer
	case status >= 400:
		return KindBadRequest
	default:
		return KindUnknown
	}
}
