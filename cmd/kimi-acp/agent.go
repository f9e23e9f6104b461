package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"kimi-acp/acp"
	"kimi-acp/contextprovider"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
	"kimi-acp/soul/agentfile"
	"kimi-acp/soul/skill"
	"kimi-acp/soul/subagent"
	"kimi-acp/soul/tool"
)

// ownAgent is the agent that a session's model is. The zero value is the one that comes
// with the program.
type ownAgent struct {
	file *agentfile.Agent // nil: there is none
	at   agentPlace
}

// agentPlace is what the prompts of agent files say of a session.
type agentPlace struct {
	roots  []string // absolute; the first is the folder worked in
	shell  string
	skills func() []skill.Skill
	began  time.Time
}

// readAgent reads an agent file; "": the agent that comes with the program.
func readAgent(path string, warn func(string)) (*agentfile.Agent, error) {
	if path == "" {
		return nil, nil
	}
	a, warnings, err := agentfile.Load(path)
	if err != nil {
		return nil, fmt.Errorf("agent file: %w", err)
	}
	for _, w := range warnings {
		warn("agent file: " + w)
	}
	return &a, nil
}

// agentsOf says which agents a session has: of the file that the command line names, else
// of that of the settings.
func agentsOf(named string, now func() config.Config, shell string, log *slog.Logger) func(acp.AgentsSpec) (acp.Agents, error) {
	return func(s acp.AgentsSpec) (acp.Agents, error) {
		cfg := now()
		path := named
		if path == "" {
			path = configuredAgent(cfg.AgentFile, s, log)
		}
		file, err := readAgent(path, func(w string) { log.Warn(w) })
		if err != nil || file == nil {
			return acp.Agents{Types: subagent.Types()}, err
		}
		own := ownAgent{file: file, at: agentPlace{
			roots: s.Roots, shell: shell, began: time.Now(),
			skills: skillsOf(cfg.Skills, skillHome{home: userHome(), project: s.Roots[0], trusted: s.Trusted}, log),
		}}
		return acp.Agents{Types: own.types(), Has: own.has, System: own.system}, nil
	}
}

// configuredAgent is the path of the agent file of the settings, "" where none counts. What
// lies within the workspace may have come with it, and counts when that is trusted.
func configuredAgent(path string, s acp.AgentsSpec, log *slog.Logger) string {
	if rest, ok := under("~", path); ok && userHome() != "" {
		path = filepath.Join(userHome(), rest)
	}
	if path == "" {
		return ""
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(projectRoot(s.Roots[0]), path)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return "" // most projects have none
		}
	} else if !slices.ContainsFunc(s.Roots, func(root string) bool { return holds(projectRoot(root), path) }) {
		return path
	}
	if !s.Trusted() {
		log.Warn("the agent file of the workspace does not count, since the workspace is not trusted", "file", path)
		return ""
	}
	return path
}

// holds tells whether a path lies in a folder, by its name or by where links lead.
func holds(dir, path string) bool {
	real := func(p string) string {
		if r, err := filepath.EvalSymlinks(p); err == nil {
			return r
		}
		return p
	}
	for _, p := range []string{path, real(path)} {
		for _, d := range []string{dir, real(dir)} {
			if rel, err := filepath.Rel(d, p); err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// types are the types of agents that it can start.
func (a ownAgent) types() []tool.AgentType {
	if a.file == nil {
		return subagent.Types()
	}
	return a.file.Types(subagent.Types(), a.at.value)
}

// has tells whether it has the tool of a name, as far as the session does.
func (a ownAgent) has(name string) bool {
	return a.file == nil || a.file.Tools.Has(name)
}

// system is its system prompt; usual is that of the agent that comes with the program.
func (a ownAgent) system(usual string) string {
	switch {
	case a.file == nil:
		return usual
	case a.file.Prompt != nil:
		return a.file.Prompt.Render(a.at.value)
	case strings.TrimSpace(a.file.Role) != "":
		return usual + "\n\nYour part\n" + strings.TrimSpace(a.file.Role) + "\n"
	}
	return usual
}

// value gives what differs between sessions; see agentfile.BuiltinArgs.
func (p agentPlace) value(name string) string {
	switch name {
	case "KIMI_NOW":
		return p.began.Format(time.RFC3339)
	case "KIMI_WORK_DIR":
		return p.roots[0]
	case "KIMI_WORK_DIR_LS":
		return p.listing(p.roots[0])
	case "KIMI_AGENTS_MD":
		return p.instructions()
	case "KIMI_SKILLS":
		return skillList(p.skills())
	case "KIMI_ADDITIONAL_DIRS_INFO":
		var s strings.Builder
		for _, root := range p.roots[1:] {
			fmt.Fprintf(&s, "%s\n```\n%s\n```\n", root, p.listing(root))
		}
		return s.String()
	case "KIMI_OS":
		if name, ok := map[string]string{"darwin": "macOS", "linux": "Linux", "windows": "Windows"}[runtime.GOOS]; ok {
			return name
		}
		return runtime.GOOS
	case "KIMI_SHELL":
		return p.shell
	}
	return ""
}

// instructions are the project's notes to agents, with where they stand.
func (p agentPlace) instructions() string {
	disk, err := fileop.OpenDisk(p.roots...)
	if err != nil {
		return ""
	}
	defer func() { _ = disk.Close() }() // only read
	var all []string
	for _, i := range contextprovider.Instructions(context.Background(), disk, p.roots) {
		all = append(all, "<!-- From: "+i.Path+" -->\n"+i.Text)
	}
	return strings.Join(all, "\n\n")
}

// skillList words the skills much as kimi-cli does.
func skillList(skills []skill.Skill) string {
	if len(skills) == 0 {
		return "No skills found."
	}
	var s strings.Builder
	for _, k := range skills {
		fmt.Fprintf(&s, "- %s\n  - Description: %s\n", k.Name, k.Description)
	}
	return strings.TrimRight(s.String(), "\n")
}

// Bounds of a listing in a prompt.
const (
	listedRoot   = 30   // entries of the folder itself
	listedWithin = 10   // of each folder in it
	listedLooked = 2000 // that are looked at
)

// listing is what is in a folder and in the folders in it, as far as git would look at it.
func (p agentPlace) listing(dir string) string {
	disk, err := fileop.OpenDisk(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = disk.Close() }() // only read
	within := map[string][]string{}     // by folder, "." the first
	for e, err := range disk.Walk(context.Background(), dir, fileop.WalkOptions{MaxDepth: 2, MaxEntries: listedLooked}) {
		if err != nil {
			break // what was seen by then is worth telling
		}
		name := filepath.Base(e.Path)
		if e.IsDir() {
			name += "/"
		}
		parent := filepath.ToSlash(filepath.Dir(filepath.FromSlash(e.Rel)))
		within[parent] = append(within[parent], name)
	}
	var lines []string
	add := func(indent string, names []string, most int, each func(string)) {
		folders := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !strings.HasSuffix(name, "/") })
		files := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return strings.HasSuffix(name, "/") })
		names = slices.Concat(folders, files)
		for i, name := range names {
			if i == most {
				lines = append(lines, fmt.Sprintf("%s... and %d more", indent, len(names)-most))
				break
			}
			lines = append(lines, indent+name)
			each(name)
		}
	}
	add("", within["."], listedRoot, func(name string) {
		add("  ", within[strings.TrimSuffix(name, "/")], listedWithin, func(string) {})
	})
	if len(lines) == 0 {
		return "(empty directory)"
	}
	return strings.Join(lines, "\n")
}
