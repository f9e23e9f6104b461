package eval

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// parseScript makes scripts for the scripted model, one a model call, of a text that
// lines of --- divide. Beside the lines which that model knows there is
//
//	call: TOOL {"argument":…}
//
// for a tool call, which as a line of the model's own would be JSON in JSON.
func parseScript(text string) ([]string, error) {
	var scripts []string
	calls := 0
	for chunk := range strings.SplitSeq(text, "\n---\n") {
		var out strings.Builder
		for line := range strings.Lines(chunk) {
			rest, ok := strings.CutPrefix(line, "call: ")
			if !ok {
				out.WriteString(line)
				continue
			}
			calls++
			name, args, ok := strings.Cut(strings.TrimSpace(rest), " ")
			if !ok || !json.Valid([]byte(args)) {
				return nil, fmt.Errorf("%w: %s", errNoCalls, strings.TrimSpace(line))
			}
			call, err := json.Marshal(map[string]string{"id": fmt.Sprintf("call-%d", calls), "name": name, "arguments": args})
			if err != nil {
				return nil, fmt.Errorf("encode a call: %w", err)
			}
			out.WriteString("tool_call: " + string(call) + "\n")
		}
		scripts = append(scripts, out.String())
	}
	return scripts, nil
}

var errNoCalls = errors.New("the script has a call without a tool's name and arguments")
