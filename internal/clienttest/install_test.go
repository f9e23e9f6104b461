//go:build clients

package clienttest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/foreigntest"
)

// installTime bounds the installation of one package.
const installTime = 5 * time.Minute

// packages is testdata/package.json: the clients with their exact versions.
type packages struct {
	Dependencies map[string]string `json:"dependencies"`
	AllowScripts map[string]bool   `json:"allowScripts,omitempty"`
	// Beside are packages of the list that another one does not work without.
	Beside map[string][]string `json:"beside,omitempty"`
}

func readPackages(t *testing.T) packages {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "package.json"))
	if err != nil {
		t.Fatal(err)
	}
	var p packages
	if err := json.Unmarshal(data, &p); err != nil {
		t.Fatalf("testdata/package.json: %v", err)
	}
	return p
}

// manifest is the package.json that installs one package of the list, with what it
// does not work without, and nothing else.
func (p packages) manifest(name string) ([]byte, error) {
	version, ok := p.Dependencies[name]
	if !ok {
		return nil, fmt.Errorf("testdata/package.json does not name %s", name)
	}
	one := struct {
		Private bool `json:"private"`
		packages
	}{true, packages{Dependencies: map[string]string{name: version}}}
	for _, other := range p.Beside[name] {
		one.Dependencies[other] = p.Dependencies[other]
	}
	if p.AllowScripts[name] {
		one.AllowScripts = map[string]bool{name: true}
	}
	return json.MarshalIndent(one, "", "  ")
}

// install gives the node_modules folder that holds a package of the list, and
// skips the test with a banner when the package cannot be had. What was installed
// once is used again as long as its manifest stays the same. within are folders of
// the modules that hold a package.json of their own, whose packages are installed too.
func install(t *testing.T, list packages, name string, within ...string) string {
	t.Helper()
	manifest, err := list.manifest(name)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(manifest)
	program := foreigntest.Program{Name: "The client " + name + " (" + list.Dependencies[name] + ")", Folder: name + "-" + hex.EncodeToString(sum[:6]), Limit: installTime}
	began := time.Now()
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		return installInto(ctx, dir, manifest, list.AllowScripts[name], within)
	})
	t.Logf("%s %s was there after %v", name, list.Dependencies[name], time.Since(began).Round(time.Millisecond))
	return filepath.Join(dir, "node_modules")
}

// shelf is where clients are kept between runs.
var shelf = foreigntest.Shelf{Variable: "KIMI_CLIENTS_DIR", Name: "clients"}

// installInto installs a manifest in dir.
func installInto(ctx context.Context, dir string, manifest []byte, scripts bool, within []string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("look for npm: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), manifest, 0o644); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	for _, folder := range append([]string{"."}, within...) {
		argv := []string{npm, "install", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline", "--loglevel=error"}
		if folder == "." {
			argv = append(argv, "--no-package-lock") // what is kept must not name a registry
		}
		if !scripts {
			argv = append(argv, "--ignore-scripts")
		}
		if err := foreigntest.Run(ctx, filepath.Join(dir, folder), nil, argv...); err != nil {
			return err
		}
	}
	return nil
}

// resolve gives the main module of an installed package.
func resolve(t *testing.T, node, modules, name string) string {
	t.Helper()
	script := `console.log(require("node:module").createRequire(process.argv[1] + "/").resolve(process.argv[2]))`
	out, err := exec.CommandContext(t.Context(), node, "-e", script, modules, name).Output()
	if err != nil {
		if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
			err = fmt.Errorf("%w: %s", err, exit.Stderr)
		}
		t.Fatalf("resolve the module of %s: %v", name, err)
	}
	return strings.TrimSpace(string(out))
}
