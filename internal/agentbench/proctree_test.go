package main

import (
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"
)

func TestParseStat(t *testing.T) {
	const tail = " 70 1 1 0 -1 4194304 100 0 0 0 12 34 0 0 20 0 1 0 5555 1000 200"
	for _, test := range []struct {
		name, line string
		want       procStat
		fails      bool
	}{
		{name: "plain", line: "71 (sh) S" + tail, want: procStat{71, 70, "sh", 'S', 460 * time.Millisecond, "5555"}},
		{name: "name with all that separates", line: "71 (a) Z (b) R" + tail, want: procStat{71, 70, "a) Z (b", 'R', 460 * time.Millisecond, "5555"}},
		{name: "empty", fails: true},
		{name: "no name", line: "71 sh S" + tail, fails: true},
		{name: "parentheses in the wrong order", line: "71 )sh( S" + tail, fails: true},
		{name: "short", line: "71 (sh) S 70 1 1", fails: true},
		{name: "no number", line: "x (sh) S" + tail, fails: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := parseStat(test.line)
			if (err != nil) != test.fails || got != test.want {
				t.Errorf("got %+v, %v; want %+v, failure %v", got, err, test.want, test.fails)
			}
		})
	}
}

func TestParsePss(t *testing.T) {
	for _, test := range []struct {
		rollup string
		kib    int
		ok     bool
	}{
		{"00400000-7ff [rollup]\nRss:  900 kB\nPss:        123 kB\nPss_Dirty:  7 kB\n", 123, true},
		{"Rss: 900 kB\nPss_Dirty: 7 kB\n", 0, false},
		{"Pss: many kB\n", 0, false},
		{"", 0, false},
	} {
		if kib, ok := parsePss(test.rollup); kib != test.kib || ok != test.ok {
			t.Errorf("%q: got %d, %v; want %d, %v", test.rollup, kib, ok, test.kib, test.ok)
		}
	}
}

func TestTreeOfAChild(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has /proc")
	}
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	self := os.Getpid()
	var child procStat
	for _, s := range tree(self) {
		if s.pid == cmd.Process.Pid {
			child = s
		}
	}
	if child.parent != self || !child.alive() {
		t.Errorf("the child is %+v, alive %v", child, child.alive())
	}
	if u, ok := usageOf(self); !ok || u.mib <= 0 {
		t.Errorf("usage %+v, %v", u, ok)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if child.alive() || len(tree(child.pid)) > 0 {
		t.Error("the child lives on after its end")
	}
}
