package facts

import "os"

// Folder is what a path led to at a moment, so that it can be told later whether it
// still does. The zero value is a path that led nowhere.
type Folder struct{ info os.FileInfo }

// FolderAt gives what a path leads to now.
func FolderAt(path string) Folder {
	info, err := os.Stat(path)
	if err != nil {
		return Folder{}
	}
	return Folder{info}
}

// Is tells whether both are the same folder, whatever it is named now. What led
// nowhere is the same only as what leads nowhere.
func (f Folder) Is(other Folder) bool {
	if f.info == nil || other.info == nil {
		return f.info == nil && other.info == nil
	}
	return os.SameFile(f.info, other.info)
}
