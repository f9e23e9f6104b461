// Package cmdline reads command lines in which flags and other words may stand in
// any order.
//
// It must not know what any flag means, and writes nothing itself; what package
// flag tells the user goes where the flag set says.
package cmdline

import "flag"

// Parse parses flags that may stand before, between and behind other words, which
// it gives in their order; behind "--" there are only words. The error is flag's,
// flag.ErrHelp among them, and the user was told of it.
func Parse(flags *flag.FlagSet, args []string) (words []string, err error) {
	for {
		if err := flags.Parse(args); err != nil {
			return nil, err
		}
		rest := flags.Args()
		if len(rest) == 0 {
			return words, nil
		}
		if n := len(args) - len(rest); n > 0 && args[n-1] == "--" {
			return append(words, rest...), nil
		}
		words, args = append(words, rest[0]), rest[1:]
	}
}
