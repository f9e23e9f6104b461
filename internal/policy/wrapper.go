package policy

import (
	"regexp"
	"slices"
	"strings"
)

// wrapper is a program that runs the command in its words and adds nothing to what
// that may do. Only those are seen through; the rest are in runners.
type wrapper struct {
	options  []string // taken alone
	values   []string // followed by a value
	operands int      // words before the command
	assigns  bool     // name=value may stand before the command
}

var wrappers = map[string]wrapper{
	"timeout": {options: []string{"-v", "--verbose", "--foreground", "--preserve-status"}, values: []string{"-k", "--kill-after", "-s", "--signal"}, operands: 1},
	"nice":    {values: []string{"-n", "--adjustment"}},
	"ionice":  {options: []string{"-t"}, values: []string{"-c", "-n"}},
	"stdbuf":  {values: []string{"-i", "-o", "-e"}},
	"time":    {options: []string{"-p", "-v"}},
	"command": {},
	"builtin": {},
	"env":     {assigns: true},
}

// runners run other commands in a way of their own: as somebody else, elsewhere,
// later, often, or as a text. They are asked for each time.
var runners = words(`
	sudo doas su pkexec runuser gosu run0 chroot unshare nsenter setpriv capsh bwrap firejail
	nohup setsid exec eval source . trap coproc disown bg
	xargs parallel watch entr flock script strace ltrace gdb lldb valgrind perf setarch linux32 linux64 taskset chrt
	busybox toybox ssh sshpass mosh rsh docker podman nerdctl kubectl oc vagrant multipass lxc systemd-run at batch crontab
	systemctl launchctl service schtasks start-stop-daemon screen tmux expect unbuffer socat nc ncat netcat telnet
	npx bunx pnpx uvx pipx tsx ts-node concurrently nodemon dotenv direnv nix-shell nix mise asdf volta
	enable hash alias unalias bind complete compgen set shopt readonly export declare typeset local unset read mapfile readarray let pushd popd umask ulimit
	find fd fdfind caffeinate xdg-open open start cmd powershell pwsh wsl osascript
	tee ln install dd`)

// interpreters run a text as a program. With them no prefix of words says what
// happens.
var interpreters = words(`
	sh bash dash ash zsh ksh mksh fish csh tcsh rbash python pypy node nodejs deno bun ruby irb perl php lua luajit
	awk gawk mawk nawk sed tclsh wish Rscript R julia ghci runghc scala groovy jshell elixir iex erl ocaml swipl guile racket clojure bb sbcl
	sqlite3 psql mysql mongosh redis-cli ed ex vi vim nvim view emacs nano pico less more most man info m4 dc gnuplot octave jq yq osqueryi
	java javaw dotnet-script tsc-watch make gmake ninja just task rake ant`)

var versioned = regexp.MustCompile(`^(python|pypy|ruby|perl|php|lua|node|bash|pip)[0-9][0-9.]*$`)

func words(list string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(list) {
		set[w] = true
	}
	return set
}

func isShell(name string) bool {
	return slices.Contains([]string{"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "rbash"}, baseName(name))
}

func baseName(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

func isInterpreter(name string) bool { return interpreters[name] || versioned.MatchString(name) }

// runsOthers tells whether a program runs what stands in its words or its input.
func runsOthers(name string) bool {
	_, wraps := wrappers[name]
	return wraps || runners[name] || isInterpreter(name)
}

// unwrap judges the command behind a wrapper. What would be asked for with a
// lasting answer is asked for each time: an answer covers no wrapper.
func (w *walk) unwrap(argv []word, st state) (ways, bool) {
	spec := wrappers[argv[0].text]
	if argv[0].text == "command" && len(argv) > 1 && (argv[1].text == "-v" || argv[1].text == "-V") {
		return ways{}, false
	}
	inner, ok := w.behind(spec, argv[1:])
	if !ok || len(inner) == 0 {
		w.find(once(classRun, "wrapper", argv[0].text+" runs a command in a way that is not understood"))
		w.hiddenCommands(argv, st)
		return same(st), true
	}
	from := len(w.findings)
	out := w.simple(inner, st)
	for i := range w.findings[from:] {
		if f := &w.findings[from+i]; f.decision == Ask && f.class != classRead {
			f.decision = AskOnce
		}
	}
	return out, true
}

// behind gives the words of the command that a wrapper runs.
func (w *walk) behind(spec wrapper, argv []word) ([]word, bool) {
	for len(argv) > 0 {
		v := argv[0]
		name, _, attached := strings.Cut(v.text, "=")
		switch {
		case !v.literal():
			return nil, false
		case v.text == "--":
			argv = argv[1:]
			return argv[min(spec.operands, len(argv)):], true
		case slices.Contains(spec.options, v.text):
			argv = argv[1:]
		case slices.Contains(spec.values, v.text):
			argv = argv[min(2, len(argv)):]
		case strings.HasPrefix(v.text, "--") && attached && slices.Contains(spec.values, name):
			argv = argv[1:]
		case len(v.text) > 2 && slices.Contains(spec.values, v.text[:2]):
			argv = argv[1:]
		case strings.HasPrefix(v.text, "-"):
			return nil, false
		case spec.assigns && attached:
			if !w.e.variable(v.text, w.c) {
				w.find(once(classRun, "variable", "it sets "+Visible(name)+" for the command, which may act on it"))
			}
			argv = argv[1:]
		default:
			return argv[min(spec.operands, len(argv)):], true
		}
	}
	return nil, true
}

// xargs runs a command on names that come through a pipe. Where those are names of
// files in the workspace, kept apart by NUL bytes so that a blank in one does not
// make two of it, and the command only looks whatever it is given, it is judged
// like that command.
func (w *walk) xargs(argv []word, st state) (ways, bool) {
	spec := wrapper{options: []string{"-0", "-r0", "-0r", "-r", "-t", "--null", "--no-run-if-empty"}, values: []string{"-n", "-P", "-L", "-I", "-d"}}
	inner, ok := w.behind(spec, argv[1:])
	if ok && w.lists && hasOption(argv[:len(argv)-len(inner)], "-0", "--null", "-r0", "-0r") && len(inner) > 0 && w.harmless(inner) && w.allowed(inner, st) {
		w.calls = append(w.calls, inner)
		return same(st), true
	}
	w.find(once(classRun, "wrapper", "xargs runs a command with words that are known only when it runs"))
	w.hiddenCommands(argv, st)
	w.loose(argv, st)
	return same(st), true
}

// harmless tells whether a rule says of a program that no option of it does harm.
func (w *walk) harmless(argv []word) bool {
	return slices.ContainsFunc(w.e.programs[argv[0].text], func(s scoped) bool { return s.syntax != nil && s.syntax.harmless })
}

// shell takes sh -c and its like: the script is judged too, and shown.
func (w *walk) shell(argv []word, st state) (ways, bool) {
	for i, v := range argv[1:] {
		if strings.HasPrefix(v.text, "-") && !strings.HasPrefix(v.text, "--") && strings.HasSuffix(v.text, "c") && i+2 < len(argv) {
			if script := argv[i+2]; script.dynamic {
				w.find(once(classRun, "uninspectable", "the script that it runs is known only when it runs"))
			} else {
				w.script(script.text, st)
			}
			break
		}
	}
	return ways{}, false
}

// evaluate takes eval.
func (w *walk) evaluate(argv []word, st state) (ways, bool) {
	if !slices.ContainsFunc(argv, func(v word) bool { return v.dynamic }) {
		w.script(strings.Join(texts(argv[1:]), " "), st)
	}
	return ways{}, false
}
