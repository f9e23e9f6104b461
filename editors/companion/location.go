package companion

import (
	"net/url"
	"path/filepath"
	"strings"
)

// maxURI bounds the URIs that are read, in bytes.
const maxURI = 16 << 10

// pathOf gives the file that a URI names, "" when it names none: an untitled buffer,
// another machine's file, something that is no URI.
func pathOf(uri string) string {
	if len(uri) > maxURI {
		return ""
	}
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || (u.Host != "" && u.Host != "localhost") {
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
