package llm

// Remedy is what can be done about a kind of failure. There is one for each kind,
// and nobody above decides by the kind itself.
type Remedy struct {
	Name   string // of the kind, for machines
	Means  string // what happened, for people: a clause that goes on after "the provider"
	Advice string // what a person can do: a sentence

	Repeat  bool // the same request may succeed a moment later
	Slowly  bool // it is repeated after longer waits, since the provider has too much to do
	Switch  bool // the model of another provider may answer instead
	Compact bool // a shorter conversation may succeed
	Strip   bool // the conversation may succeed without its images
}

// Kinds lists all kinds but KindUnknown, in order.
func Kinds() []Kind {
	var all []Kind
	for k := KindUnknown + 1; k <= KindBadImage; k++ {
		all = append(all, k)
	}
	return all
}

// Remedy tells what can be done about a kind of failure.
func (k Kind) Remedy() Remedy {
	switch k {
	case KindAuth:
		return Remedy{Name: "auth", Means: "did not accept the key", Advice: "The API key was not accepted: check KIMI_API_KEY (or OPENAI_API_KEY), or api_key in acp.toml; `kimi-acp doctor` tells more."}
	case KindPermission:
		return Remedy{Name: "permission", Means: "does not allow this", Advice: "The API key may not do this: check what your account allows."}
	case KindBilling:
		return Remedy{Name: "billing", Means: "says that credit or quota are used up", Advice: "The account has no credit or quota left: top it up, or use another key.", Switch: true}
	case KindRateLimit:
		return Remedy{Name: "rate_limit", Means: "gets too many requests", Advice: "Too many requests: wait a little and send the prompt again.", Repeat: true, Slowly: true, Switch: true}
	case KindOverloaded:
		return Remedy{Name: "overloaded", Means: "is overloaded", Advice: "The provider is overloaded: send the prompt again in a while.", Repeat: true, Slowly: true, Switch: true}
	case KindServer:
		return Remedy{Name: "server", Means: "failed", Advice: "The provider failed: send the prompt again.", Repeat: true, Switch: true}
	case KindTimeout:
		return Remedy{Name: "timeout", Means: "did not answer in time", Advice: "The provider did not answer in time: send the prompt again.", Repeat: true, Switch: true}
	case KindConnection:
		return Remedy{Name: "connection", Means: "could not be reached", Advice: "The connection to the provider failed: check the network, the proxy and the base URL, then send the prompt again.", Repeat: true, Switch: true}
	case KindEmpty:
		return Remedy{Name: "empty", Means: "gave an empty answer", Advice: "The provider's answer was empty: send the prompt again.", Repeat: true, Switch: true}
	case KindMalformed:
		return Remedy{Name: "malformed", Means: "sent something that cannot be read", Advice: "The provider's answer could not be read: send the prompt again, or check that the base URL is that of a chat completions API.", Repeat: true, Switch: true}
	case KindStalled:
		return Remedy{Name: "stalled", Means: "went silent", Advice: "The provider went silent in the middle of its answer: send the prompt again.", Repeat: true, Switch: true}
	case KindOverflow:
		return Remedy{Name: "overflow", Means: "finds the conversation too long", Advice: "The conversation is too long for the model, also when it is compacted: ask for less at once, or use /clear.", Compact: true}
	case KindContentFilter:
		return Remedy{Name: "content_filter", Means: "refuses the content", Advice: "The provider refused the content: reword the prompt."}
	case KindUnknownModel:
		return Remedy{Name: "unknown_model", Means: "does not know the model", Advice: "The provider does not know the model: check KIMI_MODEL_NAME (or OPENAI_MODEL)."}
	case KindBadRequest:
		return Remedy{Name: "bad_request", Means: "refuses the request", Advice: "The provider refused the request: start a new session if it goes on doing so."}
	case KindBadImage:
		return Remedy{Name: "bad_image", Means: "cannot read an image", Advice: "The provider cannot read an image: attach a smaller one, as PNG or JPEG.", Strip: true}
	}
	return Remedy{Name: "unknown", Means: "failed", Advice: "The model call failed."}
}

// Repeatable tells whether the call that failed is worth repeating as it was.
func (e *Error) Repeatable() bool { return !e.Final && e.Kind.Remedy().Repeat }
