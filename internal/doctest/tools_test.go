package doctest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"kimi-acp/soul/subagent"
	"kimi-acp/soul/tool"
)

func TestTools(t *testing.T) {
	modes := modes(t)
	var about, overview [][]string
	for _, m := range modes {
		about = append(about, []string{code(m.ID), m.Name, m.Description})
	}
	head := []string{"tool", "it"}
	for _, m := range modes {
		head = append(head, code(m.ID))
	}
	var each strings.Builder
	for _, b := range append(tool.Builtin(), tool.NewAgent(subagent.Types()), tool.NewRunPlan(subagent.Types()), tool.NewEditorContext(nil), tool.NewCodeIntelligence(nothingKnown{}), tool.NewRenameSymbol(nothingKnown{}), tool.NewSendDMail(&tool.Mailbox{}, true)) {
		name := b.Spec().Name
		usual, secret := outcomes(t, b, modes, plainFile), outcomes(t, b, modes, secretFile)
		overview = append(overview, append([]string{fmt.Sprintf("[%s](#%s)", name, strings.ToLower(name)), effect(t, b)}, usual...))
		if !slices.Equal(usual, secret) {
			overview = append(overview, append([]string{name + " on `" + secretFile + "`", "the same"}, secret...))
		}
		each.WriteString(toolPart(t, b))
	}
	hold(t, "tools.md", map[string]string{
		"modes":    table([]string{"mode", "name", "what it means"}, about),
		"overview": table(head, overview),
		"tools":    each.String(),
	})
}

func effect(t *testing.T, b tool.Tool) string {
	switch b.Effect() {
	case tool.ReadOnly:
		return "reads"
	case tool.Waits:
		return "waits"
	case tool.Asks:
		return "asks a question"
	case tool.Edits:
		return "edits files"
	case tool.Runs:
		return "runs commands"
	}
	t.Errorf("%s has the effect %d, which has no words here", b.Spec().Name, b.Effect())
	return ""
}

// toolPart is the section about one tool.
func toolPart(t *testing.T, b tool.Tool) string {
	spec := b.Spec()
	arguments := decodeSchema(t, spec.Name, spec.Parameters)
	var s strings.Builder
	fmt.Fprintf(&s, "\n## %s\n\n%s\n\n", spec.Name, strings.TrimSpace(spec.Description))
	if rows := argumentRows(arguments, ""); len(rows) > 0 {
		s.WriteString(table([]string{"argument", "type", "default", "range", "meaning"}, rows))
	} else {
		s.WriteString("It takes no arguments.\n")
	}
	fmt.Fprintf(&s, "\nIn the editor: %s\n", card(t, spec.Name, arguments))
	return s.String()
}

// card says how a call looks, with the names of its arguments for their values.
func card(t *testing.T, name string, arguments schema) string {
	const cwd = "/project"
	sample := map[string]string{}
	for _, p := range arguments.Properties {
		if p.Type == "string" && len(p.Enum) == 0 {
			sample[p.name] = strings.ToUpper(p.name)
		}
	}
	args, err := json.Marshal(sample)
	if err != nil {
		t.Fatal(err)
	}
	early, whole := tool.CardOf(name, nil, cwd), tool.CardOf(name, args, cwd)
	text := fmt.Sprintf("kind `%s`, title “%s”", whole.Kind, whole.Title)
	if early.Title != whole.Title {
		text += fmt.Sprintf(" (“%s” until the argument is there)", early.Title)
	}
	if len(whole.Locations) > 0 {
		text += ", with the file as its place"
	}
	return text + "."
}
