package main

import (
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"kimi-acp/internal/config"
	"kimi-acp/soul/skill"
)

// skillHome is where skills are looked for.
type skillHome struct {
	home    string // the user's folder; "": it is not known
	project string // the folder worked in
	trusted func() bool
}

// skillsOf gives the skills of the folders that count, those of the project only when it
// is trusted, and those that come with the program. They are read anew each time, so that
// what a person has just written is there.
func skillsOf(cfg config.Skills, at skillHome, log *slog.Logger) func() []skill.Skill {
	return func() []skill.Skill { return loadSkills(skillFolders(cfg, at), log) }
}

// maxSkills bounds the skills of a session, each of which is a command.
const maxSkills = 500

// loadSkills gives the skills of folders, and those that come with the program, in order
// of their names. Of two of a name the first counts. Folders that are not there are none.
func loadSkills(folders []string, log *slog.Logger) []skill.Skill {
	var all []skill.Skill
	add := func(skills []skill.Skill) {
		for _, s := range skills {
			if len(all) < maxSkills && !slices.ContainsFunc(all, func(o skill.Skill) bool { return o.Name == s.Name }) {
				all = append(all, s)
			}
		}
	}
	for _, dir := range folders {
		skills, err := skill.Load(dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			log.Warn("a skill cannot be used", "folder", dir, "error", err)
		}
		add(skills)
	}
	add(skill.Builtin())
	slices.SortStableFunc(all, skill.Skill.Compare)
	return all
}

// skillFolders are the folders in which skills are looked for, in kimi-cli's order: what
// is nearer to the project goes first.
func skillFolders(cfg config.Skills, at skillHome) []string {
	var folders []string
	root := projectRoot(at.project)
	if at.trusted() {
		folders = append(brandFolders(cfg, root), filepath.Join(root, ".agents", "skills"))
	}
	if at.home != "" {
		folders = append(folders, brandFolders(cfg, at.home)...)
		folders = append(folders, firstThere(filepath.Join(at.home, ".config", "agents", "skills"), filepath.Join(at.home, ".agents", "skills"))...)
	}
	for _, dir := range cfg.Extra {
		if rest, ok := under("~", dir); ok && at.home != "" {
			dir = filepath.Join(at.home, rest)
		}
		if filepath.IsAbs(dir) {
			folders = append(folders, dir)
		} else if at.trusted() {
			folders = append(folders, filepath.Join(root, dir))
		}
	}
	return folders
}

// under gives what of a path lies under its first part.
func under(first, path string) (rest string, ok bool) {
	if path == first {
		return "", true
	}
	if len(path) > len(first) && path[:len(first)] == first && os.IsPathSeparator(path[len(first)]) {
		return path[len(first)+1:], true
	}
	return "", false
}

// brandFolders are those that programs have for their own skills.
func brandFolders(cfg config.Skills, root string) []string {
	var all []string
	for _, brand := range []string{".kimi", ".claude", ".codex"} {
		all = append(all, filepath.Join(root, brand, "skills"))
	}
	if cfg.FirstOnly {
		return firstThere(all...)
	}
	return all
}

// firstThere is the first of some folders that is there.
func firstThere(folders ...string) []string {
	for _, dir := range folders {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return []string{dir}
		}
	}
	return nil
}

// projectRoot is the nearest folder above that is a repository, else the folder itself.
func projectRoot(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}
