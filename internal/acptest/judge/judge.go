// Package judge holds every line of an ACP v1 connection, of both peers, against
// the protocol: the schema of each method, and the rules that a schema cannot
// say (order of messages, capabilities, ids, paths, lifecycles).
//
// A Judge is fed lines and answers with what is wrong with each. It must not do
// I/O, start goroutines, or know who drives the connection; it takes no view on
// what an agent says, only on how.
package judge

import (
	"fmt"
	"slices"
	"strings"

	"kimi-acp/internal/acptest/schema"
)

// Judge follows one connection. It is not safe for concurrent use: lines are
// judged in the order in which they were written or read.
type Judge struct {
	set *schema.Set
	bad []string // found in the line at hand

	fromClient requests // open requests of the client
	fromAgent  requests // open requests of the agent
	strays     int      // misused lines that may be answered with a null id

	initialized bool
	client      gates          // what the client offered
	agent       map[string]any // agentCapabilities

	sessions     map[string]*session
	elicitations map[string]bool // ids seen
}

// New makes a judge that goes by the given schema.
func New(set *schema.Set) *Judge {
	return &Judge{
		set:          set,
		fromClient:   requests{},
		fromAgent:    requests{},
		sessions:     map[string]*session{},
		elicitations: map[string]bool{},
	}
}

// request is an open request.
type request struct {
	method string
	params map[string]any
	misuse bool     // sent in order to be refused: its answer is held to form only
	turn   *session // the session whose turn this prompt opened
}

// session is what the judge knows of one session.
type session struct {
	open    bool   // its session/new, load or resume has been answered
	opening string // the method that is opening it now
	prompts int    // prompts without an answer
	stopped bool   // a cancel was sent in the turn that runs

	calls     map[string]*call
	terminals map[string]bool // true: not released
	modes     []string        // nil: none were published
}

func newSession() *session {
	return &session{calls: map[string]*call{}, terminals: map[string]bool{}}
}

// requests are open requests by raw id. An id stands twice when a client misuses
// one that is in flight.
type requests map[string][]*request

func (r requests) add(id string, q *request) { r[id] = append(r[id], q) }

// take removes the request that an answer belongs to, nil if there is none. Of
// two with one id the later is the one that gets an error.
func (r requests) take(id string, failed bool) *request {
	open := r[id]
	if len(open) == 0 {
		return nil
	}
	i := 0
	if failed {
		i = len(open) - 1
	}
	q := open[i]
	if open = slices.Delete(open, i, i+1); len(open) == 0 {
		delete(r, id)
	} else {
		r[id] = open
	}
	return q
}

// Agent judges a line that the agent wrote, without its newline.
func (j *Judge) Agent(line []byte) []string {
	j.bad = nil
	m, err := parse(line, j.report)
	switch {
	case err != nil:
		j.report("%v", err)
	case !m.hasMethod:
		j.agentAnswer(m)
	default:
		if !j.initialized {
			j.report("%s before the answer to initialize", m.method)
		}
		j.agentCall(m)
	}
	return j.bad
}

// Client judges a line that the client writes, without its newline, before it is
// written.
func (j *Judge) Client(line []byte) []string {
	j.bad = nil
	m, err := parse(line, j.report)
	switch {
	case err != nil:
		j.report("%v", err)
	case !m.hasMethod:
		j.clientAnswer(m)
	default:
		q := &request{method: m.method, params: object(m.params)}
		if m.isRequest() {
			if len(j.fromClient[m.id]) > 0 {
				j.report("request id %s is in use", m.id)
			}
			j.fromClient.add(m.id, q)
		}
		j.clientCall(m, q)
	}
	return j.bad
}

// Misuse takes note of a line that the client writes although it is wrong, to see
// what the agent makes of it. Nothing is held against the line itself.
func (j *Judge) Misuse(line []byte) {
	j.bad = nil
	m, err := parse(line, j.report)
	defer func() { j.bad = nil }()
	switch {
	case m == nil:
		j.strays++
	case err != nil: // e.g. a request without a method: answered with its id or with null
		j.strays++
		if m.id != "" {
			j.fromClient.add(m.id, &request{misuse: true})
		}
	case !m.hasMethod:
		j.fromAgent.take(m.id, m.hasError)
	default:
		q := &request{method: m.method, params: object(m.params), misuse: true}
		if m.isRequest() {
			j.fromClient.add(m.id, q)
		}
		if len(j.bad) > 0 { // e.g. jsonrpc is missing
			j.strays++
			return
		}
		j.clientCall(m, q)
	}
}

func (j *Judge) report(format string, args ...any) {
	j.bad = append(j.bad, fmt.Sprintf(format, args...))
}

func (j *Judge) check(definition string, value any) {
	j.checkIn(j.set, definition, value)
}

func (j *Judge) checkIn(set *schema.Set, definition string, value any) {
	if err := set.Check(definition, value); err != nil {
		j.report("%v", err)
	}
}

// callForm checks the params of a request or notification to the peer that serves
// methods of that side.
func (j *Judge) callForm(m *message, served schema.Side) {
	if strings.HasPrefix(m.method, "_") {
		return
	}
	method, set, ok := j.method(m.method)
	if !ok || (method.Side != served && method.Side != schema.Protocol) {
		j.report("the %s serves no method %q", served, m.method)
		return
	}
	definition := method.Notification
	if m.isRequest() {
		definition = method.Request
	}
	if definition == "" {
		j.report("%s sent as a %s", m.method, map[bool]string{true: "request", false: "notification"}[m.isRequest()])
		return
	}
	params := m.params
	if params == nil { // methods without required params may omit them
		params = map[string]any{}
	}
	j.checkIn(set, definition, params)
}
