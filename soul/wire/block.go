package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// MarshalJSON gives "type" and then the block's fields; for a block of an unknown
// type "type" and "data", which is Raw.
func (b Block) MarshalJSON() ([]byte, error) {
	body, known := b.body()
	if !known {
		if b.Type == "" {
			return nil, errors.New("display block: no type")
		}
		data := b.Raw
		if len(data) == 0 {
			data = json.RawMessage(`{}`)
		}
		return marshal(struct {
			Type BlockType       `json:"type"`
			Data json.RawMessage `json:"data"`
		}{b.Type, data})
	}
	fields, err := marshal(body)
	if err != nil {
		return nil, err
	}
	if string(fields) == "null" {
		return nil, fmt.Errorf("%s block: it is empty", b.Type)
	}
	out := append([]byte(`{"type":"`), b.Type...)
	out = append(out, `",`...)
	return append(out, fields[1:]...), nil
}

// body is the pointer that Type names, perhaps nil; false: the type is unknown.
func (b Block) body() (any, bool) {
	switch b.Type {
	case BlockBrief:
		return b.Brief, true
	case BlockDiff:
		return b.Diff, true
	case BlockTodo:
		return b.Todo, true
	case BlockShell:
		return b.Shell, true
	case BlockBackgroundTask:
		return b.BackgroundTask, true
	}
	return nil, false
}

// UnmarshalJSON reads a block. A known type with a missing or wrong field is an
// error. An unknown type keeps its members in Raw: the value of "data" when that
// is all there is, else an object of all of them. So what MarshalJSON gives reads
// the same again, however often.
func (b *Block) UnmarshalJSON(data []byte) error {
	var head struct {
		Type BlockType `json:"type"`
	}
	if err := decodeObject(data, &head, "type"); err != nil {
		return fmt.Errorf("display block: %w", err)
	}
	out := Block{Type: head.Type}
	var err error
	switch head.Type {
	case "":
		err = errors.New("the type is empty")
	case BlockBrief:
		out.Brief = new(BriefBlock)
		err = decodeObject(data, out.Brief, "text")
	case BlockDiff:
		out.Diff = &DiffBlock{OldStart: 1, NewStart: 1}
		err = decodeObject(data, out.Diff, "path", "old_text", "new_text")
	case BlockTodo:
		out.Todo = new(TodoBlock)
		err = decodeObject(data, out.Todo, "items")
	case BlockShell:
		out.Shell = new(ShellBlock)
		err = decodeObject(data, out.Shell, "language", "command")
	case BlockBackgroundTask:
		out.BackgroundTask = new(BackgroundTaskBlock)
		err = decodeObject(data, out.BackgroundTask, "task_id", "kind", "status", "description")
	default:
		out.Raw, err = unknownData(data)
	}
	if err != nil {
		return fmt.Errorf("display block %q: %w", clip(string(head.Type)), err)
	}
	*b = out
	return nil
}

// unknownData gives the members of an unknown block, see Block.UnmarshalJSON.
func unknownData(block []byte) (json.RawMessage, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(block, &members); err != nil {
		return nil, err
	}
	delete(members, "type")
	if data, ok := members["data"]; ok && len(members) == 1 {
		return data, nil
	}
	return marshal(members)
}

// UnmarshalJSON reads an item. Both fields are required, and the status must be one
// of the three.
func (i *TodoItem) UnmarshalJSON(data []byte) error {
	type plain TodoItem
	if err := decodeObject(data, (*plain)(i), "title", "status"); err != nil {
		return err
	}
	switch i.Status {
	case "pending", "in_progress", "done":
		return nil
	}
	return fmt.Errorf("unknown status %q", clip(i.Status))
}
