package soul

// Trouble is why a turn failed that is neither the model's fault nor a bug of this
// program, for example that the program ended in which the soul ran.
type Trouble struct {
	Advice string // one or two sentences for the user: what happened and what to do
	Err    error  // the cause, for the log; may be nil
}

// Error gives the advice and the cause.
func (t *Trouble) Error() string {
	if t.Err == nil {
		return t.Advice
	}
	return t.Advice + " (" + t.Err.Error() + ")"
}

// Unwrap gives the cause.
func (t *Trouble) Unwrap() error { return t.Err }
