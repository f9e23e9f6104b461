//go:build clients

package clienttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"kimi-acp/internal/foreigntest"
)

// Editors come from Debian's stable release, whatever release the machine runs: the
// packages are downloaded and unpacked, never installed, and their programs run with
// the loader and the libraries beside them.

const debianRelease = "trixie"

// debian is a folder of unpacked packages.
type debian string

// unpack gives a folder with packages and what they need, and skips the test with a
// banner when it cannot be had. It is kept for later runs.
func unpack(t *testing.T, packages ...string) debian {
	t.Helper()
	program := foreigntest.Program{
		Name:   strings.Join(packages, " and ") + " of Debian " + debianRelease,
		Folder: "debian-" + debianRelease + "-" + strings.Join(packages, "-"),
		Limit:  installTime,
	}
	began := time.Now()
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error { return unpackInto(ctx, dir, packages) })
	t.Logf("%s was there after %v", program.Folder, time.Since(began).Round(time.Millisecond))
	return debian(dir)
}

// unpackInto downloads packages beside dir and unpacks them into it.
func unpackInto(ctx context.Context, dir string, packages []string) error {
	mirror, err := debianMirror(ctx)
	if err != nil {
		return err
	}
	apt, err := os.MkdirTemp(filepath.Dir(dir), filepath.Base(dir)+".new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(apt)
	for _, d := range []string{filepath.Join(apt, "lists", "partial"), filepath.Join(apt, "cache", "archives", "partial")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	sources := fmt.Sprintf("deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n", mirror, debianRelease)
	for name, text := range map[string]string{"sources.list": sources, "status": ""} {
		if err := os.WriteFile(filepath.Join(apt, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	options := []string{"-qq", "-y"}
	for _, o := range []string{
		"Dir::Etc::sourcelist=" + filepath.Join(apt, "sources.list"), "Dir::Etc::sourceparts=-",
		"Dir::State::lists=" + filepath.Join(apt, "lists"), "Dir::State::status=" + filepath.Join(apt, "status"),
		"Dir::Cache=" + filepath.Join(apt, "cache"), "APT::Install-Recommends=false", "Debug::NoLocking=1",
	} {
		options = append(options, "-o", o)
	}
	if err := foreigntest.Run(ctx, apt, nil, slices.Concat([]string{"apt-get"}, options, []string{"update"})...); err != nil {
		return err
	}
	if err := foreigntest.Run(ctx, apt, nil, slices.Concat([]string{"apt-get"}, options, []string{"install", "--download-only"}, packages)...); err != nil {
		return err
	}
	archives, err := filepath.Glob(filepath.Join(apt, "cache", "archives", "*.deb"))
	if err != nil || len(archives) == 0 {
		return errors.Join(errors.New("apt-get downloaded nothing"), err)
	}
	for _, archive := range archives {
		if err := foreigntest.Run(ctx, apt, nil, "dpkg-deb", "-x", archive, dir); err != nil {
			return err
		}
	}
	return nil
}

// debianMirror gives the address of the archive that this machine uses.
func debianMirror(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages").Output()
	if err != nil {
		return "", fmt.Errorf("ask apt for its archive: %w", err)
	}
	for line := range strings.Lines(string(out)) {
		if line = strings.TrimSpace(line); strings.HasSuffix(strings.TrimSuffix(line, "/"), "/debian") {
			return line, nil
		}
	}
	return "", errors.New("apt uses no archive of Debian here")
}

// command runs a program of the packages.
func (d debian) command(ctx context.Context, program string, args ...string) *exec.Cmd {
	args = append([]string{"--library-path", strings.Join(d.libraries(), ":"), filepath.Join(string(d), "usr", "bin", program)}, args...)
	return exec.CommandContext(ctx, d.loader(), args...)
}

// libraries are the folders that hold the libraries of the packages.
func (d debian) libraries() []string {
	dirs, _ := filepath.Glob(filepath.Join(string(d), "usr", "lib", "*-linux-gnu*"))
	return dirs
}

// loader is what starts programs of the packages.
func (d debian) loader() string {
	usr := filepath.Join(string(d), "usr")
	loaders, _ := filepath.Glob(filepath.Join(usr, "lib*", "ld-linux*.so.*"))
	more, _ := filepath.Glob(filepath.Join(usr, "lib", "*-linux-gnu*", "ld-linux*.so.*"))
	return append(append(loaders, more...), "no loader was found")[0] // which cannot be run, and says so
}

// patched gives a program of the packages that the system can start by its own name,
// as one must be that starts itself again. The packages must hold patchelf.
func (d debian) patched(t *testing.T, program string) (string, error) {
	whole := filepath.Join(string(d), program)
	patched := whole + "-patched"
	if _, err := os.Stat(patched); err == nil {
		return patched, nil
	}
	fresh := fmt.Sprintf("%s-%d", patched, os.Getpid())
	defer os.Remove(fresh)
	patch := d.command(t.Context(), "patchelf", "--set-interpreter", d.loader(), "--force-rpath", "--set-rpath", strings.Join(d.libraries(), ":"), "--output", fresh, whole)
	if out, err := patch.CombinedOutput(); err != nil {
		return "", fmt.Errorf("patch %s: %w\n%s", program, err, out)
	}
	return patched, os.Rename(fresh, patched)
}

// goplsVersion is the last one that Go 1.26 builds.
const goplsVersion = "v0.23.0"

// installGopls gives the Go language server, which it installs once.
func installGopls(t *testing.T) string {
	t.Helper()
	program := foreigntest.Program{Name: "gopls " + goplsVersion, Folder: "gopls-" + goplsVersion, Limit: installTime}
	dir := shelf.Install(t, program, func(ctx context.Context, dir string) error {
		return foreigntest.Run(ctx, dir, []string{"GOBIN=" + dir, "GOFLAGS="}, "go", "install", "golang.org/x/tools/gopls@"+goplsVersion)
	})
	return filepath.Join(dir, "gopls")
}
