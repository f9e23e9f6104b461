package policy

import (
	"path"
	"slices"
	"strings"
)

// denied holds a command against rules that ask or deny, and against what no rule
// can allow.
func (w *walk) denied(argv []word, st state) {
	for _, s := range w.e.given {
		if s.Decision == Allow || s.Kind != KindShell && s.Kind != KindExact {
			continue
		}
		if slices.ContainsFunc(spellings(texts(argv)), func(words []string) bool { return s.prefixOf(words, equalWord) }) {
			w.find(floor(max(s.Decision, AskOnce), s.String(), because(s.Rule, Visible(argv[0].text))))
		}
	}
	w.catastrophe(argv, st)
}

// maxLeading is how many options before a command are passed over.
const maxLeading = 32

// spellings are a command line as rules that deny see it: the program by its bare
// name, with and without the options that stand before its command.
func spellings(argv []string) [][]string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(argv[0], `\`, "/")))
	name = strings.TrimSuffix(name, ".exe")
	plain := append([]string{name}, argv[1:]...)
	all := [][]string{plain}
	for i := 1; i < min(len(argv), maxLeading) && strings.HasPrefix(argv[i], "-"); i++ {
		all = append(all, append([]string{name}, argv[i+1:]...))
		all = append(all, append([]string{name}, argv[min(i+2, len(argv)):]...))
		if name == "git" && slices.Contains([]string{"-C", "-c", "--git-dir", "--work-tree", "--namespace"}, argv[i]) {
			i++
			all = append(all, append([]string{name}, argv[min(i+1, len(argv)):]...))
		}
	}
	return all
}

// hiddenCommands looks for commands in the words of one that runs others: each
// word may begin one, or be a script.
func (w *walk) hiddenCommands(argv []word, st state) {
	for i := 1; i < len(argv); i++ {
		if argv[i].text != "" && !strings.HasPrefix(argv[i].text, "-") {
			w.denied(argv[i:], st)
		}
		if strings.ContainsAny(argv[i].text, " \t\n;&|") {
			w.deniedIn(argv[i].text, st)
		}
	}
}

// deniedIn walks a text as a script and keeps only what is denied: whether it is a
// script is not known.
func (w *walk) deniedIn(text string, st state) {
	if w.scripts >= maxScripts {
		return
	}
	inner := &walk{e: w.e, c: w.c, scripts: w.scripts, rounds: 1}
	inner.script(text, st)
	for _, f := range inner.findings {
		if f.decision == Deny {
			w.find(f)
		}
	}
}

// catastrophe finds what is never meant: deleting or handing over the system, the
// home or the workspace as a whole, and changing our own trust.
func (w *walk) catastrophe(argv []word, st state) {
	name := strings.TrimSuffix(path.Base(argv[0].text), ".exe")
	words := argv[1:]
	switch name {
	case "rm", "chmod", "chown", "chgrp", "shred", "srm":
		if !recursive(words) {
			return
		}
	case "find":
		if !slices.ContainsFunc(words, func(v word) bool { return v.text == "-delete" || v.text == "rm" || v.text == "shred" }) {
			return
		}
		for i, v := range words {
			if strings.HasPrefix(v.text, "-") {
				words = words[:i]
				break
			}
		}
	case "rmdir", "mv", "unlink":
	case "kimi-acp":
		if len(words) > 0 && (words[0].text == "trust" || words[0].text == "login") {
			w.find(floor(Deny, "own", "trust and keys are the user's to give"))
		}
		return
	default:
		return
	}
	for _, v := range words {
		target, ok := w.vital(v, st)
		if _, within := w.c.inside(target); ok && within && name == "find" {
			continue // what it looks for in the workspace is some files, not all
		}
		if ok {
			w.find(floor(Deny, "catastrophe", name+" would take away "+Visible(target)+" as a whole"))
		}
	}
}

func recursive(words []word) bool {
	return slices.ContainsFunc(words, func(v word) bool {
		return v.text == "--recursive" || v.text == "--no-preserve-root" ||
			strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "--") && strings.ContainsAny(v.text, "rR")
	})
}

// vital tells whether a word names the system, a home or a whole workspace.
func (w *walk) vital(v word, st state) (target string, ok bool) {
	text := v.text
	if v.glob && (text == "*" || text == ".*") {
		text = "./*"
	}
	if strings.HasPrefix(text, "-") || text == "" {
		return "", false
	}
	for _, all := range []string{"/*", "/.*", "/{*,.*}", "/."} {
		text = strings.TrimSuffix(text, all)
	}
	everything := strings.HasSuffix(v.text, "*") && text != v.text
	if text == "" {
		return "/", true
	}
	if v.dynamic {
		for _, home := range []string{"$HOME", "${HOME}"} {
			if strings.TrimSuffix(text, "/") == home {
				return home, true
			}
		}
		return "", false
	}
	dirs := st.dirs
	if len(dirs) == 0 {
		dirs = []string{w.c.dir()}
	}
	for _, dir := range dirs {
		p, known := w.c.locate(text, dir)
		if !known || v.glob && !everything {
			continue
		}
		if w.c.isVital(p, everything) {
			return p, true
		}
	}
	return "", false
}

// isVital tells whether a folder holds the system, a home or the workspace. What is
// in the workspace's own folder may go, the folder itself may not.
func (c *Context) isVital(p string, contents bool) bool {
	depth := strings.Count(strings.Trim(p, "/"), "/")
	if p == "/" || c.Windows && len(p) <= 3 && strings.HasSuffix(strings.TrimSuffix(p, "/"), ":") {
		return true
	}
	for _, root := range c.Roots {
		if below, in := c.below(p, c.slashes(root)); in && (below != "." || !contents) {
			return true
		}
	}
	if c.Home != "" {
		if _, in := c.below(p, c.slashes(c.Home)); in {
			return true
		}
	}
	if _, in := c.inside(p); in {
		return false
	}
	first, _, _ := strings.Cut(strings.Trim(strings.ToLower(strings.TrimPrefix(p, "/")), "/"), "/")
	system := []string{"bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "opt", "proc", "root", "run", "sbin", "srv", "sys", "usr", "var", "users", "system", "library", "applications", "private", "volumes", "mnt", "media", "nix"}
	if depth == 0 {
		return slices.Contains(system, first)
	}
	return depth == 1 && slices.Contains([]string{"usr", "var", "etc", "boot", "home", "users", "system", "lib"}, first) && p != "/var/tmp"
}
