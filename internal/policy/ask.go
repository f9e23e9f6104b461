package policy

import (
	"regexp"
	"slices"
	"strings"
)

// tools are programs whose second word says what they do, so that an answer can
// cover two words and whatever follows.
var tools = words(`npm pnpm yarn cargo go gradle mvn dotnet bundle rails mix poetry uv pdm hatch pip pip3 flutter dart swift zig
	cmake bazel bazelisk buck2 nx turbo lerna rush composer artisan helm terraform tofu gh glab hg svn jj brew stack cabal dune opam rebar3 lein sbt mill
	pytest tox nox rspec phpunit jest vitest mocha eslint prettier ruff mypy black golangci-lint staticcheck`)

// lone are tools without commands of their own: an answer covers the name alone.
var lone = words(`pytest tox nox rspec phpunit jest vitest mocha eslint prettier ruff mypy black golangci-lint staticcheck`)

// executing are second words that run whatever is named, or bring code in from
// elsewhere: an answer covers the very command, or nothing.
var (
	executing = words(`exec x dlx create init explore`)
	fetching  = words(`install i add ci get update upgrade publish push run-script remove uninstall login logout deploy apply destroy release sync link run generate tool start serve`)
)

var plainCommand = regexp.MustCompile(`^[a-z][a-z0-9:_-]*$`)

// ask says why a command is asked for, and what a lasting answer would cover.
func (w *walk) ask(argv []word, st state) {
	name := argv[0].text
	base := baseName(name)
	switch {
	case strings.ContainsAny(name, `/\`):
		w.find(once(classRun, "path-qualified", Visible(name)+" is a program of its own, whatever its name is"))
	case base == "kimi-acp" || slices.Contains([]string{"shutdown", "reboot", "halt", "poweroff", "init", "sudo", "doas", "su", "pkexec", "crontab", "at"}, name):
		w.find(once(classFloor, "system", name+" reaches beyond this session"))
	case isInterpreter(name):
		w.find(once(classRun, "interpreter", name+" runs a program of its own, no beginning of words says what it does"))
	case runners[name]:
		w.find(once(classRun, "runner", name+" can do more than its words say"))
	case slices.ContainsFunc(argv, func(v word) bool { return !v.literal() }):
		w.find(once(classRun, "dynamic words", "some of its words are known only when it runs"))
	default:
		w.offer(argv, st)
		return
	}
	if runsOthers(base) {
		w.hiddenCommands(argv, st)
	}
}

// offer asks with a lasting answer.
func (w *walk) offer(argv []word, st state) {
	f := finding{decision: Ask, class: classRun, rule: "command", reason: "no rule allows it"}
	if w.untrusted {
		f.rule, f.reason = "trust", "the workspace is not trusted to run its own code"
	}
	plain := w.plainArgv(argv)
	name, second := plain[0].text, ""
	if len(plain) > 1 {
		second = plain[1].text
	}
	exact := Rule{Decision: Allow, Kind: KindExact}
	for _, v := range plain {
		exact.Words = append(exact.Words, []string{v.text})
	}
	rule := exact
	f.lasts = Session
	switch {
	case risky(plain) || tools[name] && executing[second]:
		w.find(once(classRun, "command", "its options can run other programs"))
		return
	case name == "git" && plainCommand.MatchString(second) && !slices.Contains([]string{"config", "push", "submodule", "clean", "remote", "bisect", "filter-branch", "difftool", "mergetool", "daemon", "credential"}, second):
		rule = Rule{Decision: Allow, Kind: KindShell, Words: exact.Words[:2]}
	case name == "git" || tools[name] && fetching[second] && !(second == "run" && runsScript(plain)):
	case tools[name] && second == "run" && runsScript(plain):
		rule, f.lasts = Rule{Decision: Allow, Kind: KindShell, Words: exact.Words[:3]}, Project
	case lone[name]:
		rule, f.lasts = Rule{Decision: Allow, Kind: KindShell, Words: exact.Words[:1]}, Project
	case tools[name] && plainCommand.MatchString(second):
		rule, f.lasts = Rule{Decision: Allow, Kind: KindShell, Words: exact.Words[:2]}, Project
	}
	if rule.Kind == KindExact && !w.atStart(st) {
		f.decision = AskOnce
	}
	line := rule.String()
	if again, err := ParseRule(line); err != nil || again.String() != line {
		f.decision = AskOnce
	}
	f.key = []string{line}
	f.words = "the command " + strings.Join(texts(plain), " ")
	if rule.Kind == KindShell {
		f.words = "commands that begin with " + strings.Join(texts(plain[:len(rule.Words)]), " ")
	}
	w.find(f)
}

// runsScript tells whether words are those of npm run NAME and its like, where the
// third word says what happens.
func runsScript(argv []word) bool {
	return len(argv) > 2 && slices.Contains([]string{"npm", "pnpm", "yarn", "composer", "poetry", "pdm", "hatch"}, argv[0].text) && plainCommand.MatchString(argv[2].text)
}

// atStart tells whether a script stands where it began.
func (w *walk) atStart(st state) bool { return len(st.dirs) == 1 && st.dirs[0] == w.c.dir() }

// riskyOptions are options by which programs run others, or act on other files
// than those that their words seem to speak of. A rule that allows a beginning of
// words does not cover them.
var riskyOptions = map[string][]string{
	"git":    {"-c", "-C", "-p", "--paginate", "--config-env", "--exec-path", "--git-dir", "--work-tree", "--ext-diff", "--textconv", "--output", "--upload-pack", "--receive-pack", "--exec", "-x", "-O", "--open-files-in-pager", "--no-index", "-u", "--template", "--separate-git-dir", "--extcmd", "--tool", "-i", "--interactive", "--show-signature", "-S", "--gpg-sign"},
	"go":     {"-exec", "--exec", "-toolexec", "--toolexec", "-vettool", "--vettool", "-overlay", "--overlay", "-modfile", "--modfile", "-C", "-pkgdir", "-ldflags", "--ldflags", "-gccgoflags"},
	"cargo":  {"--config", "-Z", "--manifest-path", "-C"},
	"npm":    {"--script-shell", "--prefix", "-C", "--node-options", "--userconfig", "--globalconfig", "--shell", "-g", "--global"},
	"pnpm":   {"--script-shell", "-C", "--dir", "--shell-emulator", "--config", "-g", "--global"},
	"yarn":   {"--cwd", "--use-yarnrc", "--script-shell"},
	"pytest": {"-p", "-c", "--rootdir", "--confcutdir", "-o", "--override-ini", "--pdbcls"},
	"rg":     {"--pre", "--hostname-bin"},
	"jest":   {"--config", "-c", "--globalSetup", "--testRunner"},
	"eslint": {"--config", "-c", "--rulesdir", "--plugin", "--resolve-plugins-relative-to", "-f", "--format"},
	"gh":     {"--hostname"},
	"mvn":    {"-f", "--file", "-s", "--settings", "-gs"},
	"gradle": {"-I", "--init-script", "-b", "--build-file", "-c", "-g", "-p", "--project-dir"},
	"dotnet": {"--configfile"},
	"cmake":  {"-E", "-P"},
}

// safeShort are options of git's commands that share their letter with a risky one
// of others.
var safeShort = map[string][]string{
	"log": {"-p", "-S", "-i", "-O"}, "show": {"-p", "-S"}, "diff": {"-p", "-S", "-O"}, "stash": {"-p", "-u"}, "add": {"-p", "-i", "-u"}, "status": {"-u"},
	"grep": {"-i", "-p", "-c", "-C"}, "blame": {"-p", "-C", "-c", "-S"}, "cat-file": {"-p"}, "push": {"-u"}, "branch": {"-u", "-C", "-c", "-i"}, "checkout": {"-p"}, "commit": {"-u", "-c", "-C", "-p", "-i"},
	"shortlog": {"-c"}, "ls-files": {"-c", "-i", "-u"}, "switch": {"-c", "-C"}, "clean": {"-x"}, "rev-list": {"-i"}, "fetch": {"-p", "-u"}, "pull": {"-p"}, "cherry-pick": {"-x"}, "restore": {"-p", "-S"}, "reset": {"-p"}, "tag": {"-i"}, "worktree": {}, "reflog": {"-p", "-i"}, "whatchanged": {"-p"}, "ls-tree": {}, "diff-tree": {"-p", "-c"},
}

// risky tells whether a command has an option that no rule for a beginning of
// words covers.
func risky(argv []word) bool {
	options := riskyOptions[argv[0].text]
	command := ""
	for _, v := range argv[1:] {
		if v.text == "--" {
			break
		}
		if !strings.HasPrefix(v.text, "-") {
			if command == "" {
				command = v.text
			}
			if argv[0].text == "git" && (strings.Contains(v.text, "::") || strings.HasPrefix(v.text, "!")) {
				return true
			}
			continue
		}
		name, _, _ := strings.Cut(v.text, "=")
		for _, o := range options {
			short := len(o) == 2
			if argv[0].text == "git" && short && command != "" && slices.Contains(safeShort[command], o) {
				continue
			}
			if name == o || short && argv[0].text != "go" && strings.HasPrefix(v.text, o) && !strings.HasPrefix(v.text, "--") ||
				!short && argv[0].text == "git" && len(name) > 4 && strings.HasPrefix(o, name) {
				return true
			}
		}
	}
	return false
}
