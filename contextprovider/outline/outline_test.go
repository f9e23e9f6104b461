package outline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOf(t *testing.T) {
	for _, tt := range []struct {
		name, path, text string
		want             string
	}{
		{
			"go", "a.go", "package p\n\n// Run runs.\nfunc Run[T any](x T) error { return nil }\n\n// T is it.\ntype T struct {\n\tA, B int // both\n}\n\nfunc (t *T) Do() {}\n\ntype I interface {\n\t// Get gets.\n\tGet() int\n}\n\nconst (\n\t// One is one.\n\tOne = 1\n)\n\nvar _, V = 1, 2\n",
			"4 func Run: func Run[T any](x T) error | Run runs.\n7 type T: type T struct {;A, B int // both;} | T is it.\n8 field T.A: A, B int | \n8 field T.B: A, B int | \n11 method T.Do: func (t *T) Do() | \n13 type I: type I interface {;// Get gets.;Get() int;} | \n15 method I.Get: Get() int | Get gets.\n20 const One: const One = 1 | One is one.\n23 var V: var _, V = 1, 2 | \n",
		},
		{"broken go", "a.go", "package p\nfunc A() {}\nfunc (", "2 func A: func A() | \n"},
		{"no go", "a.go", "\x00\xff", ""},
		{
			"python", "a.py", "# Adds.\n# Twice.\n@cached\nasync def add(a, b):\n    return a\n\nclass Thing(Base):\n    def go(self): pass\nLIMIT: int = 3\nif x == 3:\n    y = 1\n",
			"4 func add: async def add(a, b): | Adds.;Twice.\n7 class Thing: class Thing(Base): | \n8 func go: def go(self): pass | \n9 var LIMIT: LIMIT: int = 3 | \n",
		},
		{
			"typescript", "a.tsx", "export default async function load(x: number) {\n  const inner = 1\n}\nexport interface P<T> {\nexport type U = string\nexport const View = () => {\ndeclare enum E {\nreturn function x() {}\n",
			"1 func load: export default async function load(x: number) | \n4 interface P: export interface P<T> | \n5 type U: export type U = string | \n6 const View: export const View = () => | \n7 enum E: declare enum E | \n",
		},
		{
			"rust", "a.rs", "/// Opens.\n#[inline]\npub(crate) async unsafe fn open<'a>(p: &'a str) -> Result<()> {\npub struct S;\nimpl S {}\nconst N: usize = 1;\nmacro_rules! m {\n",
			"3 func open: pub(crate) async unsafe fn open<'a>(p: &'a str) -> Result<()> | Opens.\n4 struct S: pub struct S; | \n6 const N: const N: usize = 1; | \n7 macro m: macro_rules! m | \n",
		},
		{"c", "a.c", "#define MAX(a) a\nstatic int run(char **argv)\n{\n  call(x);\n  if (a) {\n}\nstruct point {\nreturn f(x)\nint declared(void);\n", "1 macro MAX: #define MAX(a) a | \n2 func run: static int run(char **argv) | \n7 type point: struct point | \n"},
		{"java", "A.java", "public final class A<T> {\n  @Override public List<String> all(int n) throws X {\n    return get(n);\n    if (x) {\n  }\n", "1 class A: public final class A<T> | \n2 method all: @Override public List<String> all(int n) throws X | \n"},
		{"shell", "a.sh", "run() {\nfunction go {\n", "1 func run: run() | \n2 func go: function go | \n"},
		{"unknown", "a.txt", "func A() {}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got strings.Builder
			for _, d := range Of(tt.path, []byte(tt.text)) {
				name := d.Name
				if d.Of != "" {
					name = d.Of + "." + name
				}
				fmt.Fprintf(&got, "%d %s %s: %s | %s\n", d.Line, d.Kind, name, strings.NewReplacer("\n\t", ";", "\n", ";").Replace(d.Signature), strings.ReplaceAll(d.Doc, "\n", ";"))
			}
			if diff := cmp.Diff(tt.want, got.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOfBounds(t *testing.T) {
	if got := Of("a.py", []byte(strings.Repeat("def a(): pass\n", maxDefinitions+10))); len(got) != maxDefinitions {
		t.Errorf("%d definitions", len(got))
	}
	if got := Of("a.go", []byte("package p\nfunc A() {}\n//"+strings.Repeat("x", MaxText))); got != nil {
		t.Errorf("%v", got)
	}
	for _, d := range Of("a.go", []byte("package p\nfunc A(a struct{"+strings.Repeat("ä int;", 500)+"}) {}\n")) {
		if len(d.Signature) > maxSignature+len("…") {
			t.Errorf("%d bytes", len(d.Signature))
		}
	}
}

// FuzzOf: nothing makes it panic, and what it finds stands where it says.
func FuzzOf(f *testing.F) {
	f.Add("a.go", "package p\nfunc (t T[int]) A() {}\n")
	f.Add("a.py", "def a():\n")
	f.Add("a.java", "private static int a(int b) {\n")
	f.Fuzz(func(t *testing.T, path, text string) {
		lines := strings.Split(text, "\n")
		for _, d := range Of(path, []byte(text)) {
			if d.Line < 1 || d.Line > len(lines) || d.Name == "" {
				t.Fatalf("%+v of %d lines", d, len(lines))
			}
			if !strings.HasSuffix(path, ".go") && !strings.Contains(lines[d.Line-1], d.Name) {
				t.Fatalf("%+v is not in %q", d, lines[d.Line-1])
			}
		}
	})
}
