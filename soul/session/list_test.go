package session

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// said makes a session in which something was said at an hour of the day.
func said(t *testing.T, st *Store, dir, id string, hour int) {
	t.Helper()
	s, err := st.Create(dir, id)
	check(t, err)
	check(t, s.AppendMessages(user("hi")))
	check(t, s.Close())
	at := time.Date(2026, 1, 2, hour, 0, 0, 123456789, time.UTC)
	check(t, os.Chtimes(filepath.Join(st.share, sessionsName, folderOf(dir), id, contextName), at, at))
}

func ids(p Page) string {
	var all []string
	for _, s := range p.Sessions {
		all = append(all, s.ID)
	}
	return strings.Join(all, " ")
}

func TestList(t *testing.T) {
	st := newStore(t)
	page, err := st.List(ListOptions{})
	check(t, err)
	if len(page.Sessions) != 0 || page.Next != "" {
		t.Errorf("without a share dir: %+v", page)
	}
	said(t, st, workDir, "one", 1)
	said(t, st, workDir, "three", 3)
	said(t, st, "/other", "two", 2)
	check(t, create(t, st, "empty").Close())
	s := create(t, st, "titled")
	check(t, s.SetTitle("mine"))
	check(t, s.Close())
	at := time.Date(2026, 1, 2, 4, 0, 0, 0, time.UTC)
	check(t, os.Chtimes(place(st, "titled", contextName), at, at))
	write(t, filepath.Join(st.share, sessionsName, "ssh_"+folderOf(workDir), "far", contextName), "{\"role\":\"user\"}\n")
	write(t, filepath.Join(st.share, sessionsName, folderOf("/nobody knows"), "lost", contextName), "{\"role\":\"user\"}\n")
	write(t, place(st, "no.id", contextName), "{\"role\":\"user\"}\n")
	write(t, place(st, "no-history", wireName), "")

	before := snapshot(t, st.share)
	page, err = st.List(ListOptions{})
	check(t, err)
	if got := ids(page); got != "titled three two one" || page.Next != "" {
		t.Errorf("all: %q, next %q", got, page.Next)
	}
	if got := page.Sessions[0]; got.Title != "mine" || got.WorkDir != workDir || !got.UpdatedAt.Equal(at) {
		t.Errorf("the first is %+v", got)
	}
	if got := page.Sessions[2]; got.Title != untitled || got.WorkDir != "/other" {
		t.Errorf("the third is %+v", got)
	}
	page, err = st.List(ListOptions{WorkDir: workDir + "/"})
	check(t, err)
	if got := ids(page); got != "titled three one" {
		t.Errorf("of one work dir: %q", got)
	}
	if after := snapshot(t, st.share); after != before {
		t.Errorf("listing changed something:\n%s\nwas\n%s", after, before)
	}
	if _, err := st.List(ListOptions{WorkDir: "relative"}); err == nil {
		t.Error("a relative work dir was taken")
	}
}

func TestListPages(t *testing.T) {
	st := newStore(t)
	for i := range 7 {
		said(t, st, workDir, fmt.Sprint("s", i), i/2) // pairs of the same time
	}
	var got []string
	cursor := ""
	for range 10 {
		page, err := st.List(ListOptions{Cursor: cursor, Limit: 3})
		check(t, err)
		got = append(got, ids(page))
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if all := strings.Join(got, " | "); all != "s6 s4 s5 | s2 s3 s0 | s1" {
		t.Errorf("the pages are %q", all)
	}
	page, err := st.List(ListOptions{Limit: 7})
	check(t, err)
	if page.Next != "" {
		t.Error("a page that is just full has another one behind it")
	}
}

func TestCursor(t *testing.T) {
	st := newStore(t)
	encoded := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for _, cursor := range []string{"garbage", "!", encoded("1 2 3"), encoded("2 1 x " + folderOf("/")), encoded("1 x y " + folderOf("/")), encoded("1 1 .. " + folderOf("/")), encoded("1 1 x ../etc")} {
		if _, err := st.List(ListOptions{Cursor: cursor}); !errors.Is(err, ErrCursor) {
			t.Errorf("cursor %q gave %v", cursor, err)
		}
	}
	c := candidate{dir: folderOf("/"), id: "x", updated: time.Unix(1, 2)}
	got, err := parseCursor(c.cursor())
	check(t, err)
	if got.compare(c) != 0 {
		t.Errorf("%+v became %+v", c, *got)
	}
}

func TestEmptyAndTitles(t *testing.T) {
	turn := func(input string) string {
		return `{"timestamp": 1.5, "message": {"type": "TurnBegin", "payload": {"user_input": ` + input + "}}}\n"
	}
	tests := []struct {
		name, context, wire, state string
		title                      string // empty: it is an empty session
	}{
		{"nothing", "", "", "", ""},
		{"a system prompt alone", string(appendSystem(nil, "x")) + string(appendCheckpoint(nil, 0)), `{"type": "metadata", "protocol_version": "1.10"}` + "\n", "", ""},
		{"a message", "{\"role\":\"user\",\"content\":\"x\"}\n", "", "", untitled},
		{"a turn", "", turn(`"what\nis this"`), "", "what is this"},
		{"a turn of parts", "", turn(`[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"b"}]`), "", "a b"},
		{"a turn without text", "", turn(`[]`), "", untitled},
		{"a turn behind damage", "", "torn\n" + turn(`"x"`), "", "x"},
		{"a title", "", "", `{"custom_title":"t"}`, "t"},
		{"a damaged state", "", "", `{`, untitled},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStore(t)
			write(t, filepath.Join(st.share, kimiName), `{"work_dirs":[{"path":"`+workDir+`","kaos":"local","last_session_id":null}]}`)
			write(t, place(st, "x", contextName), tt.context)
			write(t, place(st, "x", wireName), tt.wire)
			if tt.state != "" {
				write(t, place(st, "x", stateName), tt.state)
			}
			page, err := st.List(ListOptions{})
			check(t, err)
			title := ""
			if len(page.Sessions) == 1 {
				title = page.Sessions[0].Title
			}
			if title != tt.title {
				t.Errorf("listed as %q, want %q", title, tt.title)
			}
		})
	}
}
