package main

import (
	"fmt"
	"runtime/debug"
)

// version is set by the linker for releases.
var version = ""

// currentVersion is the release, or the commit that the program was built from.
func currentVersion() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" || info.Main.Version == "(devel)" {
		return "0.0.0-dev"
	}
	return info.Main.Version
}

func runVersion([]string) int {
	fmt.Println("kimi-acp", currentVersion())
	return 0
}
