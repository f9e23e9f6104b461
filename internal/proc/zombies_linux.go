package proc

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
)

// onlyZombies reports whether all that is left of a group are processes that have
// ended and were not reaped. Orphans are reaped by process 1, which in many containers
// does it late or never; without this look every command that had left something in
// the background would be waited for as long as one that cannot be killed.
func onlyZombies(group int) bool {
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil || len(stats) == 0 {
		return false // no /proc here: nothing is known
	}
	for _, path := range stats {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // ended since
		}
		if state, of := parseStat(stat); of == group && state != 'Z' && state != 'X' {
			return false
		}
	}
	return true
}

// parseStat reads state and process group from a line of /proc/PID/stat; they are zero
// if it is none. The program's name, in parentheses, may hold anything.
func parseStat(stat []byte) (state byte, group int) {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0
	}
	group, err := strconv.Atoi(string(fields[2]))
	if err != nil {
		return 0, 0
	}
	return fields[0][0], group
}
