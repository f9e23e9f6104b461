package tool

import (
	"fmt"
	"path/filepath"
	"strings"

	"kimi-acp/soul/wire"
)

// Sensitive tells whether a file is likely to hold secrets, by its path alone. No
// tool shows what is in such a file; its name is all that a model gets. Letter case
// never counts, so that no file system lets one through.
func Sensitive(path string) bool {
	path = strings.ToLower(filepath.ToSlash(path))
	name := path[strings.LastIndexByte(path, '/')+1:]
	switch name {
	case ".env.example", ".env.sample", ".env.template":
		return false
	case ".env", "credentials", ".netrc", "_netrc", ".npmrc", ".pypirc", ".git-credentials":
		return true
	}
	if strings.HasPrefix(name, ".env.") {
		return true
	}
	switch filepath.Ext(name) {
	case ".pem", ".p12", ".pfx", ".kdbx":
		return true
	}
	for _, key := range []string{"id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"} {
		rest, ok := strings.CutPrefix(name, key)
		if ok && (rest == "" || strings.ContainsRune("._-", rune(rest[0]))) && !strings.HasSuffix(rest, ".pub") {
			return true
		}
	}
	for _, folder := range []string{".aws/credentials", ".gcp/credentials"} {
		if strings.HasSuffix(path, folder) || strings.Contains(path, folder+"/") {
			return true
		}
	}
	return false
}

// withheld is the result of a call that would have shown a sensitive file.
func withheld(path string) wire.ToolReturnValue {
	return failure(fmt.Sprintf("%s is likely to hold secrets, so its content is not shown. Do not try to read it by other means; ask the user for what you need to know of it.", path), "Sensitive file withheld")
}
