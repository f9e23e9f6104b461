//go:build windows

package stdio

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

func claim() (in, out *os.File, err error) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	hIn, err := private(windows.STD_INPUT_HANDLE)
	if err != nil {
		_ = null.Close()
		return nil, nil, fmt.Errorf("standard input: %w", err)
	}
	hOut, err := private(windows.STD_OUTPUT_HANDLE)
	if err != nil {
		_ = null.Close()
		_ = windows.CloseHandle(hIn)
		return nil, nil, fmt.Errorf("standard output: %w", err)
	}
	if err := redirect(null); err != nil {
		_ = null.Close()
		_ = windows.CloseHandle(hIn)
		_ = windows.CloseHandle(hOut)
		return nil, nil, err
	}
	// The null device stays open as standard input.
	os.Stdin = null
	return os.NewFile(uintptr(hIn), "protocol input"), os.NewFile(uintptr(hOut), "protocol output"), nil
}

// private duplicates a standard handle so that children do not inherit it.
func private(which uint32) (windows.Handle, error) {
	h, err := windows.GetStdHandle(which)
	if err != nil {
		return 0, err
	}
	var dup windows.Handle
	self := windows.CurrentProcess()
	err = windows.DuplicateHandle(self, h, self, &dup, 0, false, windows.DUPLICATE_SAME_ACCESS)
	return dup, err
}

func redirect(null *os.File) error {
	stderr, err := windows.GetStdHandle(windows.STD_ERROR_HANDLE)
	if err != nil {
		return fmt.Errorf("standard error: %w", err)
	}
	stdout, err := windows.GetStdHandle(windows.STD_OUTPUT_HANDLE)
	if err != nil {
		return fmt.Errorf("standard output: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, stderr); err != nil {
		return fmt.Errorf("point standard output at standard error: %w", err)
	}
	if err := windows.SetStdHandle(windows.STD_INPUT_HANDLE, windows.Handle(null.Fd())); err != nil {
		_ = windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, stdout)
		return fmt.Errorf("point standard input at the null device: %w", err)
	}
	return nil
}
