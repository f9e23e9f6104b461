package acp

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"kimi-acp/fileop"
	"kimi-acp/internal/jsonrpc"
)

// sessionRoots reads and checks cwd and additionalDirectories. The same directory
// counts once.
func sessionRoots(p members) ([]string, error) {
	cwd, err := p.text("cwd")
	if err != nil {
		return nil, err
	}
	if err := checkRoot("cwd", cwd); err != nil {
		return nil, err
	}
	roots := []string{filepath.Clean(cwd)}
	more, _ := p.list("additionalDirectories")
	for i, raw := range more {
		var dir *string
		if json.Unmarshal(raw, &dir) != nil || dir == nil {
			continue // the schema: bad items are dropped
		}
		if err := checkRoot(fmt.Sprintf("additionalDirectories[%d]", i), *dir); err != nil {
			return nil, err
		}
		if root := filepath.Clean(*dir); !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
		if len(roots) > maxRoots {
			return nil, invalid("additionalDirectories: a session has at most %d directories", maxRoots)
		}
	}
	return roots, nil
}

func checkRoot(name, dir string) error {
	switch {
	case dir == "":
		return invalid("%s is empty; it must be an absolute path", name)
	case strings.ContainsRune(dir, 0):
		return invalid("%s contains a NUL byte", name)
	case !filepath.IsAbs(dir):
		return invalid("%s must be an absolute path, not %q", name, clip(dir))
	}
	return nil
}

// openRoots opens the folders of a session. An error says which of them cannot be.
func openRoots(roots []string) (*fileop.Disk, error) {
	disk, err := fileop.OpenDisk(roots...)
	if err != nil {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "Invalid params: " + clip(err.Error())}
	}
	return disk, nil
}
