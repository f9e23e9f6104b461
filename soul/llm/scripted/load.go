package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// maxFile bounds a script file, in bytes.
const maxFile = 16 << 20

// Load reads a file of scripts: a JSON array of strings, or text that lines of
// `---` divide into scripts. A leading `~` stands for the home directory. The
// file may have up to 16 MiB. An empty path is the error of a setting that is
// missing.
func Load(path string) ([]string, error) {
	if path == "" {
		return nil, errors.New("KIMI_SCRIPTED_ECHO_SCRIPTS is required for _scripted_echo.") //nolint:staticcheck // the text is fixed by the protocol's tests
	}
	path, err := expandHome(path)
	if err != nil {
		return nil, err
	}
	text, err := read(path)
	if err != nil {
		return nil, err
	}
	return split(text)
}

// expandHome replaces a leading `~` that stands alone or before a slash.
func expandHome(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "~")
	if !ok || (rest != "" && !os.IsPathSeparator(rest[0])) {
		return path, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("expand %s: %w", path, err)
	}
	return filepath.Join(home, rest), nil
}

func read(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("Scripted echo file not found: %s", path) //nolint:staticcheck // fixed text
	}
	if err != nil {
		return "", fmt.Errorf("open scripted echo file: %w", err)
	}
	defer func() { _ = f.Close() }() // only read: nothing can be lost
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read scripted echo file: %w", err)
	case len(data) > maxFile:
		return "", fmt.Errorf("scripted echo file %s has more than %d bytes", path, maxFile)
	case !utf8.Valid(data):
		return "", fmt.Errorf("scripted echo file %s is not UTF-8 text", path)
	}
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), nil
}

func split(text string) ([]string, error) {
	if !json.Valid([]byte(text)) {
		var scripts []string
		for chunk := range strings.SplitSeq(text, "\n---\n") {
			if chunk = strings.TrimFunc(chunk, isSpace); chunk != "" {
				scripts = append(scripts, chunk)
			}
		}
		if scripts == nil {
			return nil, errors.New(`Scripted echo file must be a JSON array of strings or a text file split by '\n---\n'.`) //nolint:staticcheck // fixed text
		}
		return scripts, nil
	}
	var items []*string // pointers, since null is not a string
	if err := json.Unmarshal([]byte(text), &items); err != nil || items == nil {
		return nil, errNotStrings()
	}
	scripts := make([]string, len(items))
	for i, item := range items {
		if item == nil {
			return nil, errNotStrings()
		}
		scripts[i] = *item
	}
	return scripts, nil
}

func errNotStrings() error {
	return errors.New("Scripted echo JSON must be an array of strings.") //nolint:staticcheck // fixed text
}
