package main

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"kimi-acp/acp"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/soul"
	"kimi-acp/soul/kernel"
	"kimi-acp/soul/llm"
	"kimi-acp/soul/session"
	"kimi-acp/soul/tool"
	"kimi-acp/soul/wire"
)

// kernels makes the souls of sessions in the kernel that the settings name.
type kernels struct {
	config, model string // of the command line, for a kernel's own
	sessions      *session.Store
	settings      func() config.Config
	supervisor    *proc.Supervisor
	log           *slog.Logger
}

// The kernel of the settings, where that is a command line.
const configuredKernel = "configured"

// offered gives the kernels that there are on this machine; configured is that of the
// settings.
func (k kernels) offered(configured string) acp.Kernels {
	offered := acp.Kernels{Default: kernel.Builtin.String(), Offered: []acp.KernelChoice{
		{ID: kernel.Builtin.String(), Name: "Built-in", Description: "This program"},
	}}
	places := kernel.UsualPlaces(os.Getenv)
	c, err := kernel.ParseChoice(configured)
	if err == nil && c.Kind != kernel.Custom {
		offered.Default = c.Kind.String()
	}
	add := func(kind kernel.Kind, name, description string) {
		if _, err := places.Find(kernel.Choice{Kind: kind}); err == nil || c.Kind == kind {
			offered.Offered = append(offered.Offered, acp.KernelChoice{ID: kind.String(), Name: name, Description: description})
		}
	}
	add(kernel.Python, "Python", "kimi-cli, with its own models and skills")
	add(kernel.Rust, "Rust", "kimi-agent, with its own models and skills")
	add(kernel.Auto, "Automatic", "The first other one that works, else the built-in")
	if err == nil && c.Kind == kernel.Custom {
		offered.Default = configuredKernel
		offered.Offered = append(offered.Offered, acp.KernelChoice{ID: configuredKernel, Name: filepath.Base(c.Command[0]), Description: "The command line of the settings"})
	}
	return offered
}

// chosen is the choice of a session: its own, or that of the settings.
func chosenKernel(configured, own string) string {
	if own == "" || own == configuredKernel {
		return configured
	}
	return own
}

// soul gives the soul of a session in the kernel that choice names. Under auto it is the
// built-in one, whose prompt system gives, where there is no other, or as soon as the other cannot be used.
func (k kernels) soul(choice string, s acp.SoulSpec, system func() string, builtin func() *soul.Builtin) (soul.Soul, error) {
	c, err := kernel.ParseChoice(choice)
	if err != nil {
		return nil, err
	}
	if s.Provider == nil && (c.Kind == kernel.Builtin || c.Kind == kernel.Auto) {
		return nil, errors.New("the built-in kernel has no model: name one in the settings")
	}
	if c.Kind == kernel.Builtin {
		return builtin(), nil
	}
	program, err := kernel.UsualPlaces(os.Getenv).Find(c)
	switch {
	case err != nil && c.Kind == kernel.Auto:
		k.log.Info("sessions run in the built-in kernel", "because", err)
		return &kernel.Noticing{Builtin: builtin(), Wire: s.Wire, Notice: "No other kernel can be used (" + err.Error() + "). The built-in kernel is.\n\n"}, nil
	case err != nil:
		return nil, fmt.Errorf("the kernel %s cannot be used: %w", c, err)
	}
	made := kernel.New(kernel.Config{
		Wire:    s.Wire,
		Tools:   kernelTools(s.Executor.Specs()),
		Program: program,
		Launch: kernel.Launch{
			WorkDir: s.Roots[0], More: s.Roots[1:], SessionID: kernel.SessionID(s.SessionID),
			Config: k.config, Model: k.model, Environ: os.Environ(),
			Skills: k.skills(s), Servers: s.MCP, MCP: k.mcpFiles(s),
		},
		ClientVersion: currentVersion(),
		Refuse: func(wire.ApprovalRequest) string {
			if s.Executor.Mode() == tool.ModePlan {
				return "Plan mode is on: nothing is changed and nothing runs."
			}
			return ""
		},
		Models:     k.settings().KimiModels,
		Sessions:   k.sessions,
		System:     system,
		Moment:     s.Moment,
		Edits:      s.Edits,
		Session:    s.Session,
		Supervisor: k.supervisor,
		Logger:     k.log.With("session", s.SessionID),
	})
	if c.Kind == kernel.Auto {
		return kernel.NewFallback(made, builtin()), nil
	}
	return made, nil
}

// skills are the folders with skills that this program has found, too. Where there are
// some, a kernel looks in no other.
func (k kernels) skills(s acp.SoulSpec) []string {
	folders := skillFolders(k.settings().Skills, skillHome{home: userHome(), project: s.Roots[0], trusted: s.Trusted})
	return slices.DeleteFunc(folders, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// mcpFiles are the settings of MCP servers that a kernel would read if it were given none.
func (k kernels) mcpFiles(s acp.SoulSpec) []string {
	file := filepath.Join(k.settings().ShareDir, "mcp.json")
	if _, err := os.Stat(file); err != nil || len(s.MCP) == 0 {
		return nil
	}
	return []string{file}
}

// hasModels tells whether the kernel that choice names has models of its own, and those
// of the settings here are never asked.
func hasModels(choice string) bool {
	c, err := kernel.ParseChoice(choice)
	return err == nil && c.Kind != kernel.Builtin && c.Kind != kernel.Auto
}

// kernelTools are the tools that a kernel is offered: going back in a turn is the
// business of whoever keeps the history.
func kernelTools(all []llm.ToolSpec) []llm.ToolSpec {
	return slices.DeleteFunc(all, func(s llm.ToolSpec) bool { return s.Name == tool.SendDMailName })
}
