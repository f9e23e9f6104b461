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
)

// installTime bounds the installation of one package.
const installTime = 5 * time.Minute

// packages is testdata/package.json: the clients with their exact versions.
type packages struct {
	Dependencies map[string]string `json:"dependencies"`
	AllowScripts map[string]bool   `json:"allowScripts,omitempty"`
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

// manifest is the package.json that installs one package of the list and nothing
// else.
func (p packages) manifest(name string) ([]byte, error) {
	version, ok := p.Dependencies[name]
	if !ok {
		return nil, fmt.Errorf("testdata/package.json does not name %s", name)
	}
	one := struct {
		Private bool `json:"private"`
		packages
	}{true, packages{Dependencies: map[string]string{name: version}}}
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
	cache, err := cacheDir()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(manifest)
	dir := filepath.Join(cache, name+"-"+hex.EncodeToString(sum[:6]))
	modules := filepath.Join(dir, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		return modules
	}
	began := time.Now()
	if err := installInto(t.Context(), dir, manifest, list.AllowScripts[name], within); err != nil {
		skipLoudly(t, name, list.Dependencies[name], err)
	}
	t.Logf("installed %s %s in %v", name, list.Dependencies[name], time.Since(began).Round(time.Millisecond))
	return modules
}

// cacheDir is where clients are kept between runs.
func cacheDir() (string, error) {
	if dir := os.Getenv("KIMI_CLIENTS_DIR"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the clients (KIMI_CLIENTS_DIR names one): %w", err)
	}
	return filepath.Join(dir, "kimi-acp", "clients"), nil
}

// installInto installs a manifest beside dir and renames the result, so that dir
// is there whole or not at all.
func installInto(ctx context.Context, dir string, manifest []byte, scripts bool, within []string) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return fmt.Errorf("look for npm: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return fmt.Errorf("make the folder for clients: %w", err)
	}
	fresh, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-")
	if err != nil {
		return fmt.Errorf("make a folder to install in: %w", err)
	}
	defer os.RemoveAll(fresh) // renamed away when all went well
	if err := os.WriteFile(filepath.Join(fresh, "package.json"), manifest, 0o644); err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, installTime)
	defer cancel()
	for _, folder := range append([]string{"."}, within...) {
		args := []string{"install", "--omit=dev", "--no-audit", "--no-fund", "--no-update-notifier", "--prefer-offline", "--loglevel=error"}
		if folder == "." {
			args = append(args, "--no-package-lock") // what is kept must not name a registry
		}
		if !scripts {
			args = append(args, "--ignore-scripts")
		}
		cmd := exec.CommandContext(ctx, npm, args...)
		cmd.Dir = filepath.Join(fresh, folder)
		cmd.WaitDelay = 5 * time.Second
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("npm install in %s: %w\n%s", folder, err, tail(string(out), 4096))
		}
	}
	if err := os.Rename(fresh, dir); err != nil {
		if _, there := os.Stat(dir); there == nil {
			return nil // another run was faster
		}
		return fmt.Errorf("keep what was installed: %w", err)
	}
	return nil
}

// skipLoudly skips a test in a way that nobody takes for a pass.
func skipLoudly(t *testing.T, name, version string, err error) {
	t.Helper()
	rule := strings.Repeat("!", 78)
	fmt.Fprintf(os.Stderr, "\n%s\n!! NOT TESTED: %s\n!! The client %s (%s) could not be installed:\n", rule, t.Name(), name, version)
	for line := range strings.Lines(strings.TrimSpace(err.Error()) + "\n") {
		fmt.Fprint(os.Stderr, "!!   ", line)
	}
	fmt.Fprintf(os.Stderr, "%s\n\n", rule)
	t.Skipf("%s %s could not be installed: %v", name, version, err)
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

// tail is the end of a text, at most n bytes.
func tail(s string, n int) string {
	if len(s) > n {
		s = "…" + s[len(s)-n:]
	}
	return s
}
