package git

import (
	"os"
	"strconv"
	"strings"
)

// kept are the variables that git needs of the user's environment. None of git's own
// is among them: GIT_DIR or GIT_EXTERNAL_DIFF would lead elsewhere.
var kept = []string{"PATH", "HOME", "USERPROFILE", "XDG_CONFIG_HOME", "SYSTEMROOT", "TMPDIR", "TEMP", "TMP", "LANG"}

// fixed are settings that hold whatever a repository says. Those of which git runs the
// value are given one that runs nothing.
var fixed = [][2]string{
	{"core.fsmonitor", "false"},
	{"core.hooksPath", os.DevNull},
	{"core.pager", "cat"},
	{"core.askPass", ""},
	{"core.editor", "false"},
	{"core.sshCommand", "false"},
	{"core.gitProxy", ""},
	{"core.alternateRefsCommand", "false"},
	{"credential.helper", ""},
	{"safe.bareRepository", "explicit"},
	{"protocol.allow", "never"},
	{"submodule.recurse", "false"},
	{"status.submoduleSummary", "false"},
	{"diff.ignoreSubmodules", "dirty"}, // else git runs in them, by their own settings
	{"diff.autoRefreshIndex", "false"},
	{"log.showSignature", "false"},
	{"gpg.program", "false"},
	{"color.ui", "false"},
	{"core.quotePath", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
}

// environ is the environment in which git is run for the work tree at top, which a
// repository cannot move elsewhere by its settings. names are the names of the settings
// that git finds for the repository: each of a family that names a program is
// overridden by name, since there is no other way to be rid of it.
func environ(base []string, top string, names []string) []string {
	var env []string
	for _, entry := range base {
		name, _, _ := strings.Cut(entry, "=")
		for _, k := range kept {
			if strings.EqualFold(name, k) {
				env = append(env, entry)
			}
		}
	}
	env = append(env, "GIT_WORK_TREE="+top,
		"LC_ALL=C.UTF-8", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat", "PAGER=cat",
		"GIT_LITERAL_PATHSPECS=1", "GIT_NO_LAZY_FETCH=1", "GIT_NO_REPLACE_OBJECTS=1", "GIT_ALLOW_PROTOCOL=", "GIT_ATTR_NOSYSTEM=1",
		"GIT_ASKPASS=", "SSH_ASKPASS=", "GIT_EDITOR=false", "GIT_SSH_COMMAND=false",
	)
	n := 0
	set := func(key, value string) {
		i := strconv.Itoa(n)
		env = append(env, "GIT_CONFIG_KEY_"+i+"="+key, "GIT_CONFIG_VALUE_"+i+"="+value)
		n++
	}
	for _, f := range fixed {
		set(f[0], f[1])
	}
	for _, name := range names {
		if value, ok := disarmed(name); ok {
			set(name, value)
		}
	}
	return append(env, "GIT_CONFIG_COUNT="+strconv.Itoa(n))
}

// disarmed gives the value that takes a setting of a family its power to run
// something; ok is false for settings that have none.
func disarmed(name string) (value string, ok bool) {
	low := strings.ToLower(name)
	first, last := strings.IndexByte(low, '.'), strings.LastIndexByte(low, '.')
	if first < 0 || first == last {
		// No family: diff.external is left out by an option of each command, since
		// git fails when it is empty.
		return "", false
	}
	switch low[:first] + "." + low[last+1:] {
	case "filter.clean", "filter.smudge", "filter.process",
		"diff.textconv", "diff.command", "merge.driver", "credential.helper", "remote.vcs", "gpg.program":
		return "", true
	case "filter.required", "diff.cachetextconv":
		return "false", true
	}
	return "", false
}
