package fileop

import "os"

// openIn opens a folder of a root.
func openIn(root *os.Root, rel, _ string) (openFolder, error) {
	sub, err := root.OpenRoot(rel)
	if err != nil {
		return nil, err
	}
	return rootFolder{sub}, nil
}
