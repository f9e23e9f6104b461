package soul

import (
	"context"
	"strings"

	"kimi-acp/soul/skill"
)

// What stands before the names of skills and flows in commands.
const (
	skillPrefix = "skill:"
	flowPrefix  = "flow:"
)

// isSkillCommand tells whether a word can be the command of a skill.
func isSkillCommand(word string) bool {
	return strings.HasPrefix(word, skillPrefix) || strings.HasPrefix(word, flowPrefix)
}

// skillCommands are the commands of skills: first those that give the model its text,
// then those that walk a flow.
func skillCommands(skills []skill.Skill) []command {
	var texts, flows []command
	for _, k := range skills {
		name := commandName(k.Name)
		texts = append(texts, command{Command{Name: skillPrefix + name, Description: k.Description, Hint: "[what to do with it]"}, useSkill(k)})
		if k.Flow != nil {
			flows = append(flows, command{Command{Name: flowPrefix + name, Description: k.Description, Hint: "[continue|what to do]"}, runFlow(k)})
		}
	}
	return append(texts, flows...)
}

// commandName is how a skill is called in commands, which end at the first blank.
func commandName(skillName string) string { return strings.Join(strings.Fields(skillName), "-") }

// useSkill asks the model with the text of a skill.
func useSkill(k skill.Skill) func(*Builtin, context.Context, string) (string, error) {
	return func(_ *Builtin, _ context.Context, args string) (string, error) {
		if args == "" {
			return k.Text, nil
		}
		return k.Text + "\n\nThe user adds: " + args, nil
	}
}
