package session

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"kimi-acp/soul/llm"
)

// restoreText reads a history that is no file.
func restoreText(t testing.TB, text string, limits ...int) Restored {
	t.Helper()
	r := newRestorer(newVerifier(nil))
	if len(limits) == 2 {
		r.maxHistory, r.maxLine = int64(limits[0]), limits[1]
	}
	if err := r.read(strings.NewReader(text), int64(len(text))); err != nil {
		t.Fatal(err)
	}
	out, _, err := r.finish()
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRestoreDamaged(t *testing.T) {
	const hi = `{"role":"user","content":"hi"}` + "\n"
	tests := []struct {
		name, text string
		want       string // the messages
		report     string // a part of what is reported, empty: nothing is
	}{
		{"nothing", "", "", ""},
		{"blank lines", "\n \n" + hi + "\n", "u:hi", ""},
		{"carriage returns", "{\"role\":\"user\",\"content\":\"hi\"}\r\n", "u:hi", ""},
		{"no JSON", "nonsense\n" + hi, "u:hi", "line 1 of the history is left out"},
		{"no object", "[1]\n" + hi, "u:hi", "line 1"},
		{"no role", "{\"content\":\"x\"}\n" + hi, "u:hi", `"role" is missing`},
		{"a role of another type", "{\"role\":1,\"content\":\"x\"}\n" + hi, "u:hi", "line 1"},
		{"another role", "{\"role\":\"narrator\",\"content\":\"x\"}\n" + hi, "u:hi", `unknown role "narrator"`},
		{"another record", "{\"role\":\"_later\",\"content\":\"x\"}\n" + hi, "u:hi", `unknown role "_later"`},
		{"role not first", "{\"content\":\"hi\",\"role\":\"user\"}\n", "u:hi", ""},
		{"an escaped role", "{\"role\":\"us\\u0065r\",\"content\":\"hi\"}\n", "u:hi", ""},
		{"no content", "{\"role\":\"user\"}\n", "u:", ""},
		{"null content", "{\"role\":\"user\",\"content\":null}\n", "u:", ""},
		{"content of another type", "{\"role\":\"user\",\"content\":7}\n", "u:", "1 parts of the message were not understood"},
		{"another part", "{\"role\":\"user\",\"content\":[{\"type\":\"hologram\"},{\"type\":\"text\",\"text\":\"hi\"}]}\n", "u:hi", "1 parts"},
		{"another tool call", "{\"role\":\"assistant\",\"content\":\"x\",\"tool_calls\":[{\"type\":\"magic\",\"id\":\"a\"}]}\n", "a:x", "1 parts"},
		{"control characters", "{\"role\":\"user\",\"content\":\"a\tb\x01\"}\n", "u:a\tb\x01", ""},
		{"bytes that are no UTF-8", "{\"role\":\"user\",\"content\":\"a\xffb\"}\n", "u:a\ufffdb", ""},
		{"half a surrogate pair", `{"role":"user","content":"a\ud800b"}` + "\n", "u:a\ufffdb", ""},
		{"a record behind a torn one", `{"role":"user","conte{"role":"user","content":"hi"}` + "\n", "u:hi", "the first 21 bytes of the line are no record"},
		{"a record behind zeros", strings.Repeat("\x00", 512) + hi, "u:hi", "the first 512 bytes"},
		{"zeros in the middle", hi + strings.Repeat("\x00", 512) + "\n" + hi, "u:hi u:hi", "512 zero bytes"},
		{"a bad checkpoint", "{\"role\": \"_checkpoint\", \"id\": -1}\n" + hi, "u:hi", "checkpoint: its number"},
		{"a bad usage", "{\"role\": \"_usage\", \"token_count\": \"many\"}\n" + hi, "u:hi", "line 1"},
		{"a bad system prompt", "{\"role\": \"_system_prompt\"}\n" + hi, "u:hi", `"content" is missing`},
		{"a long reason", "{\"role\":\"" + strings.Repeat("é", 500) + "\"}\n" + hi, "u:hi", "…"},
		{"nested too deeply", strings.Repeat("[", 20000) + "\n" + hi, "u:hi", "line 1"},
		{"spaces", "{\"role\": \"user\", \"content\": \"hi\"}\n", "u:hi", ""},
		{"escapes", `{"role":"user","content":"a\"\\\u00e9\n"}` + "\n", "u:a\"\\é\n", ""},
		{"a bad escape", `{"role":"user","content":"a\x"}` + "\n" + hi, "u:hi", "line 1"},
		{"a tool message", `{"role":"assistant","content":"x","tool_calls":[{"id":"a\"","function":{"name":"f"}}]}` + "\n" + `{"role":"tool","content":"r","tool_call_id":"a\""}` + "\n", "a:x+a\" t:a\"r", ""},
		{"more keys", `{"role":"user","content":"hi","name":"me","partial":true}` + "\n", "u:hi", ""},
		{"a whole record without an end", strings.TrimSuffix(hi, "\n"), "u:hi", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := restoreText(t, tt.text)
			if texts(got.Messages) != tt.want {
				t.Errorf("messages %q, want %q", texts(got.Messages), tt.want)
			}
			report := strings.Join(got.Skipped, "\n")
			if (tt.report == "") != (report == "") || !strings.Contains(report, tt.report) {
				t.Errorf("reported %q, want %q", report, tt.report)
			}
		})
	}
}

func TestReportIsBounded(t *testing.T) {
	got := restoreText(t, strings.Repeat("x\n", 1000))
	if n := len(got.Skipped); n != maxNotes+1 || !strings.Contains(got.Skipped[maxNotes], "and 980 more") {
		t.Errorf("%d sentences, the last one %q", n, got.Skipped[n-1])
	}
}

// Of a history that is too large the end is read, and the system prompt.
func TestRestoreLarge(t *testing.T) {
	var b bytes.Buffer
	b.Write(appendSystem(nil, "be good"))
	for i := range 100 {
		fmt.Fprintf(&b, "{\"role\":\"user\",\"content\":\"%03d\"}\n", i)
	}
	got := restoreText(t, b.String(), 100, maxLine)
	if texts(got.Messages) != "u:097 u:098 u:099" || got.System != "be good" || !strings.Contains(got.Skipped[0], "first") {
		t.Errorf("messages %q, system %q, reported %q", texts(got.Messages), got.System, got.Skipped)
	}
	got = restoreText(t, `{"role":"user","content":"`+strings.Repeat("x", 70000)+"\"}\n{\"role\":\"user\",\"content\":\"hi\"}\n", maxHistory, 60000)
	if texts(got.Messages) != "u:hi" || !strings.Contains(got.Skipped[0], "70029 bytes, more than can be read") {
		t.Errorf("messages %q, reported %q", texts(got.Messages), got.Skipped)
	}
}

func TestRepair(t *testing.T) {
	tests := []struct {
		name     string
		messages []llm.Message
		counted  int
		want     string
		wantAt   int
		missing  int
		report   string
	}{
		{"whole", []llm.Message{user("q"), assistant("x", call("a", "{}")), result("a", "r"), assistant("y")}, 2, "u:q a:x+a t:ar a:y", 2, 0, ""},
		{"no result", []llm.Message{user("q"), assistant("x", call("a", "{}"), call("b", "{}"))}, 2, "u:q a:x+a+b t:a(interrupted) t:b(interrupted)", 4, 2, "2 tool calls had no result"},
		{"one of two", []llm.Message{assistant("x", call("a", "{}"), call("b", "{}")), result("b", "r")}, 0, "a:x+a+b t:a(interrupted) t:br", 0, 1, "1 tool calls"},
		{"in the wrong order", []llm.Message{assistant("x", call("a", "{}"), call("b", "{}")), result("b", "r"), result("a", "s")}, 3, "a:x+a+b t:as t:br", 3, 0, ""},
		{"a word in between", []llm.Message{assistant("x", call("a", "{}")), user("steer"), result("a", "r")}, 1, "a:x+a t:ar u:steer", 1, 0, ""},
		{"no result, and more behind", []llm.Message{assistant("x", call("a", "{}")), user("q"), assistant("y")}, 2, "a:x+a t:a(interrupted) u:q a:y", 3, 0, "1 tool calls"},
		{"an orphan", []llm.Message{user("q"), result("z", "r"), assistant("y")}, 3, "u:q a:y", 2, 0, "1 tool results answered no call"},
		{"an orphan behind a call", []llm.Message{assistant("x", call("a", "{}")), result("a", "r"), result("a", "s"), result("z", "t")}, 4, "a:x+a t:ar", 2, 0, "2 tool results"},
		{"the same id again", []llm.Message{assistant("x", call("a", "{}")), result("a", "r"), assistant("y", call("a", "{}")), result("a", "s")}, 4, "a:x+a t:ar a:y+a t:as", 4, 0, ""},
		{"twice in a message", []llm.Message{assistant("x", call("a", "{}"), call("a", "{}")), result("a", "r"), result("a", "s")}, 3, "a:x+a+a t:ar t:as", 3, 0, ""},
		{"arguments", []llm.Message{assistant("x", call("a", `{"b`)), result("a", "r")}, 2, "a:x+a t:ar", 2, 0, "1 tool calls had arguments"},
		{"arguments of another kind", []llm.Message{assistant("x", call("a", `[]`), call("b", "")), result("a", "r"), result("b", "s")}, 3, "a:x+a+b t:ar t:bs", 3, 0, "1 tool calls had arguments"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var n notes
			got := repair(tt.messages, tt.counted, &n)
			if texts(got.messages) != tt.want || got.counted != tt.wantAt || len(got.missing) != tt.missing {
				t.Errorf("%q, %d counted, %d missing; want %q, %d, %d", texts(got.messages), got.counted, len(got.missing), tt.want, tt.wantAt, tt.missing)
			}
			report := strings.Join(n.texts(), "\n")
			if (tt.report == "") != (report == "") || !strings.Contains(report, tt.report) {
				t.Errorf("reported %q, want %q", report, tt.report)
			}
			for _, m := range got.messages {
				for _, c := range m.ToolCalls {
					if *c.Arguments != "{}" {
						t.Errorf("arguments %q", *c.Arguments)
					}
				}
			}
		})
	}
}

// A history that ends with an open call is closed in the file too, before anything
// is written behind it, so that other programs can go on with it.
func TestMend(t *testing.T) {
	st := newStore(t)
	write(t, place(st, "x", contextName), `{"role":"user","content":"q"}`+"\n"+
		`{"role":"assistant","content":"x","tool_calls":[{"type":"function","id":"a","function":{"name":"Shell","arguments":"{}"}}]}`+"\n")
	s := open(t, st, "x")
	check(t, s.AppendMessages(user("again")))
	check(t, s.Close())
	s = open(t, st, "x")
	if got := texts(s.Restored().Messages); got != "u:q a:x+a t:a(interrupted) u:again" || skipped(s) != "" {
		t.Errorf("%q, reported %q", got, skipped(s))
	}
}

// Wherever the last write was torn, everything before it is there, the piece is kept
// beside it, and what is written next can be read.
func TestTornAnywhere(t *testing.T) {
	t.Parallel()
	whole := string(appendSystem(nil, "be good")) + `{"role":"user","content":"one"}` + "\n"
	last := `{"role":"assistant","content":"two — é"}` + "\n"
	for cut := range len(last) + 1 {
		st := newStore(t)
		path := place(st, "x", contextName)
		write(t, path, whole+last[:cut])
		s := open(t, st, "x")
		want, torn := "u:one", cut > 0 && cut < len(last)-1
		if cut >= len(last)-1 {
			want = "u:one a:two — é"
		}
		if got := texts(s.Restored().Messages); got != want {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
		if reported := strings.Contains(skipped(s), "torn line"); reported != torn {
			t.Errorf("cut at %d: reported %q", cut, skipped(s))
		}
		if torn {
			if got := read(t, filepath.Join(s.OwnDir(), "torn-1")); got != last[:cut] {
				t.Errorf("cut at %d: kept %q", cut, got)
			}
		}
		check(t, s.AppendMessages(user("three")))
		check(t, s.Close())
		s = open(t, st, "x")
		if got := texts(s.Restored().Messages); got != want+" u:three" || skipped(s) != "" {
			t.Errorf("cut at %d: %q, reported %q", cut, got, skipped(s))
		}
		check(t, s.Close())
		if !strings.HasPrefix(read(t, path), whole) {
			t.Errorf("cut at %d: what was whole was changed", cut)
		}
	}
}

// When there is no room for more torn pieces, they stay where they are.
func TestTornBound(t *testing.T) {
	st := newStore(t)
	write(t, place(st, "x", contextName), `{"role":"us`)
	for i := range maxTorn {
		write(t, filepath.Join(st.share, oursName, sessionsName, "x", fmt.Sprintf("torn-%d", i+1)), "")
	}
	s := open(t, st, "x")
	if !strings.Contains(skipped(s), "could not be moved away") {
		t.Errorf("reported %q", skipped(s))
	}
	check(t, s.AppendMessages(user("hi")))
	if got := read(t, place(st, "x", contextName)); got != "{\"role\":\"us\n{\"role\":\"user\",\"content\":\"hi\"}\n" {
		t.Errorf("the file holds %q", got)
	}
}

func TestSums(t *testing.T) {
	tests := []struct {
		name   string
		change func(t *testing.T, path string)
		report string
	}{
		{"unchanged", func(*testing.T, string) {}, ""},
		{"a bit flipped", func(t *testing.T, path string) { write(t, path, strings.Replace(read(t, path), "two", "tvo", 1)) }, "changed after it was written, the first time near line 2"},
		{"an end lost", func(t *testing.T, path string) { check(t, os.Truncate(path, 31)) }, "the last 72 bytes that were written"},
		{"more at the end", func(t *testing.T, path string) { appendTo(t, path, "{\"role\":\"user\",\"content\":\"more\"}\n") }, ""},
		{"more in front", func(t *testing.T, path string) { write(t, path, string(appendSystem(nil, "be good"))+read(t, path)) }, "changed"},
		{"a line without its end", func(t *testing.T, path string) { write(t, path, strings.Replace(read(t, path), "\n", " ", 1)) }, "changed"},
		{"begun anew by others", func(t *testing.T, path string) {
			check(t, os.Rename(path, filepath.Join(filepath.Dir(path), "context_1.jsonl")))
			write(t, path, "{\"role\":\"user\",\"content\":\"new\"}\n")
		}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := newStore(t)
			s := create(t, st, "x")
			check(t, s.AppendMessages(user("one")))
			check(t, s.AppendMessages(user("two"), assistant("three")))
			check(t, s.Close())
			tt.change(t, place(st, "x", contextName))
			s = open(t, st, "x")
			if (tt.report == "") != (skipped(s) == "") || !strings.Contains(skipped(s), tt.report) {
				t.Errorf("reported %q, want %q", skipped(s), tt.report)
			}
			check(t, s.AppendMessages(user("later")))
			check(t, s.Close())
			// Once is enough.
			s = open(t, st, "x")
			if strings.Contains(skipped(s), "written") {
				t.Errorf("reported again: %q", skipped(s))
			}
			if got := texts(s.Restored().Messages); !strings.HasSuffix(got, "u:later") {
				t.Errorf("messages %q", got)
			}
		})
	}
}

func TestParseSums(t *testing.T) {
	tests := []struct {
		name, text string
		extents    int
		whole      bool
	}{
		{"whole", "rotations 2\n0 10 0000000a\n10 5 ffffffff\n", 2, true},
		{"none yet", "rotations 2\n", 0, true},
		{"of another file", "rotations 1\n0 10 0000000a\n", 0, false},
		{"empty", "", 0, false},
		{"torn", "rotations 2\n0 10 0000000a\n10 5 ff", 1, false},
		{"out of order", "rotations 2\n10 10 0000000a\n5 5 0000000a\n", 1, false},
		{"negative", "rotations 2\n-1 10 0000000a\n", 0, false},
		{"no number", "rotations 2\n0 x 0000000a\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, whole := parseSums([]byte(tt.text), 2)
			if len(got) != tt.extents || whole != tt.whole {
				t.Errorf("%v, whole %v", got, whole)
			}
		})
	}
}

// Sums of what is not read are not missed.
func TestSumsOfLargeHistory(t *testing.T) {
	text := []byte(strings.Repeat("{\"role\":\"user\",\"content\":\"hi\"}\n", 4))
	sums := sumsHeader(0)
	for at := 0; at < len(text); at += len(text) / 2 {
		sums = appendSum(sums, int64(at), text[at:at+len(text)/2])
	}
	for _, broken := range []bool{false, true} {
		extents, _ := parseSums(sums, 0)
		if broken {
			extents[1].sum++
		}
		r := newRestorer(newVerifier(extents))
		r.maxHistory = int64(len(text)/2 + 5)
		check(t, r.read(bytes.NewReader(text), int64(len(text))))
		out, _, err := r.finish()
		check(t, err)
		if report := strings.Join(out.Skipped, " "); strings.Contains(report, "changed") != broken || len(out.Messages) != 2 {
			t.Errorf("broken %v: reported %q, %d messages", broken, report, len(out.Messages))
		}
	}
}
