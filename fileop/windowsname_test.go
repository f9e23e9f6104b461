package fileop

import (
	"errors"
	"testing"
)

func TestWindowsPath(t *testing.T) {
	tests := []struct {
		path              string
		windows, anywhere bool // refused on Windows, and elsewhere
	}{
		{`a\b.txt`, false, false},
		{`C:\work\a.txt`, false, true},
		{`c:/proj/a.txt`, false, true},
		{`\\server\share\a`, false, true},
		{`\\?\C:\a`, true, true},
		{`\\.\PIPE\x`, true, true},
		{`\??\C:\a`, true, true},
		{`//?/C:/a`, true, false},
		{`a.txt:stream`, true, false},
		{`a.txt::$DATA`, true, false},
		{`C:\a:b`, true, true},
		{`CON`, true, false},
		{`dir/nul.txt`, true, false},
		{`COM1`, true, false},
		{`lpt9.log`, true, false},
		{`aux `, true, false},
		{`COM`, false, false},
		{`COM12`, false, false},
		{`console.log`, false, false},
		{`name.`, true, false},
		{`name `, true, false},
		{`dir./a`, true, false},
		{`../a/./b`, false, false},
		{`PROGRA~1`, true, false},
		{`GIT~1\config`, true, false},
		{`a~b`, false, false},
		{`~1`, false, false},
		{`backup~2024-long-name.txt`, false, false},
		{`:a`, true, false},
	}
	for _, test := range tests {
		for _, on := range []struct{ windows, want bool }{{true, test.windows}, {false, test.anywhere}} {
			err := windowsPath(test.path, on.windows)
			if (err != nil) != on.want || err != nil && !errors.Is(err, ErrPath) {
				t.Errorf("%q, on Windows %v: %v, want refused %v", test.path, on.windows, err, on.want)
			}
		}
	}
}
