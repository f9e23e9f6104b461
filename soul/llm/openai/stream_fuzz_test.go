package openai

import (
	"context"
	"errors"
	"net/http"
	"testing"

	"kimi-acp/soul/llm"
)

// Whatever a server sends, a sequence ends with DeltaFinish or an *llm.Error, and
// its calls can be put together.
func FuzzStream(f *testing.F) {
	f.Add([]byte("data: {\"id\":\"x\",\"choices\":[{\"delta\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"))
	f.Add([]byte("data:{\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"A\",\"arguments\":\"{}\"}},{\"function\":{\"name\":\"B\"}}]},\"finish_reason\":\"x\"}]}\n: c\n"))
	f.Add([]byte("data: {\"error\":{\"message\":\"m\",\"code\":429}}\r\n{\"x\":1}\n"))
	f.Add([]byte("{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}"))
	f.Fuzz(func(t *testing.T, body []byte) {
		p, err := New(Config{BaseURL: "http://model.test", Model: llm.Model{Name: "m"}, HTTPClient: &http.Client{Transport: canned(body)}})
		if err != nil {
			t.Fatal(err)
		}
		ended, calls := false, 0
		ids := map[string]bool{}
		for d, err := range p.Stream(context.Background(), hello()) {
			if ended {
				t.Fatal("the sequence went on after its end")
			}
			var e *llm.Error
			if err != nil && !errors.As(err, &e) {
				t.Fatalf("error %T: %v", err, err)
			}
			ended = err != nil || d.Kind == llm.DeltaFinish
			switch d.Kind {
			case llm.DeltaCall:
				if d.Index != calls || d.Call.Name == "" || d.Call.ID == "" || ids[d.Call.ID] {
					t.Fatalf("call %d of %d: %+v", d.Index, calls, d.Call)
				}
				ids[d.Call.ID] = true
				calls++
			case llm.DeltaCallPart:
				if d.Index < 0 || d.Index >= calls || d.Arguments == nil {
					t.Fatalf("part of call %d, of %d", d.Index, calls)
				}
			}
		}
		if !ended {
			t.Fatal("the sequence has no end")
		}
	})
}
