package kernel

import (
	"fmt"
	"slices"

	"kimi-acp/soul"
)

var (
	_ soul.ModelNamer = (*Kernel)(nil)
	_ soul.ModelNamer = (*Fallback)(nil)
)

// takesModels tells whether the program can be started with another model and still knows
// what was said.
func (p Program) takesModels() bool {
	return p.Kind != Custom || p.mentions(modelPlace) && p.mentions(sessionPlace)
}

// ModelNames are the models that the program can be started with; see soul.ModelNamer.
func (k *Kernel) ModelNames() []string {
	if !k.cfg.Program.takesModels() {
		return nil
	}
	if first := k.cfg.Launch.Model; first != "" && !slices.Contains(k.cfg.Models, first) {
		return append([]string{first}, k.cfg.Models...)
	}
	return slices.Clone(k.cfg.Models)
}

// ModelName is the model that was chosen last, else that of the Config, else the first.
func (k *Kernel) ModelName() string {
	k.mu.Lock()
	model := k.model
	k.mu.Unlock()
	if names := k.ModelNames(); model == "" && len(names) > 0 {
		return names[0]
	}
	return model
}

// NameModel has the program started anew with a model before the next turn; see
// soul.ModelNamer.
func (k *Kernel) NameModel(name string) error {
	if !slices.Contains(k.ModelNames(), name) {
		return fmt.Errorf("the kernel %s has no model %q in its settings", k.name(), name)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.model = name
	return nil
}

// ModelNames are those of the kernel, none after a fall.
func (f *Fallback) ModelNames() []string {
	if f.hasFallen() {
		return nil
	}
	return f.kernel.ModelNames()
}

// ModelName is the kernel's.
func (f *Fallback) ModelName() string { return f.kernel.ModelName() }

// NameModel has the kernel use another model.
func (f *Fallback) NameModel(name string) error { return f.kernel.NameModel(name) }
