package config

import (
	"regexp"
	"slices"
	"strings"
	"time"
)

// Hook is a command that is told of an event, and may be against it.
type Hook struct {
	Event      string // one of HookEvents
	Command    string // a line for the shell
	Matcher    string // a regular expression; empty: any target
	Timeout    time.Duration
	FailClosed bool // it blocks when it fails
}

// HookEvents are the events that hooks may be for, in kimi-cli's order.
func HookEvents() []string {
	return []string{
		"PreToolUse", "PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "StopFailure", "SessionStart",
		"SessionEnd", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "Notification",
	}
}

const (
	maxHooks       = 100 // of all files together
	maxHookTimeout = 600 // seconds
)

// readHooks adds the hooks of a file. One that cannot be read is left out, with a
// warning; a matcher that cannot, of one that fails closed, matches everything.
func readHooks(t *table, to *[]Hook) {
	elements, ok := t.elements("hooks")
	if !ok {
		t.warn("hooks", "is not a list of tables; it is not used")
		return
	}
	for i, element := range elements {
		path := elementPath(t.keyPath("hooks"), i)
		values, ok := element.(map[string]any)
		h := &table{doc: t.doc, path: path, values: values, asked: map[string]bool{}, warnings: t.warnings, quiet: t.quiet}
		if !ok {
			t.warn("hooks", "has an element that is not a table; that one is not used")
			continue
		}
		if len(*to) >= maxHooks {
			t.warn("hooks", "are more than %d; the rest is left out", maxHooks)
			return
		}
		if hook, ok := readHook(h); ok {
			*to = append(*to, hook)
		}
		h.unknown()
	}
}

func readHook(t *table) (h Hook, ok bool) {
	seconds := 30
	t.number("timeout", 1, maxHookTimeout, &seconds)
	h.Timeout = time.Duration(seconds) * time.Second
	if closed := t.flag("fail_closed"); closed != nil {
		h.FailClosed = *closed
	}
	h.Event, _ = t.text("event")
	h.Command, _ = t.text("command")
	h.Matcher, _ = t.text("matcher")
	switch _, err := regexp.Compile(h.Matcher); {
	case !slices.Contains(HookEvents(), h.Event):
		t.warn("event", "is none of %s; the hook is left out", strings.Join(HookEvents(), ", "))
		return h, false
	case strings.TrimSpace(h.Command) == "":
		t.warn("command", "is missing; the hook is left out")
		return h, false
	case err != nil && h.FailClosed:
		t.warn("matcher", "is no regular expression; the hook is run for everything, since it fails closed")
		h.Matcher = ""
	case err != nil:
		t.warn("matcher", "is no regular expression; the hook is left out")
		return h, false
	}
	return h, true
}
