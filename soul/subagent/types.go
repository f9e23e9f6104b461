package subagent

import (
	"slices"

	"kimi-acp/soul/tool"
)

// Types are the types that come with the program.
func Types() []tool.AgentType {
	return []tool.AgentType{
		{
			Name: "coder",
			When: "makes changes: it reads, searches, edits and runs commands. For a part of the work that can be told in full.",
			Role: "You make the change that you were asked for, and check it as the project checks such changes.",
		},
		{
			Name:     "explore",
			When:     "finds out how things are, and changes nothing: it reads, searches and runs commands that only look. For questions that take more than three searches.",
			Role:     "You find out what you were asked, and change nothing. Look widely first, then read what matters; several reads and searches in one message. Name files and lines.",
			Tools:    []string{"ReadFile", "ReadMediaFile", "Glob", "Grep", "CodeIntelligence", "Shell", "Think"},
			ReadOnly: true,
		},
		{
			Name:     "plan",
			When:     "works out how a change is best made, and changes nothing: it reads and searches. For what is worth a plan before the first edit.",
			Role:     "You work out how a change is to be made, and change nothing. Read what it touches, weigh the ways there are, and answer with the steps: for each the files, what changes in them, and how to check it.",
			Tools:    []string{"ReadFile", "ReadMediaFile", "Glob", "Grep", "CodeIntelligence", "Think"},
			ReadOnly: true,
		},
	}
}

// agentTools are the tools that agents may have. None of them starts agents, asks the
// user, or keeps the plan.
func agentTools() []string {
	return []string{
		"ReadFile", "ReadMediaFile", "Glob", "Grep", "CodeIntelligence", "Shell", "Think",
		"WriteFile", "StrReplaceFile", "ApplyPatch", "RenameSymbol",
	}
}

// toolsOf are the names of a type's tools.
func toolsOf(t tool.AgentType) []string {
	all := agentTools()
	if t.Tools == nil {
		return all
	}
	return slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(t.Tools, name) })
}

// system is what an agent is told first: what the session is told, or what its type has in
// place of that, and then its part.
func system(t tool.AgentType, session func() string) string {
	text := t.System
	if text == "" {
		text = session()
	}
	if t.Role == "" {
		return text + role
	}
	return text + role + "- " + t.Role + "\n"
}

// role is what every agent is told of itself.
const role = "\n\nYour part\n" +
	"- Another agent has started you for a part of its work. Its words are all that you know of it; you cannot ask it or the user anything.\n" +
	"- Only your last answer reaches it, and nothing of what you have read or done: put into that answer all that it needs, with paths and line numbers, what you changed, and what you could not do.\n"
