// Package fileuri turns the file URIs of language servers and their clients into paths
// and back. It must not know who speaks, nor look at the disk.
package fileuri

import (
	"net/url"
	"path/filepath"
	"strings"
)

// MaxBytes bounds the URIs that are read.
const MaxBytes = 16 << 10

// Of names a file, by its absolute path.
func Of(path string) string {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/x
		slashed = "/" + slashed
	}
	return (&url.URL{Scheme: "file", Path: slashed}).String()
}

// Path gives the file that a URI names, absolute and clean, and "" when it names none:
// an untitled buffer, another machine's file, something that is no URI.
func Path(uri string) string {
	if len(uri) > MaxBytes {
		return ""
	}
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || u.Host != "" && u.Host != "localhost" {
		return ""
	}
	path := u.Path
	if len(path) >= 3 && path[0] == '/' && path[2] == ':' { // /C:/x
		path = strings.ToUpper(path[1:2]) + path[2:]
	}
	path = filepath.FromSlash(path)
	if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return ""
	}
	return filepath.Clean(path)
}
