package fileop

import (
	"fmt"
	"strings"
)

// deviceNames are names that mean a device on Windows, in any folder and with any
// ending.
var deviceNames = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$", "CLOCK$"}

// windowsPath refuses forms in which Windows names something else than the file that
// one reads: devices, streams, and spellings that it takes for other names. The first
// kind is refused on every system, since a path that begins with a drive or with two
// backslashes is never a file's name in a folder; the rest are names like others
// elsewhere.
func windowsPath(path string, onWindows bool) error {
	drive := len(path) >= 3 && path[1] == ':' && (path[2] == '\\' || path[2] == '/') && isLetter(path[0])
	switch {
	case strings.HasPrefix(path, `\\?\`), strings.HasPrefix(path, `\\.\`), strings.HasPrefix(path, `\??\`),
		onWindows && (strings.HasPrefix(path, "//?/") || strings.HasPrefix(path, "//./")):
		return fmt.Errorf("%w: %q names a device; write the plain path", ErrPath, path)
	case !onWindows && (drive || strings.HasPrefix(path, `\\`)):
		return fmt.Errorf("%w: %q is a path of Windows, and this is none", ErrPath, path)
	case !onWindows:
		return nil
	}
	if drive {
		path = path[2:]
	}
	for part := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '\\' || r == '/' }) {
		if err := windowsName(part); err != nil {
			return fmt.Errorf("%w: %w", ErrPath, err)
		}
	}
	return nil
}

// windowsName judges one part of a path.
func windowsName(part string) error {
	if part == "." || part == ".." {
		return nil
	}
	stem, _, _ := strings.Cut(part, ".")
	stem = strings.TrimRight(stem, " ")
	device := len(stem) == 4 && strings.Trim(stem[3:], "0123456789") == "" && (strings.EqualFold(stem[:3], "COM") || strings.EqualFold(stem[:3], "LPT"))
	for _, name := range deviceNames {
		device = device || strings.EqualFold(stem, name)
	}
	switch {
	case strings.Contains(part, ":"):
		return fmt.Errorf("%q names a stream of a file", part)
	case strings.HasSuffix(part, ".") || strings.HasSuffix(part, " "):
		return fmt.Errorf("%q ends with a dot or a blank, which Windows drops", part)
	case device:
		return fmt.Errorf("%q means a device", part)
	case isShortName(part):
		return fmt.Errorf("%q looks like the short form of another name; write the long one", part)
	}
	return nil
}

// isShortName tells names like PROGRA~1.TXT, which Windows gives to long ones.
func isShortName(part string) bool {
	stem, ending, _ := strings.Cut(part, ".")
	at := strings.LastIndexByte(stem, '~')
	if at < 1 || len(stem) > 8 || len(ending) > 3 || at == len(stem)-1 {
		return false
	}
	return strings.Trim(stem[at+1:], "0123456789") == ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
