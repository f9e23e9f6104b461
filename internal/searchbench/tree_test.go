//go:build bench

package searchbench

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

const (
	treeFiles      = 50_000
	filesPerFolder = 40
)

// makeTree writes a tree of made-up sources, about 2 KB each, with ignore files at
// several levels. It is the same each time.
func makeTree(b *testing.B) string {
	b.Helper()
	root := b.TempDir()
	random := rand.New(rand.NewPCG(7, 9))
	write := func(path string, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	folder := ""
	for i := range treeFiles {
		if i%filesPerFolder == 0 {
			n := i / filesPerFolder
			folder = filepath.Join(root, fmt.Sprintf("area%02d", n/50), fmt.Sprintf("part%d", n/5%10), fmt.Sprintf("pkg%d", n%5))
			if err := os.MkdirAll(folder, 0o700); err != nil {
				b.Fatal(err)
			}
		}
		if i%(filesPerFolder*50) == 0 {
			write(filepath.Join(filepath.Dir(folder), ".gitignore"), []byte("*.tmp\n/build/\n!keep.tmp\n**/generated/*.pb.go\n"))
		}
		ext := []string{"go", "go", "ts", "py", "md", "tmp"}[i%6]
		write(filepath.Join(folder, fmt.Sprintf("file%d.%s", i, ext)), source(random, i))
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o700); err != nil {
		b.Fatal(err)
	}
	write(filepath.Join(root, ".gitignore"), []byte("node_modules/\n*.log\n.cache\n/out\n"))
	return root
}

func source(random *rand.Rand, n int) []byte {
	words := []string{"request", "Handler", "context", "return", "value", "error", "buffer", "stream", "index", "config", "session", "token"}
	word := func() string { return words[random.IntN(len(words))] }
	var b bytes.Buffer
	fmt.Fprintf(&b, "// Code of unit %d.\npackage unit\n\n", n)
	for f := range 6 {
		fmt.Fprintf(&b, "func F%d(ctx context.Context, %s string) error {\n", n*10+f, word())
		for range 5 {
			fmt.Fprintf(&b, "\t%s := %s(%s, %d) // %s of the %s\n", word(), word(), word(), random.IntN(1000), word(), word())
		}
		fmt.Fprintf(&b, "\treturn %s%d\n}\n\n", word(), random.IntN(100_000))
	}
	return b.Bytes()
}
