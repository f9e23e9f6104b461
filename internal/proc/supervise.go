package proc

import (
	"bufio"
	"io"
	"strconv"
	"sync"
	"time"
)

const (
	superviseGrace = 2 * time.Second
	supervisePoll  = 20 * time.Millisecond
	maxLine        = 64 // bytes; a sign and a process id are far shorter
)

// SuperviseMain is the main function of the Supervisor's child. It reads group lines
// until stdin ends, then asks the groups that are left to end, kills after two seconds
// those that have not, and returns the exit code. Groups that end by themselves are
// given ChildPatience first.
func SuperviseMain(stdin io.Reader) int {
	ignoreEndings()
	groups := readGroups(stdin)
	var others sync.WaitGroup
	others.Go(func() { endGroups(groups.of('+')) })
	patient := groups.of('~')
	waitForGroups(patient, ChildPatience)
	endGroups(patient)
	others.Wait()
	return 0
}

// endGroups returns when the groups have ended or were killed.
func endGroups(groups map[int]struct{}) {
	for group := range groups {
		terminateGroup(group)
	}
	waitForGroups(groups, superviseGrace)
	for group := range groups {
		killGroup(group)
	}
}

// waitForGroups waits until all groups have ended, at most d, and leaves in groups
// those that have not.
func waitForGroups(groups map[int]struct{}, d time.Duration) {
	for deadline := time.Now().Add(d); len(groups) > 0 && time.Now().Before(deadline); {
		for group := range groups {
			if !groupExists(group) {
				delete(groups, group)
			}
		}
		if len(groups) > 0 {
			time.Sleep(supervisePoll)
		}
	}
}

// signed are groups with the sign of the line that named them.
type signed map[int]byte

func (s signed) of(sign byte) map[int]struct{} {
	groups := map[int]struct{}{}
	for group, has := range s {
		if has == sign {
			groups[group] = struct{}{}
		}
	}
	return groups
}

// readGroups gives the groups that were added and not taken back when r ended. A line
// that is no group line is passed over.
func readGroups(r io.Reader) signed {
	groups := signed{}
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
		case '+', '~':
			groups[int(group)] = line[0]
		case '-':
			delete(groups, int(group))
		}
	}
	return groups
}
