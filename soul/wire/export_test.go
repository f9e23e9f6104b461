package wire

import (
	"maps"
	"slices"
)

// TypeNames lists the names that Decode understands, sorted.
func TypeNames() []string {
	return slices.Sorted(maps.Keys(registry))
}

// MaxMerged is the bound of a merged message's text, in bytes.
const MaxMerged = maxMerged
