package llm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"kimi-acp/internal/jsonstring"
)

// MarshalJSON gives the part in the Wire form; see AppendJSON.
func (p Part) MarshalJSON() ([]byte, error) { return p.AppendJSON(nil) }

// AppendJSON appends the part in the Wire form: "type" first, nullable keys
// always there, nothing escaped that JSON does not ask for. A part of a type that
// is not one of the PartType constants is an error that names the type.
func (p Part) AppendJSON(dst []byte) ([]byte, error) {
	switch p.Type {
	case PartText:
		dst = append(dst, `{"type":"text","text":`...)
		dst = jsonstring.Append(dst, p.Text)
	case PartThink:
		dst = append(dst, `{"type":"think","think":`...)
		dst = jsonstring.Append(dst, p.Think)
		dst = append(dst, `,"encrypted":`...)
		dst = appendNullable(dst, p.Encrypted)
	case PartImage, PartAudio, PartVideo:
		dst = append(dst, `{"type":"`...)
		dst = append(dst, p.Type...)
		dst = append(dst, `","`...)
		dst = append(dst, p.Type...)
		dst = append(dst, `":{"url":`...)
		dst = jsonstring.Append(dst, p.Media.URL)
		dst = append(dst, `,"id":`...)
		dst = appendNullable(dst, p.Media.ID)
		dst = append(dst, '}')
	default:
		return dst, unknownPart(p.Type)
	}
	return append(dst, '}'), nil
}

// UnmarshalJSON reads the Wire form. Nullable and unknown keys may be absent or
// present; an unknown type is an error that names it, and so is a missing value.
func (p *Part) UnmarshalJSON(data []byte) error {
	var in struct {
		Type      PartType   `json:"type"`
		Text      *string    `json:"text"`
		Think     *string    `json:"think"`
		Encrypted *string    `json:"encrypted"`
		Image     *mediaJSON `json:"image_url"`
		Audio     *mediaJSON `json:"audio_url"`
		Video     *mediaJSON `json:"video_url"`
	}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("content part: %w", err)
	}
	var media *mediaJSON
	switch in.Type {
	case PartText:
		if in.Text == nil {
			return errors.New(`text part: "text" is missing`)
		}
		*p = Text(*in.Text)
		return nil
	case PartThink:
		if in.Think == nil {
			return errors.New(`think part: "think" is missing`)
		}
		*p = Part{Type: PartThink, Think: *in.Think, Encrypted: in.Encrypted}
		return nil
	case PartImage:
		media = in.Image
	case PartAudio:
		media = in.Audio
	case PartVideo:
		media = in.Video
	default:
		return unknownPart(in.Type)
	}
	if media == nil || media.URL == nil {
		return fmt.Errorf(`%s part: "url" is missing`, in.Type)
	}
	*p = Part{Type: in.Type, Media: Media{URL: *media.URL, ID: media.ID}}
	return nil
}

// mediaJSON is Media as it is read, so that a missing URL is seen.
type mediaJSON struct {
	URL *string `json:"url"`
	ID  *string `json:"id"`
}

func unknownPart(t PartType) error {
	return fmt.Errorf("content part: unknown type %q", clip(string(t)))
}

// clip shortens text of unknown origin for an error.
func clip(s string) string {
	const limit = 64
	if len(s) <= limit {
		return s
	}
	return s[:limit] + "…"
}

// MarshalJSON gives the call in the Wire form; see AppendJSON.
func (c ToolCall) MarshalJSON() ([]byte, error) { return c.AppendJSON(nil) }

// AppendJSON appends the call in the Wire form, where absent arguments and extras
// are null. Extras that are not a JSON object are an error.
func (c ToolCall) AppendJSON(dst []byte) ([]byte, error) {
	dst = c.appendIdentity(dst)
	dst = append(dst, `,"arguments":`...)
	dst = appendNullable(dst, c.Arguments)
	dst = append(dst, `},"extras":`...)
	if isNull(c.Extras) {
		return append(dst, `null}`...), nil
	}
	dst, err := c.appendExtras(dst)
	return append(dst, '}'), err
}

// appendHistory appends the call as context.jsonl has it: without nulls.
func (c ToolCall) appendHistory(dst []byte) ([]byte, error) {
	dst = c.appendIdentity(dst)
	if c.Arguments != nil {
		dst = append(dst, `,"arguments":`...)
		dst = jsonstring.Append(dst, *c.Arguments)
	}
	dst = append(dst, '}')
	if isNull(c.Extras) {
		return append(dst, '}'), nil
	}
	dst = append(dst, `,"extras":`...)
	dst, err := c.appendExtras(dst)
	return append(dst, '}'), err
}

// appendIdentity appends the call up to and including the function's name.
func (c ToolCall) appendIdentity(dst []byte) []byte {
	dst = append(dst, `{"type":"function","id":`...)
	dst = jsonstring.Append(dst, c.ID)
	dst = append(dst, `,"function":{"name":`...)
	return jsonstring.Append(dst, c.Name)
}

func (c ToolCall) appendExtras(dst []byte) ([]byte, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, c.Extras); err != nil {
		return dst, fmt.Errorf("tool call %q: extras: %w", clip(c.ID), err)
	}
	if compact.Bytes()[0] != '{' {
		return dst, fmt.Errorf("tool call %q: extras are not an object", clip(c.ID))
	}
	return append(dst, compact.Bytes()...), nil
}

// UnmarshalJSON reads the Wire form and that of context.jsonl. Id and name are
// required; a type other than "function" is an error.
func (c *ToolCall) UnmarshalJSON(data []byte) error {
	in := struct {
		Type     string  `json:"type"`
		ID       *string `json:"id"`
		Function struct {
			Name      *string `json:"name"`
			Arguments *string `json:"arguments"`
		} `json:"function"`
		Extras json.RawMessage `json:"extras"`
	}{Type: "function"}
	if err := json.Unmarshal(data, &in); err != nil {
		return fmt.Errorf("tool call: %w", err)
	}
	switch {
	case in.Type != "function":
		return fmt.Errorf("tool call: unknown type %q", clip(in.Type))
	case in.ID == nil:
		return errors.New(`tool call: "id" is missing`)
	case in.Function.Name == nil:
		return fmt.Errorf(`tool call %q: "name" is missing`, clip(*in.ID))
	}
	call := ToolCall{ID: *in.ID, Name: *in.Function.Name, Arguments: in.Function.Arguments}
	if !isNull(in.Extras) {
		if in.Extras[0] != '{' {
			return fmt.Errorf("tool call %q: extras are not an object", clip(call.ID))
		}
		call.Extras = in.Extras
	}
	*c = call
	return nil
}

// isNull reports whether raw stands for no value.
func isNull(raw json.RawMessage) bool { return len(raw) == 0 || string(raw) == "null" }

func appendNullable(dst []byte, s *string) []byte {
	if s == nil {
		return append(dst, "null"...)
	}
	return jsonstring.Append(dst, *s)
}
