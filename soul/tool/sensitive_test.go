package tool

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

func TestSensitive(t *testing.T) {
	for path, want := range map[string]bool{
		"/w/.env": true, "/w/.ENV": true, "/w/.env.local": true, "/w/.env.example": false, "/w/.env.sample": false, "/w/.env.template": false, "/w/env": false, "/w/.envrc": false,
		"/w/id_rsa": true, "/w/id_rsa.pub": false, "/w/id_rsa_work": true, "/w/id_ed25519-old": true, "/w/id_rsax": false, "/w/id_generator.go": false, "/w/id_ecdsa": true, "/w/id_dsa.bak": true,
		"/h/credentials": true, "/h/credentials.go": false, "/h/.aws/credentials": true, "/h/.aws/credentials/x": true, "/h/.gcp/credentials.json": false, "/h/aws/config": false,
		"/w/k.pem": true, "/w/k.P12": true, "/w/k.pfx": true, "/w/k.kdbx": true, "/w/pem": false, "/h/.netrc": true, "/h/_netrc": true, "/h/.npmrc": true, "/h/.pypirc": true, "/h/.git-credentials": true,
		"/w/main.go": false, "": false, ".env": true,
	} {
		if got := Sensitive(path); got != want {
			t.Errorf("%q: %v", path, got)
		}
	}
}

// TestNoToolShowsSecrets: by whatever name a sensitive file is read.
func TestNoToolShowsSecrets(t *testing.T) {
	p := newPlace(t, map[string]string{".env": "KEY=topsecret\n", "id_rsa": "\x89PNG\r\n\x1a\ntopsecret"}, func(o *Options) { o.Asker, o.Images = approveAll{}, true })
	link(t, ".env", filepath.Join(p.root, "alias"))
	link(t, "id_rsa", filepath.Join(p.root, "pic.png"))
	for _, call := range []string{
		`ReadFile {"path":".env"}`, `ReadFile {"path":"alias"}`, `ReadFile {"path":"alias","line_offset":-1}`, `ReadFile {"path":"x/../.env","n_lines":1}`,
		`ReadMediaFile {"path":"id_rsa"}`, `ReadMediaFile {"path":"pic.png"}`, `ReadMediaFile {"path":"alias"}`,
		`Grep {"pattern":"secret","path":"alias","output_mode":"content"}`, `Grep {"pattern":"secret","output_mode":"content"}`,
		`StrReplaceFile {"path":".env","edit":{"old":"KEY=topsecreT","new":""}}`, `StrReplaceFile {"path":"alias","edit":{"old":"KEY=topsecreT","new":""}}`,
	} {
		name, args, _ := strings.Cut(call, " ")
		v := p.call(t.Context(), "1", name, args)
		if text := jsonText(t, v); strings.Contains(text, "topsecret") {
			t.Errorf("%s shows %s", call, text)
		}
		if name != "Grep" && !v.IsError {
			t.Errorf("%s succeeded: %s", call, v.Message)
		}
	}
}

// TestSensitiveEdits are asked for one by one, and the model does not see what the
// editor makes of them.
func TestSensitiveEdits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.files.set("/w/.env", "KEY=topsecret\n")
		w.files.format = func(s string) string { return s + "# topsecret\n" }
		for _, id := range []string{"1", "2"} {
			done := w.start(t.Context(), id, "WriteFile", `{"path":".env","content":"x`+id+`\n","mode":"append"}`)
			synctest.Wait()
			if r := w.pending()[id]; r.Scope != "" {
				t.Errorf("a lasting answer is offered for %q", r.Scope)
			}
			w.answer(id, wire.ApprovalApproveForSession, "")
			v := <-done
			if v.IsError || strings.Contains(v.Output.Text+v.Message, "topsecret") {
				t.Errorf("result %+v", v)
			}
			mustContain(t, v.Message, "The file now differs from what you wrote")
		}
	})
	var _ Overlay = (*fileop.Operator)(nil)
	var _ Tree = (*fileop.Operator)(nil)
}
