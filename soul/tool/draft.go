package tool

import (
	"encoding/json"
	"strings"

	"kimi-acp/soul/wire"
)

// DraftOf gives the change that an edit is growing into while its arguments still
// stream: args may break off anywhere. The texts are what the model has written so
// far, the old one just the passage that an edit replaces; nothing is looked up.
// Line is the line of the new text that is being written, from 1. It is false for
// other tools and as long as there is nothing to show. It takes time in proportion
// to args.
func DraftOf(name string, args []byte, cwd string) (change wire.FileChange, line int, ok bool) {
	var in struct {
		Path    string          `json:"path"`
		Content string          `json:"content"`
		Mode    string          `json:"mode"`
		Edit    json.RawMessage `json:"edit"`
	}
	if json.Unmarshal(closeJSON(args), &in) != nil || in.Path == "" {
		return change, 0, false
	}
	change.Path = absolute(in.Path, cwd)
	switch {
	case name == "WriteFile" && in.Content != "" && in.Mode != "append":
		change.New = in.Content
	case name == "StrReplaceFile":
		edit, begun := lastEdit(in.Edit)
		if !begun {
			return change, 0, false
		}
		change.Old, change.New = &edit.Old, edit.New
	default:
		return change, 0, false
	}
	return change, 1 + strings.Count(change.New, "\n"), true
}

type draftEdit struct {
	Old string `json:"old"`
	New string `json:"new"`
}

// lastEdit is the replacement that is being written, once its new text has begun.
func lastEdit(raw json.RawMessage) (edit draftEdit, begun bool) {
	var edits []draftEdit
	if json.Unmarshal(raw, &edits) != nil {
		var one draftEdit
		if json.Unmarshal(raw, &one) != nil {
			return edit, false
		}
		edits = []draftEdit{one}
	}
	if len(edits) == 0 {
		return edit, false
	}
	edit = edits[len(edits)-1]
	return edit, edit.Old != "" && edit.New != "" && edit.Old != edit.New
}

// closeJSON makes a JSON text that breaks off valid: strings, objects and arrays
// that are open are closed, and a last member that has no value yet, or a word
// that is not complete, is left out. What is no JSON in the first place stays so.
func closeJSON(text []byte) []byte {
	var open []byte            // the closing brackets that are due, innermost last
	keep, inString := 0, false // text[:keep] ends with a complete value or an opening bracket
	kept := 0                  // len(open) at keep
	stringStart, isKey := 0, false
	for i := 0; i < len(text); i++ {
		c := text[i]
		if inString {
			switch c {
			case '\\':
				i++
			case '"':
				inString = false
				if !isKey {
					keep, kept = i+1, len(open)
				}
			}
			continue
		}
		switch c {
		case '"':
			inString, stringStart = true, i
			isKey = len(open) > 0 && open[len(open)-1] == '}' && expectsKey(text[:i])
		case '{', '[':
			open = append(open, c+2) // the closing bracket of ASCII
			keep, kept = i+1, len(open)
		case '}', ']':
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
			keep, kept = i+1, len(open)
		case 'e', 'l', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
			// The end of true, false, null or a number, if more text proves it.
			if i+1 < len(text) && strings.IndexByte(" \t\r\n,]}", text[i+1]) >= 0 {
				keep, kept = i+1, len(open)
			}
		}
	}
	out := append([]byte(nil), text[:keep]...)
	if inString && !isKey {
		out = append(out, text[keep:stringStart]...)
		out = append(out, closeString(text[stringStart:])...)
		kept = len(open)
	}
	for i := kept - 1; i >= 0; i-- {
		out = append(out, open[i])
	}
	return out
}

// expectsKey tells whether a string that follows before is a key: in an object it
// is one unless a colon stands before it.
func expectsKey(before []byte) bool {
	for i := len(before) - 1; i >= 0; i-- {
		switch before[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return before[i] != ':'
		}
	}
	return true
}

// closeString ends a string that breaks off, perhaps within an escape.
func closeString(s []byte) []byte {
	end := len(s)
	for i := 1; i < len(s); i++ {
		if s[i] != '\\' {
			continue
		}
		need := 2
		if i+1 < len(s) && s[i+1] == 'u' {
			need = 6
		}
		if i+need > len(s) {
			end = i
			break
		}
		i += need - 1
	}
	return append(append([]byte(nil), s[:end]...), '"')
}
