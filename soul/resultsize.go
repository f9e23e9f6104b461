package soul

import (
	"fmt"
	"strings"

	"kimi-acp/soul/llm"
	"kimi-acp/soul/wire"
)

// Bounds of what is kept of the result of one call, in bytes. The tools of this program
// give less. Those of a client may give anything, which no model could read; and a line of
// a session's history must hold it, even where each byte of a text is escaped as six.
const (
	maxResultText    = 4 << 20
	maxResultMedia   = 32 << 20
	maxResultMessage = 1 << 20
)

// bounded gives a result that can be kept: of a text that is too long the beginning and
// the end, and of too many parts the first ones.
func bounded(v wire.ToolReturnValue) wire.ToolReturnValue {
	v.Message = cutMiddle(v.Message, maxResultMessage)
	if v.Output.Parts == nil {
		v.Output.Text = cutMiddle(v.Output.Text, maxResultText)
		return v
	}
	text, media := maxResultText, maxResultMedia
	for i, p := range v.Output.Parts {
		room := text
		text -= len(p.Text) + len(p.Think)
		media -= len(p.Media.URL)
		if text >= 0 && media >= 0 {
			continue
		}
		kept := v.Output.Parts[:i:i]
		if p.Type == llm.PartText {
			kept = append(kept, llm.Text(cutMiddle(p.Text, room)))
		}
		left := len(v.Output.Parts) - len(kept)
		v.Output.Parts = append(kept, llm.Text(fmt.Sprintf("[%d of %s are left out here: the output is too large]", left, plural(len(v.Output.Parts), "part"))))
		break
	}
	return v
}

// cutMiddle leaves out the middle of a text of more than so many bytes.
func cutMiddle(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head := strings.ToValidUTF8(text[:most/2], "")
	tail := strings.ToValidUTF8(text[len(text)-most/2:], "")
	return fmt.Sprintf("%s\n[%d bytes are left out here]\n%s", head, len(text)-len(head)-len(tail), tail)
}
