package doctest

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// source is the parsed code of one package.
type source struct {
	folder string
	files  []*ast.File
}

// parse reads the Go files of a folder of the module: its tests, or the others.
func parse(t *testing.T, folder string, tests bool) source {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(home, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	s := source{folder: folder}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") != tests {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		s.files = append(s.files, f)
	}
	if len(s.files) == 0 {
		t.Fatalf("%s has no such files", folder)
	}
	return s
}

// tests names the test functions.
func (s source) tests() []string {
	return slices.DeleteFunc(s.functions("Test"), func(name string) bool { return name == "TestMain" })
}

// functions names those that begin with a word.
func (s source) functions(word string) (names []string) {
	for _, f := range s.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv == nil && strings.HasPrefix(fn.Name.Name, word) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// words are the strings of the code, and the names that it takes from other
// packages.
func (s source) words() map[string]bool {
	found := map[string]bool{}
	for _, f := range s.files {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil {
					found[text] = true
				}
			case *ast.SelectorExpr:
				found[n.Sel.Name] = true
			}
			return true
		})
	}
	return found
}

// number gives the value of an integer constant of the package.
func (s source) number(t *testing.T, name string) int64 {
	t.Helper()
	for _, f := range s.files {
		for _, d := range f.Decls {
			if n, ok := constantIn(d, name); ok {
				return n
			}
		}
	}
	t.Errorf("%s has no integer constant %s", s.folder, name)
	return 0
}

func constantIn(d ast.Decl, name string) (int64, bool) {
	group, ok := d.(*ast.GenDecl)
	if !ok || group.Tok != token.CONST {
		return 0, false
	}
	for _, spec := range group.Specs {
		v, ok := spec.(*ast.ValueSpec)
		if !ok {
			continue
		}
		for i, id := range v.Names {
			if id.Name != name || i >= len(v.Values) {
				continue
			}
			value, err := types.Eval(token.NewFileSet(), nil, token.NoPos, types.ExprString(v.Values[i]))
			if err != nil {
				return 0, false
			}
			return constant.Int64Val(constant.ToInt(value.Value))
		}
	}
	return 0, false
}

func TestSource(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n\nconst a, b = 1, 3 << 10\nconst c = time.Second\nvar s = \"text\" + sdk.Name\nfunc TestOne() {}\nfunc TestMain() {}\n", 0)
	if err != nil {
		t.Fatal(err)
	}
	s := source{"x", []*ast.File{f}}
	if n := s.number(t, "b"); n != 3072 {
		t.Errorf("b = %d", n)
	}
	if _, ok := constantIn(f.Decls[1], "c"); ok {
		t.Error("c counts as an integer that can be told without its package")
	}
	if got := s.tests(); len(got) != 1 || got[0] != "TestOne" {
		t.Errorf("tests %v", got)
	}
	if w := s.words(); !w["text"] || !w["Name"] || w["sdk"] {
		t.Errorf("words %v", w)
	}
}
