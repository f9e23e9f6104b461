package session

import (
	"crypto/md5"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"strings"
)

const maxID = 64

// KernelPrefix begins the ids of the sessions in which other kernels keep the history of
// sessions of ours. They are not listed, and are deleted with those.
const KernelPrefix = "kernel-"

// checkID refuses what could be anything but the name of a folder.
func checkID(id string) error {
	if len(id) == 0 || len(id) > maxID {
		return fmt.Errorf("%w: it has 1 to %d characters, not %d", ErrID, maxID, len(id))
	}
	for _, c := range []byte(id) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return fmt.Errorf("%w: it has letters, digits, - and _ only, not %q", ErrID, id)
		}
	}
	return nil
}

// cleanWorkDir gives a work dir as it is written and hashed. Links are not
// resolved: kimi-cli does not, and would look elsewhere.
func cleanWorkDir(dir string) (string, error) {
	if !filepath.IsAbs(dir) || strings.ContainsRune(dir, 0) {
		return "", fmt.Errorf("the work dir of a session is an absolute path, not %q", dir)
	}
	return filepath.Clean(dir), nil
}

// folderOf is the name of the folder with a work dir's sessions. The sum is the one
// that kimi-cli takes; it names, and protects nothing.
func folderOf(workDir string) string {
	sum := md5.Sum([]byte(workDir))
	return hex.EncodeToString(sum[:])
}

// isFolderName tells whether a name may come from folderOf. The folders of other
// kinds of machines have the kind before the sum.
func isFolderName(name string) bool {
	raw, err := hex.DecodeString(name)
	return err == nil && len(raw) == md5.Size && strings.ToLower(name) == name
}
