package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
)

// document is a file that could be read as TOML or JSON; what it says is not yet judged.
type document struct {
	path string
	root map[string]any
	keys keyPlaces // none for JSON
}

// fileError says why a file cannot be read, and where.
type fileError struct {
	path         string
	line, column int // 0: the file as a whole
	what         string
}

// Error gives what is wrong, without the place.
func (e *fileError) Error() string { return e.what }

// readDocument reads a file. It gives nil for one that does not exist, and a *fileError
// for one that cannot be read.
func readDocument(path string) (*document, error) {
	data, err := readFile(path)
	if data == nil || err != nil {
		return nil, err
	}
	return parseDocument(path, data)
}

// readFile gives the bytes of a regular file, nil if there is none.
func readFile(path string) ([]byte, error) {
	fail := func(what string) ([]byte, error) { return nil, &fileError{path: path, what: what} }
	// Looked at before it is opened: opening a pipe would wait for a writer.
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return fail("the file cannot be read (" + reason(err) + ")")
	case info.IsDir():
		return fail("this is a folder, not a file")
	case !info.Mode().IsRegular():
		return fail("this is not a regular file")
	}
	f, err := os.Open(path)
	if err != nil {
		return fail("the file cannot be read (" + reason(err) + ")")
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return fail("the file cannot be read (" + reason(err) + ")")
	case len(data) > maxFile:
		return fail(fmt.Sprintf("the file has more than %d KiB", maxFile>>10))
	}
	return data, nil
}

// reason is an error without the path, which stands before it already.
func reason(err error) string {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return err.Error()
}

// parseDocument takes bytes apart: JSON if the path ends with .json, else TOML. An error
// is a *fileError.
func parseDocument(path string, data []byte) (*document, error) {
	data, what := decodeText(data)
	if what != "" {
		return nil, &fileError{path: path, what: what}
	}
	if strings.EqualFold(filepath.Ext(path), ".json") {
		return parseJSON(path, data)
	}
	return parseTOML(path, data)
}

// decodeText takes the byte order mark off, and says what is wrong with a file that is
// not UTF-8 text.
func decodeText(data []byte) (text []byte, what string) {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")) || bytes.HasPrefix(data, []byte("\xfe\xff")):
		return nil, "the file is saved as UTF-16; save it as UTF-8"
	case bytes.IndexByte(data, 0) >= 0:
		return nil, "the file holds zero bytes: it is no text, or it is saved as UTF-16; save it as UTF-8"
	case !utf8.Valid(data):
		return nil, "the file is not UTF-8 text; save it as UTF-8"
	}
	return bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")), ""
}

func parseTOML(path string, data []byte) (*document, error) {
	d := &document{path: path, root: map[string]any{}}
	if err := toml.Unmarshal(data, &d.root); err != nil {
		failed := &fileError{path: path, what: "this is not valid TOML (" + oneLine(strings.TrimPrefix(err.Error(), "toml: ")) + ")"}
		var at *toml.DecodeError
		if errors.As(err, &at) {
			failed.line, failed.column = at.Position()
		}
		return nil, failed
	}
	d.keys = findKeys(data)
	return d, nil
}

func parseJSON(path string, data []byte) (*document, error) {
	d := &document{path: path, root: map[string]any{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return d, nil
	}
	err := json.Unmarshal(data, &d.root)
	if err == nil {
		return d, nil
	}
	failed := &fileError{path: path, what: "this is not a JSON object"}
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		failed.what = "this is not valid JSON (" + oneLine(at.Error()) + ")"
		before := data[:min(max(at.Offset-1, 0), int64(len(data)))]
		failed.line = bytes.Count(before, []byte("\n")) + 1
		failed.column = len(before) - bytes.LastIndexByte(before, '\n')
	}
	return nil, failed
}
