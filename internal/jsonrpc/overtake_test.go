package jsonrpc

import (
	"io"
	"strings"
	"testing"
)

// What is queued and not yet written is overtaken by urgent answers, but for other
// answers, which keep their order among themselves.
func TestOvertaking(t *testing.T) {
	for _, tt := range []struct {
		name, queued, want string // n: notification, r: reply, u: urgent; numbered as queued
	}{
		{"alone", "u", "u0"},
		{"one", "n n n u", "u3 n0 n1 n2"},
		{"two", "n n u u", "u2 u3 n0 n1"},
		{"not a reply", "n r n u n", "n0 r1 u3 n2 n4"},
		{"a reply behind urgent ones", "n u r u n u", "u1 n0 r2 u3 u5 n4"},
		{"replies alone", "r u r u", "r0 u1 r2 u3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := newOutbox(io.Discard, Newline, nil)
			for i, kind := range strings.Fields(tt.queued) {
				as := map[string]rank{"n": inOrder, "r": aReply, "u": overtaking}[kind]
				if err := o.put([]byte(kind+string(rune('0'+i))), noLimit, as); err != nil {
					t.Fatal(err)
				}
			}
			if got := strings.Join(strings.Fields(string(o.take())), " "); got != tt.want {
				t.Errorf("written as %s, want %s", got, tt.want)
			}
			// What is being written is beyond overtaking, and the next queue begins anew.
			for _, m := range []string{"n", "u"} {
				if err := o.put([]byte(m), noLimit, map[string]rank{"n": inOrder, "u": overtaking}[m]); err != nil {
					t.Fatal(err)
				}
			}
			o.wrote(nil, nil)
			if got := strings.Join(strings.Fields(string(o.take())), " "); got != "u n" {
				t.Errorf("the next batch is %s", got)
			}
		})
	}
}
