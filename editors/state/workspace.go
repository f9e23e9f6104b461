package state

import (
	"path/filepath"
	"runtime"
	"strings"
)

// workspaceRoot is a folder of a workspace under its names: the one that it was given
// by, and the one without links.
type workspaceRoot struct{ named, real string }

func newWorkspaceRoot(path string) workspaceRoot {
	w := workspaceRoot{named: filepath.Clean(path)}
	if real, err := filepath.EvalSymlinks(w.named); err == nil && real != w.named {
		w.real = real
	}
	return w
}

// within gives a path that lies in the workspace by the name that the workspace has
// there.
func (r *Reader) within(path string) (string, bool) {
	if !filepath.IsAbs(path) || len(path) > MaxPath || strings.ContainsRune(path, 0) {
		return "", false
	}
	path = filepath.Clean(path)
	for _, root := range r.roots {
		if Inside(path, root.named) {
			return path, true
		}
		if root.real != "" && Inside(path, root.real) {
			return filepath.Join(root.named, path[len(root.real):]), true
		}
	}
	return "", false
}

// overlaps tells whether one of the folders lies in the workspace, or the workspace
// in one of them.
func (r *Reader) overlaps(folders []string) bool {
	for _, folder := range folders {
		if _, ok := r.within(folder); ok {
			return true
		}
		for _, root := range r.roots {
			if Inside(root.named, folder) || root.real != "" && Inside(root.real, folder) {
				return true
			}
		}
	}
	return false
}

// Inside tells whether a path is a folder or lies in it, going by their names, which
// are absolute and clean.
func Inside(path, folder string) bool {
	if runtime.GOOS == "windows" {
		path, folder = strings.ToLower(path), strings.ToLower(folder)
	}
	rest, ok := strings.CutPrefix(path, folder)
	return ok && (rest == "" || rest[0] == filepath.Separator || strings.HasSuffix(folder, string(filepath.Separator)))
}

// clip gives what of a state concerns the workspace, within the limits; not ok:
// nothing does. What the file says is not trusted to be within either.
func (r *Reader) clip(s State) (State, bool) {
	if !r.overlaps(s.Roots) {
		return State{}, false
	}
	if s.Active != nil {
		active := *s.Active
		path, ok := r.within(active.Path)
		active.Path = path
		s.Active = &active
		if !ok {
			s.Active = nil
		}
	}
	var documents []Document
	for _, d := range s.Documents {
		if path, ok := r.within(d.Path); ok {
			d.Path = path
			documents = append(documents, d)
		}
	}
	var diagnostics []FileDiagnostics
	for _, d := range s.Diagnostics {
		if path, ok := r.within(d.Path); ok {
			d.Path = path
			diagnostics = append(diagnostics, d)
		}
	}
	s.Documents, s.Diagnostics = documents, diagnostics
	s.bound()
	return s, true
}
