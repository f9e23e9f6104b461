//go:build windows

package proc

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"golang.org/x/sys/windows"
)

// Windows has no process groups that can be signalled. A group here is the tree below
// a process as taskkill finds it: a child whose parent has ended is not part of it.

func ownGroup(cmd *exec.Cmd) {
	addCreationFlags(cmd, windows.CREATE_NEW_PROCESS_GROUP|windows.CREATE_NO_WINDOW)
}

func ownSession(cmd *exec.Cmd) {
	addCreationFlags(cmd, windows.CREATE_NEW_PROCESS_GROUP|windows.DETACHED_PROCESS)
}

// addCreationFlags keeps the command line that the shell may have set.
func addCreationFlags(cmd *exec.Cmd, flags uint32) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.CreationFlags |= flags
}

// terminateGroup does not differ from killGroup: a process without a console cannot be
// asked to end.
func terminateGroup(group int) { killGroup(group) }

func killGroup(group int) {
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return
	}
	cmd := exec.Command(filepath.Join(system, "taskkill.exe"), "/T", "/F", "/PID", strconv.Itoa(group))
	addCreationFlags(cmd, windows.CREATE_NO_WINDOW)
	// It fails when the tree is gone, which is what was wanted.
	_ = cmd.Run()
}

func groupExists(group int) bool {
	h, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(group))
	if err != nil {
		return false
	}
	defer func() { _ = windows.CloseHandle(h) }() // only looked at
	event, err := windows.WaitForSingleObject(h, 0)
	return err == nil && event == uint32(windows.WAIT_TIMEOUT)
}

// outlivesLeader cannot be known here: without its leader the tree has no name.
func outlivesLeader(int) bool { return false }

func endingSignal(*os.ProcessState) string { return "" }

func ignoreEndings() { signal.Ignore(os.Interrupt) }

func rootDir(exe string) string { return filepath.VolumeName(exe) + `\` }
