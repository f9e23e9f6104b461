package importtest

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "kimi-acp"

// pkg is a package as go list tells of it.
type pkg struct {
	ImportPath   string
	Dir          string
	GoFiles      []string
	Imports      []string
	TestImports  []string
	XTestImports []string
}

// name is the import path without the module's name, "." for the root.
func (p pkg) name() string { return within(p.ImportPath) }

func within(path string) string {
	if path == module {
		return "."
	}
	return strings.TrimPrefix(path, module+"/")
}

func ours(path string) bool { return path == module || strings.HasPrefix(path, module+"/") }

func listPackages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,Imports,TestImports,XTestImports", module+"/...")
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %v\n%s", err, exit.Stderr)
		}
		t.Fatalf("go list: %v", err)
	}
	var packages []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("reading go list: %v", err)
		}
		packages = append(packages, p)
	}
	if len(packages) < 5 {
		t.Fatalf("go list names %d packages, which cannot be all", len(packages))
	}
	return packages
}

// fits tells whether a package is meant by a pattern.
func fits(pattern, name string) bool {
	if folder, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == folder || strings.HasPrefix(name, folder+"/")
	}
	return name == pattern
}

func fitsAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return fits(p, name) })
}

// ruleFor gives the rule for a package, nil when there is none.
func ruleFor(name string) *rule {
	var best *rule
	for i, r := range rules {
		if fits(r.pattern, name) && (best == nil || len(r.pattern) > len(best.pattern)) {
			best = &rules[i]
		}
	}
	return best
}

func isTestKit(name string) (exceptions []string, ok bool) {
	for _, kit := range testKits {
		if fits(kit.pattern, name) {
			return kit.exceptions, true
		}
	}
	return nil, false
}

// violations says what a package imports that it may not.
func violations(p pkg) []string {
	name := p.name()
	r := ruleFor(name)
	if r == nil {
		return []string{name + " is not in the table: add a rule to internal/importtest/table.go, at its place in the house (docs/design.md)"}
	}
	_, isKit := isTestKit(name)
	var found []string
	for _, path := range p.Imports {
		to := within(path)
		switch exceptions, kit := isTestKit(to); {
		case !ours(path):
			if !mayUse(name, path) && !isKit {
				found = append(found, name+" imports "+path+", which the table keeps for other packages")
			}
		case kit && !isKit && !slices.Contains(exceptions, name):
			found = append(found, name+" imports the test kit "+to+" outside of tests")
		case !fitsAny(r.allowed, to):
			found = append(found, name+" imports "+to+", which does not stand beneath it; declare what it needs as an interface")
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		if to := within(imported); ours(imported) && !mayTestWith(r, name, to) {
			found = append(found, name+" imports "+to+" in a test, which does not stand beneath it")
		}
	}
	return found
}

// mayTestWith tells whether the tests of a package may import another: what the
// package may, itself and what is in it, and what is there for tests, or for its own.
func mayTestWith(r *rule, name, to string) bool {
	if _, kit := isTestKit(to); kit || fits(name+"/...", to) || fitsAny(r.allowed, to) || fitsAny(testsWith[name], to) {
		return true
	}
	return slices.Contains(forTests, to) && fitsAny(r.allowed, path.Dir(to))
}

func mayUse(name, path string) bool {
	for prefix, users := range outside {
		if path == prefix || strings.HasPrefix(path, prefix+"/") {
			return fitsAny(users, name)
		}
	}
	return true
}

func TestImports(t *testing.T) {
	for _, p := range listPackages(t) {
		for _, text := range violations(p) {
			t.Error(text)
		}
	}
}

// The table catches what it is there to catch.
func TestViolations(t *testing.T) {
	in := func(name string, imports ...string) pkg {
		p := pkg{ImportPath: module + "/" + name}
		for _, path := range imports {
			if !strings.Contains(path, ".") {
				path = module + "/" + path
			}
			p.Imports = append(p.Imports, path)
		}
		return p
	}
	tests := []struct {
		name string
		pkg  pkg
		want string // empty: nothing
	}{
		{"down", in("acp", "soul", "fileop", "internal/jsonrpc"), ""},
		{"up", in("soul", "acp"), "does not stand beneath"},
		{"internal up", in("internal/proc", "fileop"), "does not stand beneath"},
		{"messages know nobody", in("soul/llm", "soul/wire"), "does not stand beneath"},
		{"files know no model", in("fileop", "soul/llm"), "does not stand beneath"},
		{"unlisted", in("util"), "not in the table"},
		{"the SDK beyond acp", in("soul", "github.com/coder/acp-go-sdk"), "keeps for other packages"},
		{"the SDK in acp", in("acp", "github.com/coder/acp-go-sdk"), ""},
		{"a subpackage of the model client", in("soul/tool", "github.com/sashabaranov/go-openai/jsonschema"), "keeps for other packages"},
		{"test kit in the program", in("acp", "internal/acptest"), "outside of tests"},
		{"test kit in a test", pkg{ImportPath: module + "/acp", TestImports: []string{module + "/internal/acptest"}}, ""},
		{"scripted model in a test", pkg{ImportPath: module + "/acp", TestImports: []string{module + "/soul/llm/scripted"}}, ""},
		{"scripted model in a test that knows no model", pkg{ImportPath: module + "/fileop", TestImports: []string{module + "/soul/llm/scripted"}}, "in a test"},
		{"up in a test", pkg{ImportPath: module + "/fileop", XTestImports: []string{module + "/acp"}}, "in a test"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := strings.Join(violations(tt.pkg), "\n")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// Every package says what it is and what it must not know.
func TestPackageComments(t *testing.T) {
	for _, p := range listPackages(t) {
		if len(p.GoFiles) == 0 {
			continue
		}
		var comment strings.Builder
		for _, file := range p.GoFiles {
			parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.ParseComments|parser.PackageClauseOnly)
			if err != nil {
				t.Fatal(err)
			}
			comment.WriteString(parsed.Doc.Text())
		}
		text := strings.Join(strings.Fields(comment.String()), " ")
		if !strings.Contains(text, "must not") {
			t.Errorf("the comment of package %s does not say what it must not know or do", p.name())
		}
	}
}

func TestFileLength(t *testing.T) {
	const limit = 400
	for _, p := range listPackages(t) {
		for _, file := range p.GoFiles {
			data, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				t.Fatal(err)
			}
			if n := strings.Count(string(data), "\n"); n > limit {
				t.Errorf("%s/%s has %d lines, more than %d: it holds more than one idea", p.name(), file, n, limit)
			}
		}
	}
}
