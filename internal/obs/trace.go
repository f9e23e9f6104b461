package obs

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Trace makes the file dir/name for a record of its own beside the log, and the
// folder where it is missing, both for their owner only. The caller closes it.
//
// Name is that of a file, not a path. A file that exists is an error and left as it
// is. Nothing is kept out of the file: secrets must not be written to it.
func Trace(dir, name string) (io.WriteCloser, error) {
	if !filepath.IsLocal(name) || filepath.Base(name) != name {
		return nil, fmt.Errorf("make a trace: %q is not the name of a file", name)
	}
	if err := makeFolder(dir); err != nil {
		return nil, fmt.Errorf("make a trace: %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if err != nil {
		return nil, fmt.Errorf("make a trace: %w", err)
	}
	return f, nil
}
