package tool

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"kimi-acp/fileop"
	"kimi-acp/soul/wire"
)

// TestNoToolShowsSecrets: by whatever name a file that usually holds secrets is read,
// nothing is shown without an answer.
func TestNoToolShowsSecrets(t *testing.T) {
	files := map[string]string{".env": "KEY=topsecret\n", "id_rsa": "\x89PNG\r\n\x1a\ntopsecret"}
	for name, asker := range map[string]Asker{"nobody answers": nil, "no": rejectAll{}} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, files, func(o *Options) { o.Asker, o.Images = asker, true })
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
				if !strings.HasSuffix(call, `"secret","output_mode":"content"}`) && !v.IsError {
					t.Errorf("%s succeeded: %s", call, v.Message)
				}
			}
		})
	}
	// With an answer it is shown, but a search that did not name the file.
	p := newPlace(t, files, yes)
	link(t, ".env", filepath.Join(p.root, "alias"))
	for args, shown := range map[string]bool{
		`ReadFile {"path":"alias"}`:                                        true,
		`Grep {"pattern":"secret","path":"alias","output_mode":"content"}`: true,
		`Grep {"pattern":"secret","output_mode":"content"}`:                false,
	} {
		name, args, _ := strings.Cut(args, " ")
		if v := p.ok(name, args); strings.Contains(v.Output.Text, "topsecret") != shown {
			t.Errorf("%s %s shows %q: %s", name, args, v.Output.Text, v.Message)
		}
	}
}

// rejectAll is an Asker that says no.
type rejectAll struct{ approveAll }

func (rejectAll) Approve(_ context.Context, r wire.ApprovalRequest) (wire.ApprovalResponse, error) {
	return wire.ApprovalResponse{RequestID: r.ID, Response: wire.ApprovalReject}, nil
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
	var _ Outside = (*fileop.Operator)(nil)
}
