package lsp

import "strings"

// lastName is the last part of a name with what it belongs to: Open of os.File.Open,
// of (*File).Open, of File::Open and of File#Open.
func lastName(name string) string {
	return name[strings.LastIndexAny(name, ".:#)")+1:]
}

// qualified puts a name behind what it belongs to.
func qualified(of, name string) string {
	if of == "" || strings.Contains(name, ".") {
		return name
	}
	return of + "." + name
}

// plain writes a name with its parts joined by dots alone.
func plain(name string) string {
	return strings.NewReplacer("(", "", ")", "", "*", "", "::", ".", "#", ".", "/", ".").Replace(name)
}

// isNamed tells whether something that is called full may be meant by name, which may
// leave out what it belongs to, or say more of it.
func isNamed(full, name string) bool {
	full, name = plain(full), plain(name)
	return full == name || strings.HasSuffix(full, "."+name) || strings.HasSuffix(name, "."+full)
}
