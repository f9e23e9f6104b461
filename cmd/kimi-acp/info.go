package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"kimi-acp/soul/wireserver"
)

// runInfo says which versions of what the program speaks. Clients of kimi-cli's Wire ask
// for that before they start it.
func runInfo(args []string) int {
	flags := flag.NewFlagSet("info", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "print the information as JSON, with the names that kimi-cli gives")
	if err := flags.Parse(args); errors.Is(err, flag.ErrHelp) {
		return 0
	} else if err != nil {
		return 2
	}
	return printInfo(os.Stdout, *asJSON)
}

func printInfo(out io.Writer, asJSON bool) int {
	info := wireserver.Versions()
	if !asJSON {
		fmt.Fprintf(out, "kimi-acp version: %s\nspeaks the Wire as: %s %s\nagent files: %s\nwire protocol: %s\n",
			currentVersion(), info.ServerName, info.ServerVersion, info.AgentSpecs[0], info.Wire)
		return 0
	}
	raw, err := json.Marshal(info)
	if err != nil {
		fmt.Fprintln(os.Stderr, "kimi-acp info:", err)
		return 1
	}
	fmt.Fprintf(out, "%s\n", raw)
	return 0
}
