package kernel

import (
	"strconv"
	"strings"
)

// version is a version of the Wire. Zero is what came before the handshake.
type version struct{ major, minor int }

// parseVersion reads "1.10". What is no version counts as the oldest.
func parseVersion(s string) version {
	major, minor, _ := strings.Cut(s, ".")
	a, err := strconv.Atoi(major)
	if err != nil {
		return version{}
	}
	b, err := strconv.Atoi(minor)
	if err != nil {
		return version{major: a}
	}
	return version{a, b}
}

// atLeast compares number by number: 1.10 comes after 1.2.
func (v version) atLeast(major, minor int) bool {
	return v.major > major || v.major == major && v.minor >= minor
}
