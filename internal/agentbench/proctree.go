package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of processor time in /proc: Linux counts in hundredths of a
// second towards programs, whatever it does inside.
const tick = 10 * time.Millisecond

// procStat is the part of /proc/PID/stat that matters here.
type procStat struct {
	pid, parent int
	name        string // of the program, cut by the system after 15 bytes
	state       byte   // Z: it has ended and was not yet collected
	cpu         time.Duration
	started     string // ticks since the machine's start; with pid it names a process for good
}

// parseStat reads one line of /proc/PID/stat. The name in it may hold anything,
// so what follows is found from the right.
func parseStat(line string) (procStat, error) {
	open, closed := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || closed < open {
		return procStat{}, errors.New("the line of /proc has no program name")
	}
	fields := strings.Fields(line[closed+1:])
	const fewest = 20 // up to the time of the start
	if len(fields) < fewest {
		return procStat{}, fmt.Errorf("the line of /proc has %d fields behind the name", len(fields))
	}
	pid, err1 := strconv.Atoi(strings.TrimSpace(line[:open]))
	parent, err2 := strconv.Atoi(fields[1])
	user, err3 := strconv.ParseInt(fields[11], 10, 64)
	system, err4 := strconv.ParseInt(fields[12], 10, 64)
	if err := errors.Join(err1, err2, err3, err4); err != nil {
		return procStat{}, fmt.Errorf("read a line of /proc: %w", err)
	}
	return procStat{
		pid: pid, parent: parent, name: line[open+1 : closed], state: fields[0][0],
		cpu: time.Duration(user+system) * tick, started: fields[19],
	}, nil
}

// stat reads the state of one process.
func stat(pid int) (procStat, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return procStat{}, err
	}
	return parseStat(string(data))
}

// tree gives a process and all that descend from it, parents first. It is empty
// where there is no /proc, and when the process has gone.
func tree(root int) []procStat {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	children := map[int][]procStat{}
	var all []procStat
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		s, err := stat(pid)
		if err != nil {
			continue // it ended meanwhile
		}
		if pid == root {
			all = append(all, s)
		}
		children[s.parent] = append(children[s.parent], s)
	}
	for i := 0; i < len(all); i++ {
		all = append(all, children[all[i].pid]...)
	}
	return all
}

// alive says whether the process runs.
func (s procStat) alive() bool {
	now, err := stat(s.pid)
	return err == nil && now.started == s.started && now.state != 'Z'
}

// kill ends the process at once if it still runs.
func (s procStat) kill() {
	if !s.alive() {
		return
	}
	if p, err := os.FindProcess(s.pid); err == nil {
		_ = p.Kill() // it may have ended just now
	}
}

// usage is what a process tree uses.
type usage struct {
	mib float64       // memory, shared pages counted in proportion
	cpu time.Duration // processor time so far, of the processes that run
}

// usageOf adds up a process tree. It is not ok where the system does not tell.
func usageOf(root int) (u usage, ok bool) {
	for _, s := range tree(root) {
		data, err := os.ReadFile("/proc/" + strconv.Itoa(s.pid) + "/smaps_rollup")
		if err != nil {
			continue // ended meanwhile, or a zombie
		}
		kib, found := parsePss(string(data))
		if !found {
			continue
		}
		u.mib += float64(kib) / 1024
		u.cpu += s.cpu
		ok = true
	}
	return u, ok
}

// parsePss finds the proportional memory in a smaps_rollup, in KiB.
func parsePss(rollup string) (kib int, ok bool) {
	for line := range strings.Lines(rollup) {
		rest, found := strings.CutPrefix(line, "Pss:")
		if !found {
			continue
		}
		kib, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
		return kib, err == nil
	}
	return 0, false
}

// loadAverage is how busy the machine was in the last minute, in processes that
// want to run; "" where the system does not tell.
func loadAverage() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	one, _, _ := strings.Cut(string(data), " ")
	return one
}
