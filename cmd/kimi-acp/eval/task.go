package eval

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"

	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/soul/tool"
)

//go:embed tasks/*.txtar
var taskFiles embed.FS

// Task is something that a model is asked to do, and how it is seen whether it did.
//
// As a file it is a txtar archive. Its comment has lines "key: value":
//
//	prompt      what is asked; further lines go on
//	mode        the mode; yolo unless it says otherwise
//	max-steps   model calls, 12 unless it says otherwise
//	crlf        a file whose lines end with CR LF, before and after
//	check       see parseCheck
//
// Its files are work/… for the folder as it is before, want/… for files that must be
// so afterwards, beside/… for files next to the folder, which nobody may touch, and
// script for the model that does it right. A file of work/ that want/ does not name,
// and no check speaks of, must be as it was; one that is new must not be there.
type Task struct {
	Name     string // the file's, without its ending
	Prompt   string
	Mode     tool.Mode
	MaxSteps int
	Script   []string // one for each model call

	work, want, beside map[string]string
	checks             []check
}

const defaultMaxSteps = 12

// Tasks gives the built-in tasks, in the order of their names.
func Tasks() ([]Task, error) {
	entries, err := fs.ReadDir(taskFiles, "tasks")
	if err != nil {
		return nil, fmt.Errorf("list the tasks: %w", err)
	}
	var tasks []Task
	for _, e := range entries {
		data, err := taskFiles.ReadFile(path.Join("tasks", e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read task %s: %w", e.Name(), err)
		}
		task, err := parseTask(strings.TrimSuffix(e.Name(), ".txtar"), string(data))
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

func parseTask(name, text string) (Task, error) {
	t := Task{
		Name: name, Mode: tool.ModeYolo, MaxSteps: defaultMaxSteps,
		work: map[string]string{}, want: map[string]string{}, beside: map[string]string{},
	}
	comment, sections := parseArchive(text)
	for _, s := range sections {
		if err := t.section(s); err != nil {
			return Task{}, fmt.Errorf("task %s: %w", name, err)
		}
	}
	key, n := "", 0
	for line := range strings.Lines(comment) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		value, goesOn := strings.CutPrefix(line, "  ")
		if !goesOn {
			var ok bool
			if key, value, ok = strings.Cut(line, ": "); !ok {
				return Task{}, fmt.Errorf("task %s: line %d is not KEY: VALUE", name, n)
			}
		}
		if err := t.set(key, strings.TrimSpace(value), goesOn); err != nil {
			return Task{}, fmt.Errorf("task %s: line %d: %w", name, n, err)
		}
	}
	if t.Prompt == "" || len(t.Script) == 0 {
		return Task{}, fmt.Errorf("task %s: it lacks a prompt or a script", name)
	}
	return t, nil
}

func (t *Task) set(key, value string, goesOn bool) (err error) {
	switch {
	case goesOn && key == "prompt":
		t.Prompt += "\n" + value
	case goesOn:
		return fmt.Errorf("%s has one line only", key)
	case key == "prompt":
		t.Prompt = value
	case key == "mode":
		t.Mode, err = run.ParseMode(value)
	case key == "max-steps":
		t.MaxSteps, err = strconv.Atoi(value)
	case key == "crlf":
		for _, files := range []map[string]string{t.work, t.want} {
			if text, ok := files[value]; ok {
				files[value] = strings.ReplaceAll(text, "\n", "\r\n")
			}
		}
	case key == "check":
		var c check
		c, err = parseCheck(value)
		t.checks = append(t.checks, c)
	default:
		return fmt.Errorf("there is no key %q", key)
	}
	return err
}

func (t *Task) section(s section) (err error) {
	if s.name == "script" {
		t.Script, err = parseScript(s.data)
		return err
	}
	folder, name, _ := strings.Cut(s.name, "/")
	if !fs.ValidPath(name) || name == "." {
		return fmt.Errorf("%q is no name of a file", s.name)
	}
	files := map[string]map[string]string{"work": t.work, "want": t.want, "beside": t.beside}[folder]
	if files == nil {
		return fmt.Errorf("%q is neither in work/, want/ nor beside/", s.name)
	}
	files[name] = s.data
	return nil
}

// wanted gives the files that must be there afterwards, with their text; those that
// a check speaks of are left to it.
func (t *Task) wanted() map[string]string {
	out := maps.Clone(t.work)
	maps.Copy(out, t.want)
	for _, c := range t.checks {
		if c.file != "" {
			delete(out, c.file)
		}
	}
	return out
}
