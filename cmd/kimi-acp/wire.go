package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"kimi-acp/cmd/kimi-acp/wirecmd"
)

// runWire shows recordings. Without a command it is kept for serving the Wire.
func runWire(args []string) int {
	if !wirecmd.Serves(args) {
		fmt.Fprintln(os.Stderr, "kimi-acp wire: use wire log or wire replay; kimi-acp wire help tells of them")
		return 2
	}
	store, _, ok := keptSessions("wire")
	if !ok {
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return wirecmd.Run(ctx, args, wirecmd.Options{Store: store, Out: os.Stdout, Err: os.Stderr, Screen: screenOf(os.Stdout)})
}
