package acp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"kimi-acp/internal/acptest"
)

// TestLargeChangeAsInTheDocs: the question about a change in 200 places is at most 64
// KiB long, and docs/security.md shows it as it is, with its texts shortened.
func TestLargeChangeAsInTheDocs(t *testing.T) {
	var old, text strings.Builder
	for i := range 4000 {
		line := fmt.Sprintf("call(%d, oldName, %q)\n", i, strings.Repeat("argument ", 9))
		old.WriteString(line)
		if i%20 == 10 {
			line = strings.ReplaceAll(line, "oldName", "newName")
		}
		text.WriteString(line)
	}
	c := stage{scripts: []string{writeFile("w", "a.txt", text.String()), "text: done"}}.serve(t)
	c.Initialize(acptest.Capabilities{})
	dir := t.TempDir()
	put(t, dir, "a.txt", old.String())
	c.NewSession(dir).Prompt(acptest.Text("go")).Wait()
	requests := asked(t, c, "session/request_permission")
	if len(requests) != 1 || len(requests[0]) > 64<<10-200 { // what the envelope takes
		t.Fatalf("%d questions, the first of %d bytes", len(requests), len(requests[0]))
	}
	t.Logf("a question of %d bytes, about a file of %d", len(requests[0]), old.Len())
	page, err := os.ReadFile(filepath.Join("..", "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := shortened(t, requests[0], dir); !strings.Contains(string(page), "```json\n"+want+"\n```\n") {
		t.Errorf("docs/security.md does not show\n%s", want)
	}
}

var sessionID = regexp.MustCompile(`"sessionId":"[^"]*"`)

// shortened lays a question about a change out for people: of its texts it leaves the
// first two places, of each line the beginning.
func shortened(t *testing.T, request, dir string) string {
	t.Helper()
	request = sessionID.ReplaceAllString(strings.ReplaceAll(request, dir, "/w"), `"sessionId":"…"`)
	texts := regexp.MustCompile(`"(?:oldText|newText)":"(?:[^"\\]|\\.)*"`)
	request = texts.ReplaceAllStringFunc(request, func(member string) string {
		name, raw, _ := strings.Cut(member, ":")
		var text string
		if err := json.Unmarshal([]byte(raw), &text); err != nil {
			t.Fatal(err)
		}
		lines := strings.SplitN(text, "\n", 5)
		for i, line := range lines[:4] {
			if len(line) > 24 {
				lines[i] = line[:24] + "…"
			}
		}
		lines[4] = "…"
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(strings.Join(lines, "\n")); err != nil {
			t.Fatal(err)
		}
		return name + ":" + strings.TrimSpace(b.String())
	})
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(request), "", " "); err != nil {
		t.Fatalf("%v: %s", err, request)
	}
	return b.String()
}
