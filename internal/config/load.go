package config

import (
	"encoding/json"
	"errors"
	"path/filepath"
)

// Flags are the settings of the command line. They win over every other source.
type Flags struct {
	ConfigFile string // read in place of the files of settings; TOML, or JSON if it ends with .json
	ConfigText string // the settings themselves, JSON or TOML, in place of all files; ConfigFile is not read then
	Model      string // ID of the default model; empty: not said
	Yolo       bool   // sessions begin in ModeYolo
	Thinking   *bool  // nil: not said
	Debug      bool
	Kernel     string // empty: not said
}

// Load reads the settings from their sources. They come in this order, and the later
// one wins: the defaults, kimi-code's config.toml, kimi-cli's config.toml, acp.toml, the
// environment, the flags. getenv gives a variable's value and the empty text for one
// that is not set, like os.Getenv.
//
// Load does not fail: what cannot be used is left out, and a Warning says so.
func Load(getenv func(name string) string, flags Flags) (Config, []Warning) {
	return newLoader(getenv, flags).load()
}

// loader reads the settings again and again. It is not safe for use by several
// goroutines at once.
type loader struct {
	env   environment
	flags Flags
	last  map[string]*document // by path: what was read when the file could last be read
}

func newLoader(getenv func(string) string, flags Flags) *loader {
	return &loader{env: environment{getenv: getenv}, flags: flags, last: map[string]*document{}}
}

// origin is a file that settings may come from.
type origin struct {
	path     string
	instead  string // read if there is no such file; may be empty
	form     form
	required bool   // there must be such a file
	text     string // what is read in place of the file; empty: the file is
}

// origins gives the files, the weakest first.
func (l *loader) origins(shareDir string) []origin {
	if text := l.flags.ConfigText; text != "" {
		path := "--config"
		if json.Valid([]byte(text)) {
			path += ".json" // which says how it is read
		}
		return []origin{{path: path, text: text, form: form{kimiCLI: true, own: true}, required: true}}
	}
	if l.flags.ConfigFile != "" {
		path, err := filepath.Abs(l.flags.ConfigFile)
		if err != nil {
			path = l.flags.ConfigFile
		}
		return []origin{{path: path, form: form{kimiCLI: true, own: true}, required: true}}
	}
	var all []origin
	if dir := l.env.kimiCodeDir(); dir != "" {
		all = append(all, origin{path: filepath.Join(dir, "config.toml"), form: form{kimiCode: true}})
	}
	if shareDir != "" {
		all = append(all,
			origin{path: filepath.Join(shareDir, "config.toml"), instead: filepath.Join(shareDir, "config.json"), form: form{kimiCLI: true}},
			origin{path: filepath.Join(shareDir, "acp.toml"), form: form{own: true}},
		)
	}
	return all
}

func (l *loader) load() (Config, []Warning) {
	d := &draft{config: Config{Loop: defaultLoop(), Goal: Goal{Rounds: 20}}}
	env := environment{getenv: l.env.getenv, warnings: &d.warnings}
	d.config.ShareDir = env.shareDir()
	for _, o := range l.origins(d.config.ShareDir) {
		doc, failed := l.read(o, &d.warnings)
		if doc != nil {
			d.file(doc, o.form, l.env.getenv)
		} else if failed != nil && o.form.own {
			d.config.Policy.Broken = failed.String()
		}
	}
	if debug := env.flag("KIMI_DEBUG"); debug != nil {
		d.config.Debug = *debug
	}
	if kernel := env.getenv("KIMI_KERNEL"); kernel != "" {
		d.config.Kernel = kernel
	}
	model, lacks := env.model()
	for _, s := range d.sources {
		if s.kimiCLI {
			env.override(s.providers)
		}
	}
	d.config.lacks = lacks
	d.sources = append(d.sources, model)
	d.flags(l.flags)
	d.resolve()
	return d.config, d.warnings.all()
}

// document reads what the origin says; see readDocument.
func (o origin) document() (*document, error) {
	if o.text != "" {
		return parseDocument(o.path, []byte(o.text))
	}
	return readDocument(o.path)
}

// read gives what a file says, or what it said when it could last be read; nil if it
// says nothing. A Warning says that the file could not be read now.
func (l *loader) read(o origin, w *warnings) (*document, *Warning) {
	doc, err := o.document()
	if doc == nil && err == nil && o.instead != "" {
		delete(l.last, o.path)
		o.path = o.instead
		doc, err = readDocument(o.path)
	}
	var failed *fileError
	switch {
	case errors.As(err, &failed):
		consequence := "; the file is not used"
		if l.last[o.path] != nil {
			consequence = "; what it said before stays in force"
		}
		warning := Warning{File: failed.path, Line: failed.line, Column: failed.column, What: failed.what + consequence}
		w.add(warning)
		return l.last[o.path], &warning
	case doc == nil:
		if o.required {
			w.add(Warning{File: o.path, What: "there is no such file; no settings are read from it"})
		}
		delete(l.last, o.path)
		return nil, nil
	}
	l.last[o.path] = doc
	return doc, nil
}

// flags lays the flags over everything else.
func (d *draft) flags(f Flags) {
	if f.Model != "" {
		d.sources = append(d.sources, source{fallback: choice{id: f.Model, at: Warning{Name: "--model:"}}})
	}
	if f.Yolo {
		d.config.DefaultMode = ModeYolo
	}
	if f.Thinking != nil {
		d.config.Thinking = f.Thinking
	}
	if f.Kernel != "" {
		d.config.Kernel = f.Kernel
	}
	if f.Debug {
		d.config.Debug = true
	}
}
