package main

import (
	"os"
	"path/filepath"
	"slices"

	"kimi-acp/cmd/kimi-acp/policycmd"
	"kimi-acp/fileop/facts"
	"kimi-acp/internal/config"
	"kimi-acp/internal/policy"
	"kimi-acp/internal/trust"
)

// runPolicy explains decisions and tests them.
func runPolicy(args []string) int {
	o := policycmd.Options{Out: os.Stdout, Err: os.Stderr}
	if home, err := os.UserHomeDir(); err == nil {
		o.Home = home
	}
	c, _ := config.Load(os.Getenv, config.Flags{})
	o.Own = ownFiles(c.ShareDir, o.Home)
	o.Engine = func(root string, sets []string) (*policy.Engine, error) {
		said := c.Policy
		if sets != nil {
			said.Sets = sets
		}
		return rulesOf(c, func() config.Policy { return said }, []string{root}).Engine()
	}
	o.Trusted = func(root string) bool { return trust.NewGate(trustStore(c, o.Home), []string{root}, false).Trusted() }
	return policycmd.Run(args, o)
}

// ownFiles are the files that no action of a model may touch: settings, keys, and
// what was recorded, under each name that they have: many keep such files elsewhere, and
// a link in their place. Skills and agents beside them are there to be read.
func ownFiles(shareDir, home string) []string {
	var own []string
	if shareDir != "" {
		for _, name := range []string{"config.toml", "config.json", "acp.toml", "acp", "sessions", "credentials", "kimi.json", "mcp.json", "logs"} {
			own = append(own, filepath.Join(shareDir, name))
		}
	}
	if home != "" {
		own = append(own, filepath.Join(home, ".kimi-code", "config.toml"))
	}
	for _, path := range own {
		if real := facts.Look(path).Real; real != "" && !slices.Contains(own, real) {
			own = append(own, real)
		}
	}
	return own
}
