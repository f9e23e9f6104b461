package wire_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"kimi-acp/soul/wire"
)

// The transcripts are what kimi-cli 1.49.0 and a client said to each other: a line
// that the server wrote begins with "<<< ", one that the client wrote with ">>> ".
// Some of the client's lines are broken on purpose.

// transcriptLine is what matters here of a JSON-RPC line.
type transcriptLine struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

// eachLine calls f for every line of that direction which is a JSON object.
func eachLine(t *testing.T, direction string, f func(where string, line transcriptLine)) {
	t.Helper()
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(bytes.NewReader(data))
		lines.Buffer(nil, 1<<20)
		for n := 1; lines.Scan(); n++ {
			body, ok := strings.CutPrefix(lines.Text(), direction+" ")
			var line transcriptLine
			if ok && json.Unmarshal([]byte(body), &line) == nil {
				f(filepath.Base(file)+": "+body, line)
			}
		}
		if err := lines.Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTranscriptMessages(t *testing.T) {
	counts := make(map[string]int)
	total := 0
	eachLine(t, "<<<", func(where string, line transcriptLine) {
		if line.Method != "event" && line.Method != "request" {
			return
		}
		m, err := wire.Decode(line.Params)
		if err != nil {
			t.Errorf("%s\n%v", where, err)
			return
		}
		counts[m.WireType()]++
		total++
		if _, ok := m.(wire.Request); ok != (line.Method == "request") {
			t.Errorf("%s\nis a %T", where, m)
		}
		out, err := wire.Encode(m)
		if err != nil {
			t.Errorf("%s\n%v", where, err)
			return
		}
		if diff := cmp.Diff(number(t, line.Params), number(t, out)); diff != "" {
			t.Errorf("%s\n(-want +got):\n%s", where, diff)
		}
	})
	if total != 405 || len(counts) != 22 {
		t.Errorf("%d messages of %d types, want 405 of 22: %v", total, len(counts), counts)
	}
}

func TestTranscriptResults(t *testing.T) {
	var answers, values, badValues, badAnswers int
	eachLine(t, ">>>", func(where string, line transcriptLine) {
		var result struct {
			Value   json.RawMessage `json:"return_value"`
			Answers json.RawMessage `json:"answers"`
		}
		if line.Result == nil || json.Unmarshal(line.Result, &result) != nil {
			return
		}
		if result.Value != nil {
			var v wire.ToolReturnValue
			if err := json.Unmarshal(result.Value, &v); err != nil {
				if !strings.Contains(err.Error(), `unknown type "zzz"`) {
					t.Errorf("%s\n%v", where, err)
				}
				badValues++
			} else {
				values++
			}
		}
		if result.Answers != nil {
			var a wire.QuestionAnswers
			if json.Unmarshal(result.Answers, &a) != nil {
				badAnswers++
			} else {
				answers++
			}
		}
	})
	got := []int{values, badValues, answers, badAnswers}
	if diff := cmp.Diff([]int{2, 1, 3, 1}, got); diff != "" {
		t.Errorf("tool values, broken ones, answers, broken ones (-want +got):\n%s", diff)
	}
}

// number decodes JSON without loss, so that values can be compared. 1.0 and 1 are
// the same number.
func number(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return plainNumbers(v)
}

func plainNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if whole, ok := strings.CutSuffix(v.String(), ".0"); ok {
			return json.Number(whole)
		}
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return v
}
