package main

import (
	"os"

	"kimi-acp/cmd/kimi-acp/policycmd"
	"kimi-acp/internal/config"
)

// runPolicy explains decisions and tests them.
func runPolicy(args []string) int {
	o := policycmd.Options{Out: os.Stdout, Err: os.Stderr}
	if home, err := os.UserHomeDir(); err == nil {
		o.Home = home
	}
	if c, _ := config.Load(os.Getenv, config.Flags{}); c.ShareDir != "" {
		o.Own = []string{c.ShareDir}
	}
	return policycmd.Run(args, o)
}
