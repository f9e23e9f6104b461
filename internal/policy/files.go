package policy

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// located is a path that a command names: clean, and as the system will follow it,
// to which a .. behind a link is something else.
type located struct{ clean, raw string }

// facts is what is known of a path that a command names.
func (c *Context) facts(file located) PathFacts {
	if c.Look == nil {
		return PathFacts{Path: file.clean}
	}
	p := c.Look(file.raw)
	p.Path = file.clean
	return p
}

// at gives a path that a command in a folder names.
func (c *Context) at(name, dir string) (located, bool) {
	clean, ok := c.locate(name, dir)
	raw := c.slashes(name)
	switch {
	case strings.HasPrefix(raw, "~"):
		raw = clean
	case !c.absolute(raw):
		raw = strings.TrimSuffix(dir, "/") + "/" + raw
	}
	return located{clean: clean, raw: raw}, ok
}

// everywhere gives a word as paths, one for each place where the script may stand.
// Not ok: it cannot be told, and is asked for.
func (w *walk) everywhere(f word, st state) (paths []located, ok bool) {
	if f.dynamic {
		w.find(once(classRun, "dynamic path", "which files it touches is known only when it runs"))
		return nil, false
	}
	dirs := st.dirs
	if w.c.absolute(w.c.slashes(f.text)) {
		dirs = []string{"/"}
	}
	if len(dirs) == 0 {
		w.find(once(classRun, "unknown folder", "where it runs is known only when it runs"))
		return nil, false
	}
	for _, dir := range dirs {
		// ~ was expanded where the shell does it; what is left is a name.
		name := f.text
		if strings.HasPrefix(name, "~") {
			name = "./" + name
		}
		if p, ok := w.c.at(name, dir); ok {
			paths = append(paths, p)
		}
	}
	return paths, true
}

// readWord judges reading a file that a word names.
func (w *walk) readWord(f word, st state, namesOnly bool) {
	if f.text == "-" && !f.glob {
		return
	}
	if f.text == "" && !f.dynamic {
		return
	}
	paths, ok := w.everywhere(f, st)
	if !ok {
		return
	}
	if f.glob && leavesByGlob(f.text) {
		w.find(once(classRead, "pattern", "which folders the pattern leads to is known only when it runs"))
	}
	if f.glob && !namesOnly && seeksSecrets(f.text) {
		w.find(once(classRead, "pattern", "the pattern means files that usually hold secrets"))
	}
	for _, p := range paths {
		if endlessDevice(p.clean) {
			// Not a file to read, but bytes for a command that takes as many as it needs.
			w.find(once(classRead, "device", "it reads from "+p.clean+", which never ends"))
			continue
		}
		facts := PathFacts{Path: p.clean}
		if !f.glob {
			facts = w.c.facts(p)
		}
		w.find(w.e.judgeRead(facts, w.c, namesOnly))
		if w.part > 0 {
			w.parts[w.part-1].Reads = append(w.parts[w.part-1].Reads, p.clean)
		}
	}
}

// leavesByGlob tells whether a pattern climbs after a place that is not known.
func leavesByGlob(pattern string) bool {
	i := strings.IndexAny(pattern, "*?[")
	return i >= 0 && strings.Contains(pattern[i:]+"/", "/../")
}

// secretNames are names by which a pattern is known that seeks secrets, and
// plainName is one by which a pattern is known that means everything.
var (
	secretNames = []string{".env", ".env.local", "id_rsa", "id_ed25519", "server.pem", "server.key", ".npmrc", ".netrc", "credentials", ".git-credentials"}
	plainName   = "x"
)

func seeksSecrets(pattern string) bool {
	base := path.Base(pattern)
	if ok, err := path.Match(base, plainName); ok && err == nil {
		return false
	}
	for _, name := range secretNames {
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(base, ".") {
			continue
		}
		if ok, err := path.Match(base, name); ok || err != nil {
			return true
		}
	}
	return false
}

// writeWord judges writing a file that a word names, by a redirection or an option.
// expected says that a rule allows the command to write, so that an ordinary file
// of the workspace needs no answer of its own.
func (w *walk) writeWord(f word, st state, expected bool) {
	if f.glob {
		f.dynamic = true
	}
	if f.dynamic {
		w.protected(f, st)
	}
	paths, ok := w.everywhere(f, st)
	if !ok {
		return
	}
	for _, p := range paths {
		if strings.HasPrefix(p.clean, "/dev/tcp/") || strings.HasPrefix(p.clean, "/dev/udp/") {
			w.find(once(classRun, "network", "it connects to another machine"))
			continue
		}
		found := w.e.judgeWrite(w.c.facts(p), w.c, true)
		if expected && found.class == classEdit && found.decision == Ask {
			found = allowed
		}
		w.find(found)
		if w.part > 0 && !plainDevice.MatchString(p.clean) {
			w.parts[w.part-1].Writes = append(w.parts[w.part-1].Writes, p.clean)
		}
	}
}

func (w *walk) redirects(redirs []*syntax.Redirect, st state) {
	for _, r := range redirs {
		w.redirect(r, st)
	}
}

func (w *walk) redirect(r *syntax.Redirect, st state) {
	if r.N != nil && !isDigits(r.N.Value) {
		w.find(once(classRun, "variable", "it opens a file under a name that is a variable"))
	}
	if r.Hdoc != nil {
		w.word(r.Hdoc, st)
		return
	}
	targets := w.words(r.Word, st)
	switch r.Op {
	case syntax.WordHdoc, syntax.Hdoc, syntax.DashHdoc:
		return
	case syntax.DplIn, syntax.DplOut:
		if len(targets) == 1 && targets[0].literal() && (isDigits(strings.TrimSuffix(targets[0].text, "-")) || targets[0].text == "-") {
			return
		}
	}
	for _, target := range targets {
		switch r.Op {
		case syntax.RdrIn, syntax.DplIn:
			if strings.HasPrefix(target.text, "/dev/tcp/") || strings.HasPrefix(target.text, "/dev/udp/") {
				w.find(once(classRun, "network", "it connects to another machine"))
				continue
			}
			w.readWord(target, st, false)
		default:
			w.writeWord(target, st, false)
		}
	}
}

// loose looks at the words of a command of which is not known what it does with
// them: a path that nobody may touch, or that is protected, counts all the same.
func (w *walk) loose(argv []word, st state) {
	for _, a := range argv[1:] {
		for _, text := range pathsIn(a.text) {
			w.protected(a.with(text), st)
		}
	}
}

// pathsIn gives what in a word may be a path: the word, what follows = or the
// letter of an option, or what stands on either side of @ or a colon.
func pathsIn(text string) []string {
	all := []string{text}
	if _, value, ok := strings.Cut(text, "="); ok && value != "" {
		all = append(all, value)
	}
	if i := strings.LastIndexAny(text, "@:"); i >= 0 && i+1 < len(text) {
		all = append(all, text[:i], text[i+1:])
	}
	if len(text) > 2 && text[0] == '-' && text[1] != '-' {
		all = append(all, text[2:])
	}
	return all
}

// protected judges a path that a command may read or write, by the rules that hold
// whatever it does.
func (w *walk) protected(f word, st state) {
	dirs := st.dirs
	if len(dirs) == 0 {
		dirs = []string{w.c.dir()}
	}
	if f.text == "" || len(f.text) > maxPath || strings.ContainsAny(f.text, "\n") {
		return
	}
	for _, dir := range dirs {
		p, ok := w.c.at(f.text, dir)
		if !ok {
			continue
		}
		facts := PathFacts{Path: p.clean}
		if f.literal() {
			facts = w.c.facts(p)
		}
		places, bad := w.c.places(facts)
		if places == nil {
			if bad.rule != "path" {
				w.find(bad)
			}
			continue
		}
		for _, place := range places {
			name := w.c.fileName(place)
			for _, kind := range []Kind{KindEdit, KindRead} {
				for _, rank := range []rank{floorRank, givenRank, readyRank} {
					f := w.e.tightest(kind, rank, name, w.c, false)
					if f.decision == Ask {
						continue // asked for anyway, and the answer is about the command
					}
					if kind == KindEdit && f.decision == AskOnce {
						f.rule = "protected path"
					}
					if f.decision != Allow {
						w.find(f)
					}
				}
			}
		}
	}
}

// endlessDevice reports whether a path is a device that only makes bytes.
func endlessDevice(path string) bool {
	switch path {
	case "/dev/zero", "/dev/random", "/dev/urandom":
		return true
	}
	return false
}
