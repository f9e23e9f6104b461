package acp_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// Section J of the checklist: the editor's files. That a method is called only
// where it is offered, with absolute paths in a session that is open, is held
// against every request by the editor's side.

// onlyText is the file's text, or nothing where there is none.
func onlyText(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// Each of the two methods counts by itself, and what the editor does not do is
// done on disk. (Peers, number 14.)
func Test116To117EachMethodByItself(t *testing.T) {
	for name, k := range map[string]acptest.Capabilities{
		"neither": {}, "reads": {ReadTextFile: true}, "writes": {WriteTextFile: true}, "both": both,
	} {
		t.Run(name, func(t *testing.T) {
			var heard listener
			c := stage{scripts: []string{readFile("r", "a.txt"), editFile("e", "a.txt", "two", "2"), writeFile("w", "sub/b.txt", "fresh\n"), "text: done"}, newSoul: heard.soul}.serve(t)
			c.Initialize(k)
			s := c.NewSession(t.TempDir())
			path := put(t, s.Cwd, "a.txt", "one\ntwo\n")
			turn := s.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" {
				t.Errorf("ended with %s", got)
			}
			for _, call := range turn.Calls() {
				if call.Status != "completed" {
					t.Errorf("%s: %s", call.ID, call.Text())
				}
			}
			if got, new := onlyText(t, path), onlyText(t, filepath.Join(s.Cwd, "sub", "b.txt")); got != "one\n2\n" || new != "fresh\n" {
				t.Errorf("the files hold %q and %q", got, new)
			}
			// One that writes and does not read could hold what nobody sees of a file that
			// is there, so it is given the new one alone.
			if got := len(c.Writes()); got != map[string]int{"writes": 1, "both": 2}[name] {
				t.Errorf("%d writes through the editor", got)
			}
			for _, w := range c.Writes() {
				if w.Session != s.ID {
					t.Errorf("a write for the session %q", w.Session)
				}
			}
			if got := len(asked(t, c, "fs/read_text_file")) > 0; got != k.ReadTextFile {
				t.Errorf("read through the editor: %v", got)
			}
			if !strings.Contains(heard.last(), "2\ttwo") {
				t.Errorf("the model did not read the file: %s", heard.last())
			}
		})
	}
}

func Test118WhatTheUserSeesWins(t *testing.T) {
	var heard listener
	c := stage{scripts: []string{readFile("r", "a.txt"), editFile("e", "a.txt", "unsaved", "edited"), "text: done"}, newSoul: heard.soul}.serve(t)
	c.Initialize(both)
	s := c.NewSession(t.TempDir())
	path := put(t, s.Cwd, "a.txt", "on disk\n")
	c.Buffers.Set(path, "on disk and unsaved\n")
	turn := s.Prompt(acptest.Text("go"))
	turn.Wait()
	if !strings.Contains(heard.last(), "on disk and unsaved") || !strings.Contains(heard.last(), "not saved") {
		t.Errorf("the model was told %s", heard.last())
	}
	if got, _ := c.Buffers.Text(path); got != "on disk and edited\n" || onlyText(t, path) != got {
		t.Errorf("the buffer holds %q, the file %q", got, onlyText(t, path))
	}
	if diff := turn.Calls()[1].Diffs()[0]; *diff.OldText != "on disk and unsaved\n" {
		t.Errorf("the diff begins with %q", *diff.OldText)
	}
}

// Answers of an editor that hold no text fail the call, never the turn, and
// nothing is written; what cannot be read may still be made.
func Test119AnswersToReads(t *testing.T) {
	for _, w := range []struct {
		answer      string
		there, none string // the statuses of a read and a write, of a file that is there and of one that is not
	}{
		{`"result":{"content":"from the editor\n"}`, "completed completed", "completed completed"},
		{`"result":{"content":""}`, "completed completed", "failed completed"}, // editors open what is missing as empty
		{`"result":null`, "failed failed", "failed completed"},
		{`"result":{}`, "failed failed", "failed completed"},
		{`"result":{"content":null}`, "failed failed", "failed completed"},
		{`"result":{"content":5}`, "failed failed", "failed completed"},
		{`"result":"text"`, "failed failed", "failed completed"},
		{`"error":{"code":-32603,"message":"it is locked"}`, "failed failed", "failed completed"},
		{`"error":{"code":-32002,"message":"not found"}`, "failed failed", "failed completed"},
	} {
		t.Run(w.answer, func(t *testing.T) {
			for name, want := range map[string]string{"there.txt": w.there, "none.txt": w.none} {
				c := stage{scripts: []string{readFile("r", name), writeFile("w", name, "from the model\n"), "text: done"}}.serve(t)
				var written string
				c.Handle("fs/read_text_file", func(context.Context, json.RawMessage) (any, error) {
					if written != "" { // the answers to the reading back
						return map[string]any{"content": written}, nil
					}
					rawAnswer(t, c, "fs/read_text_file", w.answer)
					return nil, acptest.ErrSilent
				})
				c.OnWrite = func(_, text string) (string, error) {
					written = text
					return text, nil
				}
				c.Initialize(both)
				s := c.NewSession(t.TempDir())
				path := put(t, s.Cwd, "there.txt", "on disk\n")
				turn := s.Prompt(acptest.Text("go"))
				if got := turn.Wait(); got != "end_turn" {
					t.Errorf("%s: ended with %s", name, got)
				}
				calls := turn.Calls()
				if got := calls[0].Status + " " + calls[1].Status; got != want {
					t.Errorf("%s: %s, want %s (%s | %s)", name, got, want, calls[0].Text(), calls[1].Text())
				}
				if name == "there.txt" && calls[1].Status == "failed" && onlyText(t, path) != "on disk\n" {
					t.Errorf("%s holds %q", name, onlyText(t, path))
				}
			}
		})
	}
}

// The schema has an object for an answer, the documentation null; both, and
// anything else that is no error, mean yes.
func Test119AnswersToWrites(t *testing.T) {
	for answer, want := range map[string]string{
		`"result":{}`: "completed", `"result":null`: "completed", `"result":{"ok":true}`: "completed", `"result":"done"`: "completed",
		`"error":{"code":-32603,"message":"the buffer is read-only"}`: "failed",
		`"error":{"code":-32601,"message":"Method not found"}`:        "failed",
	} {
		t.Run(answer, func(t *testing.T) {
			var heard listener
			c := stage{scripts: []string{editFile("e", "a.txt", "one", "two"), "text: done"}, newSoul: heard.soul}.serve(t)
			c.Handle("fs/write_text_file", func(_ context.Context, raw json.RawMessage) (any, error) {
				var p struct{ Path, Content string }
				if err := json.Unmarshal(raw, &p); err != nil {
					return nil, err
				}
				if strings.Contains(answer, "result") {
					if err := os.WriteFile(p.Path, []byte(p.Content), 0o666); err != nil {
						return nil, err
					}
				}
				rawAnswer(t, c, "fs/write_text_file", answer)
				return nil, acptest.ErrSilent
			})
			c.Initialize(both)
			s := c.NewSession(t.TempDir())
			path := put(t, s.Cwd, "a.txt", "one\n")
			turn := s.Prompt(acptest.Text("go"))
			if got := turn.Wait(); got != "end_turn" || turn.Text() != "done" {
				t.Errorf("ended with %s, said %q", got, turn.Text())
			}
			if got := turn.Calls()[0].Status; got != want {
				t.Errorf("the call is %s, want %s", got, want)
			}
			if text := map[string]string{"completed": "two\n", "failed": "one\n"}[want]; onlyText(t, path) != text {
				t.Errorf("the file holds %q, want %q", onlyText(t, path), text)
			}
			if want == "failed" && strings.Contains(answer, "read-only") && !strings.Contains(heard.last(), "read-only") {
				t.Errorf("the model was not told why: %s", heard.last())
			}
		})
	}
}
