package session

import (
	"bytes"
	"encoding/json"
	"strconv"

	"kimi-acp/internal/jsonstring"
)

// encode gives the settings in the form of state.json: all keys in their order,
// indented by two, nothing escaped that JSON does not ask for, no newline at the end.
func (st State) encode() []byte {
	o := object{'{'}
	o.number("version", st.Version)
	approval := object{'{'}
	approval.bool("yolo", st.Approval.Yolo)
	approval.bool("afk", st.Approval.AFK)
	approval.list("auto_approve_actions", st.Approval.AutoApproveActions)
	o.raw("approval", approval.end())
	o.list("additional_dirs", st.AdditionalDirs)
	o.text("custom_title", st.CustomTitle)
	o.bool("title_generated", st.TitleGenerated)
	o.number("title_generate_attempts", st.TitleGenerateAttempts)
	o.bool("plan_mode", st.PlanMode)
	o.text("plan_session_id", st.PlanSessionID)
	o.text("plan_slug", st.PlanSlug)
	o.seconds("wire_mtime", st.WireMtime)
	o.bool("archived", st.Archived)
	o.seconds("archived_at", st.ArchivedAt)
	o.bool("auto_archive_exempt", st.AutoArchiveExempt)
	todos := []byte{'['}
	for i, t := range st.Todos {
		if i > 0 {
			todos = append(todos, ',')
		}
		todo := object{'{'}
		todo.string("title", t.Title)
		todo.string("status", t.Status)
		todos = append(todos, todo.end()...)
	}
	o.raw("todos", append(todos, ']'))
	return indent(o.end())
}

// indent gives JSON the form that kimi-cli's own files have.
func indent(compact []byte) []byte {
	var out bytes.Buffer
	if err := json.Indent(&out, compact, "", "  "); err != nil {
		return compact // as valid as it was before
	}
	return out.Bytes()
}

// object builds a JSON object, key by key. It begins with its bracket.
type object []byte

func (o *object) key(name string) {
	if len(*o) > 1 {
		*o = append(*o, ',')
	}
	*o = append(jsonstring.Append(*o, name), ':')
}

func (o *object) raw(name string, value []byte) {
	o.key(name)
	*o = append(*o, value...)
}

func (o *object) bool(name string, v bool) {
	o.key(name)
	*o = strconv.AppendBool(*o, v)
}

func (o *object) number(name string, v int) {
	o.key(name)
	*o = strconv.AppendInt(*o, int64(v), 10)
}

func (o *object) string(name, v string) {
	o.key(name)
	*o = jsonstring.Append(*o, v)
}

// text writes a string, null when it is empty.
func (o *object) text(name, v string) {
	if v == "" {
		o.raw(name, []byte("null"))
		return
	}
	o.string(name, v)
}

// seconds writes a time, always with a decimal point, as Python does.
func (o *object) seconds(name string, v *float64) {
	if v == nil {
		o.raw(name, []byte("null"))
		return
	}
	text := strconv.AppendFloat(nil, *v, 'f', -1, 64)
	if bytes.IndexByte(text, '.') < 0 {
		text = append(text, ".0"...)
	}
	o.raw(name, text)
}

func (o *object) list(name string, all []string) {
	o.key(name)
	*o = append(*o, '[')
	for i, s := range all {
		if i > 0 {
			*o = append(*o, ',')
		}
		*o = jsonstring.Append(*o, s)
	}
	*o = append(*o, ']')
}

func (o *object) end() []byte { return append(*o, '}') }
