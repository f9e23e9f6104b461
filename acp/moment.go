package acp

import (
	"encoding/json"
	"slices"
	"sync"
	"time"

	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/jsonrpc"
	"kimi-acp/internal/policy"
	"kimi-acp/soul"
	"kimi-acp/soul/tool"
)

// maxMentions bounds the mentions of one prompt that are looked into.
const maxMentions = 64

// openMoment makes what can be asked about the session's programs, and what words the
// moment around its prompts.
func (s *session) openMoment(guard *tool.Guard, disk fileop.Store) error {
	guard = s.rules(guard)
	spec := MomentSpec{
		SessionID: s.id, Roots: s.roots, Files: s.journal.Operator(), Disk: disk,
		Readable: func(path string) bool { return readable(guard, path) },
		Trusted:  guard.Trusted,
	}
	s.openCode(spec)
	if s.agent.opts.Moment == nil {
		return nil
	}
	spec.Code = s.code.Providers
	m, err := s.agent.opts.Moment(spec)
	if err != nil {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternal, Message: "The session could not be made: " + err.Error()}
	}
	if m != nil {
		s.moment = m
		s.closers = append(s.closers, m.Close)
	}
	return nil
}

// rules are those of a guard; without one, the rules about files that hold for everybody.
func (s *session) rules(guard *tool.Guard) *tool.Guard {
	if guard != nil {
		return guard
	}
	return &tool.Guard{
		Engine:  sync.OnceValues(func() (*policy.Engine, error) { return policy.New(policy.Options{Sets: []string{}}) }),
		Context: policy.Context{Roots: s.roots, Look: facts.Look},
	}
}

// readable tells whether the rules let the text of a file be read without asking.
func readable(guard *tool.Guard, path string) bool {
	engine, err := guard.Engine()
	return err == nil && engine.Read(facts.Look(path), guard.Context).Decision == policy.Allow
}

// warm gathers the first context beside everything else, once the editor has its
// session.
func (s *session) warm() {
	if s.moment != nil {
		s.agent.turns.Go(func() { s.moment.Warm(s.agent.ctx) })
	}
}

// tools are the built-in ones, and what asks for the rest of the context where there
// is one.
func (s *session) tools() []tool.Tool {
	all := tool.Builtin()
	if s.moment != nil {
		all = append(all, tool.NewEditorContext(s.moment))
	}
	if s.agent.settings().DMail {
		s.mailbox = &tool.Mailbox{}
		all = append(all, tool.NewSendDMail(s.mailbox, true))
	}
	if types := s.spec.Agents.Types; len(types) > 0 {
		all = append(all, tool.NewAgent(types), tool.NewRunPlan(types))
	}
	all = append(all, s.code.tools()...)
	if has := s.spec.Agents.Has; has != nil {
		all = slices.DeleteFunc(all, func(t tool.Tool) bool { return t.Spec().Name != tool.SendDMailName && !has(t.Spec().Name) })
	}
	return all
}

// contextOption lets the user choose how often the context is told.
func (s *session) contextOption() configOption {
	o := configOption{ID: optionContext, Name: "Editor context", Description: "Whether the model is told what you look at and how git stands", Type: "select", CurrentValue: string(s.moment.Use())}
	o.Options = []optionChoice{
		{string(contextprovider.UseAuto), "Automatic", "Tell what is new"},
		{string(contextprovider.UseAlways), "Always", "Tell everything with each prompt"},
		{string(contextprovider.UseOff), "Off", "Tell nothing"},
	}
	return o
}

// look takes what a prompt tells of the editor beside its words.
func (s *session) look(in soul.Input, blocks json.RawMessage) soul.Input {
	in.Mentions = contextprovider.WithText(in.Mentions, in.Text)
	in.Mentions = in.Mentions[:min(len(in.Mentions), maxMentions)]
	if s.moment == nil {
		return in
	}
	var list []json.RawMessage
	if json.Unmarshal(blocks, &list) != nil {
		return in
	}
	for _, raw := range list {
		b, _ := object(raw)
		r := b.sub("resource")
		m := contextprovider.ParseMention(r.optionalText("uri"))
		if e, ok := contextprovider.EditorStateIn(m, r.optionalText("text")); ok {
			s.moment.Editor(func(now *contextprovider.EditorState) {
				now.Editor, now.Active, now.Cursor, now.Selection, now.Visible, now.Seen = e.Editor, e.Active, e.Cursor, e.Selection, e.Visible, time.Now()
			})
		}
	}
	return in
}

// mentionOf gives what a block of a prompt refers to.
func mentionOf(kind string, b members) (contextprovider.Mention, bool) {
	uri := b.optionalText("uri")
	if kind == "resource" {
		uri = b.sub("resource").optionalText("uri")
	}
	if uri == "" || kind != "resource" && kind != "resource_link" {
		return contextprovider.Mention{}, false
	}
	m := contextprovider.ParseMention(uri)
	if kind == "resource" {
		// Some editors put the state of the editor where the text of the file belongs.
		_, state := contextprovider.EditorStateIn(m, b.sub("resource").optionalText("text"))
		m.Embedded = !state
	}
	return m, m.Kind != contextprovider.MentionOther
}
