package proc

import (
	"bufio"
	"io"
	"strconv"
	"time"
)

const (
	superviseGrace = 2 * time.Second
	supervisePoll  = 20 * time.Millisecond
	maxLine        = 64 // bytes; a sign and a process id are far shorter
)

// SuperviseMain is the main function of the Supervisor's child. It reads group lines
// until stdin ends, then asks the groups that are left to end, kills after two seconds
// those that have not, and returns the exit code.
func SuperviseMain(stdin io.Reader) int {
	ignoreEndings()
	endGroups(readGroups(stdin))
	return 0
}

// endGroups returns when the groups have ended or were killed.
func endGroups(groups map[int]struct{}) {
	for group := range groups {
		terminateGroup(group)
	}
	for deadline := time.Now().Add(superviseGrace); time.Now().Before(deadline); time.Sleep(supervisePoll) {
		for group := range groups {
			if !groupExists(group) {
				delete(groups, group)
			}
		}
		if len(groups) == 0 {
			return
		}
	}
	for group := range groups {
		killGroup(group)
	}
}

// readGroups gives the groups that were added and not taken back when r ended. A line
// that is no group line is passed over.
func readGroups(r io.Reader) map[int]struct{} {
	groups := map[int]struct{}{}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, maxLine), maxLine)
	for lines.Scan() {
		line := lines.Text()
		if len(line) < 2 {
			continue
		}
		group, err := strconv.ParseUint(line[1:], 10, 31)
		// Group 0 would be our own and group 1 stands for every process there is.
		if err != nil || group < 2 {
			continue
		}
		switch line[0] {
		case '+':
			groups[int(group)] = struct{}{}
		case '-':
			delete(groups, int(group))
		}
	}
	return groups
}
