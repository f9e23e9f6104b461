package kernel

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// Kind says what is known of a kernel's command line.
type Kind uint8

// The kinds.
const (
	Builtin Kind = iota // the soul in this program
	Python              // kimi-cli
	Rust                // kimi-agent
	Auto                // the first of these that there is, else the built-in soul
	Custom              // a command line that is run as it is
)

// Choice is which kernel the user wants. The zero value is the built-in soul.
type Choice struct {
	Kind    Kind
	Command []string // of Custom: the program and its arguments
}

// ParseChoice reads builtin, python, rust, auto, or a command line, which is taken
// apart as a shell does but never run by one. The empty text is the built-in soul.
func ParseChoice(s string) (Choice, error) {
	switch strings.TrimSpace(s) {
	case "", "builtin":
		return Choice{}, nil
	case "python":
		return Choice{Kind: Python}, nil
	case "rust":
		return Choice{Kind: Rust}, nil
	case "auto":
		return Choice{Kind: Auto}, nil
	}
	words, err := splitWords(s, runtime.GOOS != "windows")
	if err != nil {
		return Choice{}, fmt.Errorf("the kernel %q is no command line: %w", s, err)
	}
	return Choice{Kind: Custom, Command: words}, nil
}

// String is the word that ParseChoice reads; a command line has none.
func (k Kind) String() string {
	switch k {
	case Python:
		return "python"
	case Rust:
		return "rust"
	case Auto:
		return "auto"
	case Custom:
		return "a command line"
	}
	return "builtin"
}

// String is the text that ParseChoice reads.
func (c Choice) String() string {
	if c.Kind == Custom {
		return strings.Join(c.Command, " ")
	}
	return c.Kind.String()
}

// Program is a kernel's program that was found.
type Program struct {
	Kind Kind     // Python, Rust or Custom
	Args []string // the program, an absolute path where it was found by name, and the arguments that are the user's
}

// Places is where programs are looked for, in this order.
type Places struct {
	Named  string // a path that the user gave, KIMI_KERNEL_BIN; "": none
	Beside string // the folder of this program; "": unknown
	Path   func(name string) (string, error)
}

// UsualPlaces are those of this process. Named is KIMI_KERNEL_BIN.
func UsualPlaces(getenv func(string) string) Places {
	p := Places{Named: getenv("KIMI_KERNEL_BIN"), Path: exec.LookPath}
	if self, err := os.Executable(); err == nil {
		p.Beside = filepath.Dir(self)
	}
	return p
}

// ErrNoProgram says that there is no program for a kernel.
var ErrNoProgram = errors.New("there is no such kernel on this machine")

// Find gives the program of a choice that is not Builtin. An error matches ErrNoProgram
// and says what to install or set.
func (p Places) Find(c Choice) (Program, error) {
	switch c.Kind {
	case Python:
		return p.one(Python)
	case Rust:
		return p.one(Rust)
	case Auto:
		python, err := p.one(Python)
		if err == nil {
			return python, nil
		}
		if rust, rustErr := p.one(Rust); rustErr == nil {
			return rust, nil
		}
		return Program{}, err
	}
	if len(c.Command) == 0 {
		return Program{}, ErrNoProgram
	}
	found, err := p.Path(c.Command[0])
	if err != nil {
		return Program{}, fmt.Errorf("%w: %s cannot be found", ErrNoProgram, c.Command[0])
	}
	return Program{Kind: Custom, Args: append([]string{found}, c.Command[1:]...)}, nil
}

// programNames are what the programs of a kind are called.
func programNames(k Kind) []string {
	if k == Rust {
		return []string{"kimi-agent", "kagent"}
	}
	return []string{"kimi", "kimi-cli"}
}

func (p Places) one(k Kind) (Program, error) {
	names := programNames(k)
	if p.Named != "" {
		if !isProgram(p.Named) {
			return Program{}, fmt.Errorf("%w: KIMI_KERNEL_BIN is %s, which is no program", ErrNoProgram, p.Named)
		}
		base := strings.TrimSuffix(strings.ToLower(filepath.Base(p.Named)), ".exe")
		// Under another name than the other kind's it is whatever is asked for.
		if other := programNames(Python + Rust - k); slices.Contains(other, base) {
			return Program{}, fmt.Errorf("%w: KIMI_KERNEL_BIN is %s, which is the other kernel", ErrNoProgram, p.Named)
		}
		return Program{Kind: k, Args: []string{p.Named}}, nil
	}
	for _, name := range names {
		if p.Beside == "" {
			break
		}
		path := filepath.Join(p.Beside, name)
		if runtime.GOOS == "windows" {
			path += ".exe"
		}
		if isProgram(path) {
			return Program{Kind: k, Args: []string{path}}, nil
		}
	}
	for _, name := range names {
		if path, err := p.Path(name); err == nil {
			return Program{Kind: k, Args: []string{path}}, nil
		}
	}
	return Program{}, fmt.Errorf("%w: %s is neither beside kimi-acp nor in PATH; install it, or set KIMI_KERNEL_BIN", ErrNoProgram, names[0])
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
