package main

import (
	"strings"
	"testing"
)

func TestInfo(t *testing.T) {
	for _, asJSON := range []bool{true, false} {
		var out strings.Builder
		if code := printInfo(&out, asJSON); code != 0 {
			t.Errorf("exit %d", code)
		}
		want := "wire protocol: 1.10\n"
		if asJSON {
			want = `{"kimi_cli_version":"1.49.0","agent_spec_versions":["1"],"wire_protocol_version":"1.10","python_version":"n/a","server_name":"Kimi Code CLI","server_version":"1.49.0"}` + "\n"
		}
		if !strings.HasSuffix(out.String(), want) {
			t.Errorf("printed %q", out.String())
		}
	}
}
