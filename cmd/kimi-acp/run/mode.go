package run

import (
	"fmt"
	"strings"

	"kimi-acp/soul/tool"
)

// ParseMode reads the name of a mode. The error lists those that there are.
func ParseMode(name string) (tool.Mode, error) {
	var names []string
	for _, m := range []tool.Mode{tool.ModeDefault, tool.ModeAcceptEdits, tool.ModePlan, tool.ModeYolo} {
		if string(m) == name {
			return m, nil
		}
		names = append(names, string(m))
	}
	return "", fmt.Errorf("there is no mode %q; use one of %s", name, strings.Join(names, ", "))
}
