package policy

import (
	"path"
	"regexp"
	"strings"
)

const maxPath = 4096 // bytes

// slashes writes a path with forward slashes, and the drives of Git Bash and
// Cygwin as Windows does. Elsewhere a backslash is part of a name.
func (c *Context) slashes(p string) string {
	if !c.Windows {
		return p
	}
	p = strings.ReplaceAll(p, `\`, "/")
	rest := strings.TrimPrefix(p, "/cygdrive")
	if len(rest) >= 2 && rest[0] == '/' && isLetter(rest[1]) && (len(rest) == 2 || rest[2] == '/') {
		return rest[1:2] + ":/" + strings.TrimPrefix(rest[2:], "/")
	}
	return p
}

func isLetter(b byte) bool { return b|0x20 >= 'a' && b|0x20 <= 'z' }

func (c *Context) absolute(p string) bool {
	return strings.HasPrefix(p, "/") || c.Windows && len(p) >= 3 && isLetter(p[0]) && p[1] == ':' && p[2] == '/'
}

// locate gives a path as an absolute and clean one with forward slashes. Not ok:
// it begins at a home that is not known.
func (c *Context) locate(p, dir string) (string, bool) {
	p = c.slashes(p)
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		if c.Home == "" {
			return "", false
		}
		p = c.slashes(c.Home) + "/" + strings.TrimPrefix(p[1:], "/")
	case !c.absolute(p):
		p = dir + "/" + p
	}
	return path.Clean(p), true
}

// inside gives a path relative to the deepest root that holds it. Names are
// compared one by one, so that a folder beside a root is not in it.
func (c *Context) inside(file string) (rel string, ok bool) {
	for _, root := range c.Roots {
		if below, in := c.below(root, file); in && (!ok || len(below) < len(rel)) {
			rel, ok = below, true
		}
	}
	return rel, ok
}

// below gives a path relative to a folder that holds it, or is it.
func (c *Context) below(folder, file string) (string, bool) {
	folder = path.Clean(c.slashes(folder))
	equal := func(a, b string) bool { return a == b }
	if c.Windows {
		equal = strings.EqualFold
	}
	switch {
	case equal(folder, file):
		return ".", true
	case folder == "/" && strings.HasPrefix(file, "/"):
		return file[1:], true
	case len(file) > len(folder) && file[len(folder)] == '/' && equal(folder, file[:len(folder)]):
		return file[len(folder)+1:], true
	}
	return "", false
}

var reservedName = regexp.MustCompile(`(?i)^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])$`)

// foreignRoot says what is wrong with where a path begins: it is in a form of Windows'
// that goes around the rules for paths, or elsewhere in any form of Windows'. Such a path
// is opened by no tool, so it is not read either.
func (c *Context) foreignRoot(p string) string {
	rest := strings.ReplaceAll(p, `\`, "/")
	switch {
	case strings.HasPrefix(p, `\`) && (strings.HasPrefix(rest, "//?/") || strings.HasPrefix(rest, "//./") || strings.HasPrefix(rest, "/??/")),
		c.Windows && (strings.HasPrefix(rest, "//?/") || strings.HasPrefix(rest, "//./") || strings.HasPrefix(rest, "/??/")):
		return "the path goes around the system's own rules for paths"
	case !c.Windows && strings.HasPrefix(p, `\\`):
		return "the path names another machine, as Windows writes it"
	case !c.Windows && len(p) > 2 && isLetter(p[0]) && p[1] == ':' && rest[2] == '/':
		return "the path names a Windows drive"
	}
	return ""
}

// foreignName says what is wrong with a path whose names mean something else on
// Windows, empty when nothing is: devices, streams, names that lose their end,
// paths that go around the rules for paths. What Windows alone refuses is told
// only for Windows.
func (c *Context) foreignName(p string) string {
	if why := c.foreignRoot(p); why != "" {
		return why
	}
	p = c.slashes(p)
	if c.Windows && strings.HasPrefix(p, "//") {
		return "the path is on another machine"
	}
	if c.Windows && len(p) >= 2 && isLetter(p[0]) && p[1] == ':' {
		if len(p) < 3 || p[2] != '/' {
			return "the path begins at the current folder of a drive, which is not known"
		}
		p = p[2:]
	}
	for _, name := range strings.Split(p, "/") {
		stem, _, _ := strings.Cut(name, ".")
		switch {
		case name == "" || name == "." || name == "..":
		case reservedName.MatchString(strings.TrimRight(stem, " ")):
			return "the name " + name + " is a device on Windows"
		case strings.Contains(name, ":"):
			return "the name holds a colon, which is a stream on Windows"
		case strings.TrimRight(name, ". ") != name:
			return "the name ends in a dot or a blank, which Windows takes away"
		case strings.Contains(name, `\`):
			return "the name holds a backslash, which parts names on Windows"
		case c.Windows && strings.ContainsAny(name, `<>"|?*`):
			return "the name holds a character that Windows does not take"
		}
	}
	return ""
}

var (
	// processFile is what /proc tells of processes beside harmless numbers: their
	// environment and memory, and doors to other files.
	processFile = regexp.MustCompile(`^/proc/([^/]+|self/task/[^/]+|[0-9]+/task/[^/]+)/(environ|mem|root|cwd|exe|fd|fdinfo|map_files|ns|auxv|cmdline|maps)(/|$)`)
	kernelFile  = regexp.MustCompile(`^/(proc/(kcore|sysrq-trigger|sys|kmsg)|sys/(firmware|kernel|power))(/|$)`)
	plainDevice = regexp.MustCompile(`^/dev/(null|stdin|stdout|stderr|fd/[0-2])$`)
)

// offLimits says why nobody may touch a path, empty when that may be.
func (c *Context) offLimits(file string) (rule, reason string) {
	switch {
	case processFile.MatchString(file):
		return "process", "it tells what a process holds, secrets among it"
	case kernelFile.MatchString(file):
		return "kernel", "it belongs to the kernel"
	case strings.HasPrefix(file, "/dev/") && !plainDevice.MatchString(file):
		return "device", "it is a device"
	}
	for _, own := range c.Own {
		if _, in := c.below(own, file); in {
			return "own", "it belongs to kimi-acp itself: its settings, keys and records"
		}
		// Another spelling of the same place.
		if folded, at := foldPath(c.slashes(own)), foldPath(file); at == folded || strings.HasPrefix(at, folded+"/") {
			return "own", "it belongs to kimi-acp itself: its settings, keys and records"
		}
	}
	return "", ""
}
