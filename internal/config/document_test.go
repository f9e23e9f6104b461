package config

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

// One broken file is one sentence, and the others count.
func TestBrokenFiles(t *testing.T) {
	const good = "[providers.p]\ntype = \"_echo\"\n[models.m]\nprovider = \"p\"\n"
	tests := []struct{ name, text, warn string }{
		{"good", good, ""},
		{"empty", "", ""},
		{"byte order mark", "\xef\xbb\xbf" + good, ""},
		{"carriage returns", strings.ReplaceAll(good, "\n", "\r\n"), ""},
		{"no end of line", strings.TrimSuffix(good, "\n"), ""},
		{"byte order mark and a mistake", "\xef\xbb\xbfx\r\n" + good, ":1:2: this is not valid TOML (expected '=' after key)"},
		{"no value", good + "x =\n", ":5:4: this is not valid TOML (unexpected character U+000A at start of value)"},
		{"twice", good + "[models.m]\n", ":5:2: this is not valid TOML (table m already exists)"},
		{"a key that is not closed", "api_key = \"hunter2", ":1:18: this is not valid TOML (unterminated basic string)"},
		{"a key without quotes", "api_key = hunter2", ":1:11: this is not valid TOML (unexpected character U+0068 'h' at start of value)"},
		{"a name on two lines", `"a\nb" = 1` + "\n" + `"a\nb" = 1`, ":2:1: this is not valid TOML (key a�b is already defined)"},
		{"UTF-16, little end first", "\xff\xfex\x00", ": the file is saved as UTF-16; save it as UTF-8"},
		{"UTF-16, big end first", "\xfe\xff\x00x", ": the file is saved as UTF-16; save it as UTF-8"},
		{"UTF-16 without a mark", "x\x00=\x00", ": the file holds zero bytes: it is no text, or it is saved as UTF-16; save it as UTF-8"},
		{"another encoding", "x = \"\xe9\"", ": the file is not UTF-8 text; save it as UTF-8"},
		{"as large as may be", "#" + strings.Repeat("x", maxFile-1), ""},
		{"too large", "#" + strings.Repeat("x", maxFile), ": the file has more than 1024 KiB"},
		{"too deep", "x = " + strings.Repeat("[", maxFile/2), ":1:10005: this is not valid TOML (arrays and inline tables are nested more than the maximum of 10000 levels deep)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, warnings := newHouse(t, map[string]string{
				own:     tt.text,
				kimiCLI: "[providers.q]\ntype = \"_echo\"\n[models.q]\nprovider = \"q\"\n",
			}, nil).load(Flags{})
			var want []string
			if tt.warn != "" {
				want = []string{"~/.kimi/acp.toml" + tt.warn + "; the file is not used."}
			}
			diff(t, "warnings", want, warnings)
			if _, ok := c.Model("q"); !ok {
				t.Error("the other file does not count")
			}
			if _, ok := c.Model("m"); ok != strings.Contains(tt.text, "_echo") && tt.warn == "" {
				t.Errorf("the model of this file: %v", ok)
			}
		})
	}
}

func TestBrokenJSON(t *testing.T) {
	tests := []struct{ text, warn string }{
		{"", ""},
		{" \n", ""},
		{"{}", ""},
		{"[]", ": this is not a JSON object"},
		{"{\n \"a\": 1,\n}", ":3:1: this is not valid JSON (invalid character '}' looking for beginning of object key string)"},
		{"{} x", ":1:4: this is not valid JSON (invalid character 'x' after top-level value)"},
		{"{", ":1:1: this is not valid JSON (unexpected end of JSON input)"},
	}
	for _, tt := range tests {
		t.Run(tt.text, func(t *testing.T) {
			_, warnings := newHouse(t, map[string]string{".kimi/config.json": tt.text}, nil).load(Flags{})
			var want []string
			if tt.warn != "" {
				want = []string{"~/.kimi/config.json" + tt.warn + "; the file is not used."}
			}
			diff(t, "warnings", want, warnings)
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	h := newHouse(t, map[string]string{own: "default_mode = \"plan\""}, nil)
	if err := os.Chmod(h.path(own), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(h.path(own)); err == nil {
		f.Close()
		t.Skip("this user may read everything")
	}
	_, warnings := h.load(Flags{})
	diff(t, "warnings", []string{"~/.kimi/acp.toml: the file cannot be read (permission denied); the file is not used."}, warnings)
}

// A link that leads to itself cannot be read by anybody.
func TestLinkInACircle(t *testing.T) {
	h := newHouse(t, map[string]string{kimiCLI: ""}, nil)
	if err := os.Symlink("acp.toml", h.path(own)); err != nil {
		t.Skip("no links here:", err)
	}
	_, warnings := h.load(Flags{})
	if len(warnings) != 1 || !strings.HasPrefix(warnings[0], "~/.kimi/acp.toml: the file cannot be read (") {
		t.Errorf("warnings %q", warnings)
	}
}

func TestKeysHaveTheirLines(t *testing.T) {
	keys := findKeys([]byte("a = 1\r\n\r\n# b\r\n[t.\"u.v\"]\nb.c = { d = 1, e = { f = '''\n''' } }\n[[x]]\ny = [ { z = 1 } ]\n[t.w]\n[t.u]\n" +
		"a1.a2.a3.a4.a5.a6.a7 = 1\n"))
	want := map[string]int{
		"a": 1, "t": 4, "t|u.v": 4, "t|u.v|b": 5, "t|u.v|b|c": 5, "t|u.v|b|c|d": 5, "t|u.v|b|c|e": 5,
		"x": 7, "x|y": 8, "x|y|[0]": 8, "t|w": 9, "t|u": 10, "t|u|a1": 11, "t|u|a1|a2": 11, "t|u|a1|a2|a3": 11,
	}
	got := map[string]int{}
	for path := range keys.offsets {
		got[strings.ReplaceAll(path, "\x00", "|")] = keys.line(strings.Split(path, "\x00"))
	}
	diff(t, "lines", want, got)
	if line := keys.line([]string{"b"}); line != 0 {
		t.Errorf("a key that is not there is on line %d", line)
	}
}

// Whatever a file holds, it is judged; what is said of it is short and on one line, and
// the models that come of it can be used.
func FuzzFile(f *testing.F) {
	for _, seed := range []string{
		"", "default_model = 1", "[models.m]\nprovider = \"p\"\nmodel = \"m\"\n[providers.p]\ntype = \"kimi\"\napi_key = \"hunter2hunter2\"",
		"providers = { p = { type = 'openai', base_url = 'x', custom_headers = { A = \"\\n\" } } }",
		"a.b.c.d.e.f.g = { h = 1 }\n[[models]]\n", "\xef\xbb\xbf\r\n[log]\r\ndebug = true", "loop_control.max_steps_per_turn = 1e3", "{\"a\": [1}", "\xff\xfea",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, path := range []string{"f.toml", "f.json"} {
			doc, err := parseDocument(path, data)
			if (doc == nil) == (err == nil) {
				t.Fatalf("document %v, error %v", doc, err)
			}
			if err != nil {
				if text := err.Error(); len(text) > 500 || strings.ContainsAny(text, "\r\n") {
					t.Errorf("error %q", text)
				}
				continue
			}
			d := &draft{config: Config{Loop: defaultLoop()}}
			d.file(doc, form{kimiCLI: true, own: true}, func(string) string { return "" })
			d.resolve()
			for _, w := range d.warnings.all() {
				text := w.String()
				if len(text) > 1500 || strings.ContainsAny(text, "\r\n") || !utf8.ValidString(text) {
					t.Errorf("warning %q", text)
				}
			}
			for _, m := range d.config.Models {
				if !isName(m.ID) || m.ContextSize < minContextSize || (defaultURL(m.Provider.Type) != "" && m.Provider.BaseURL == "") {
					t.Errorf("model %+v", m)
				}
			}
		}
	})
}
