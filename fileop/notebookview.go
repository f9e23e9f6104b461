package fileop

import (
	"encoding/json"
	"fmt"
	"strings"
)

// maxCellOutput is how much of each output of a cell is shown, in bytes.
const maxCellOutput = 1000

// Notebook gives a notebook as cells for reading: the source of each, and the
// beginning of what it has put out as text. ErrBadNotebook: it is none.
func Notebook(text string) (string, error) {
	cells, err := cellsOf(text)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, c := range cells {
		fmt.Fprintf(&b, "[cell %d, %s]\n%s", i+1, c.kind, joinLF(c.source))
		if !strings.HasSuffix(c.source, "\n") && c.source != "" {
			b.WriteByte('\n')
		}
		for _, raw := range c.outputs {
			if out := strings.TrimRight(outputText(raw), "\n"); out != "" {
				fmt.Fprintf(&b, "[output of cell %d]\n%s\n", i+1, clipText(out, maxCellOutput))
			}
		}
	}
	return b.String(), nil
}

// outputText is what an output says in words: printed text, an error, or the plain
// form of a result.
func outputText(raw json.RawMessage) string {
	var out struct {
		Text  json.RawMessage            `json:"text"`
		Name  string                     `json:"ename"`
		Value string                     `json:"evalue"`
		Data  map[string]json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &out) != nil {
		return ""
	}
	if out.Name != "" {
		return out.Name + ": " + out.Value
	}
	if out.Text == nil {
		out.Text = out.Data["text/plain"]
	}
	text, err := joined(out.Text)
	if err != nil {
		return ""
	}
	return text
}

// IsNotebook tells whether a path names a notebook, which is read and edited by cells.
func IsNotebook(path string) bool { return isNotebook(path) }
