package main

import (
	"context"
	"log/slog"
	"os"
	"slices"

	"kimi-acp/acp"
	"kimi-acp/cmd/kimi-acp/run"
	"kimi-acp/contextprovider/lsp"
	"kimi-acp/fileop"
	"kimi-acp/internal/config"
	"kimi-acp/internal/proc"
	"kimi-acp/soul/tool"
)

// codeOf makes what can be asked about the programs of a session's workspace. settings
// gives the settings now.
func codeOf(log *slog.Logger, runner *proc.Runner, settings func() config.Config) func(acp.MomentSpec) acp.Code {
	slots := lsp.NewSlots(lsp.MaxServers)
	return func(s acp.MomentSpec) acp.Code {
		o := codeOptions(s.Roots, s.Files, s.Trusted, settings())
		o.Runner, o.Slots, o.Logger = runner, slots, log
		all := lsp.New(o)
		return acp.Code{Ask: all, Renames: lsp.Installed(o.Servers), Checker: all, Providers: all.Providers(), Close: all.Close}
	}
}

// codeOfRun makes the same for a single turn in a folder.
func codeOfRun(log *slog.Logger, runner *proc.Runner, guard *tool.Guard, dir string, cfg config.Config) func(*fileop.Operator) run.Code {
	return func(files *fileop.Operator) run.Code {
		o := codeOptions([]string{dir}, files, guard.Trusted, cfg)
		o.Runner, o.Logger = runner, log
		all := lsp.New(o)
		return run.Code{Ask: all, Renames: lsp.Installed(o.Servers), Checker: all, Close: all.Close}
	}
}

// codeOptions says what language servers work with, but for what runs them.
func codeOptions(roots []string, files *fileop.Operator, trusted func() bool, cfg config.Config) lsp.Options {
	return lsp.Options{
		Roots:   roots,
		Trusted: func(string) bool { return trusted() },
		Environ: proc.Scrub(os.Environ()),
		Servers: languageServers(cfg.LanguageServers),
		Read: func(ctx context.Context, path string) (string, error) {
			snapshot, err := files.Read(ctx, path)
			return snapshot.Text, err
		},
		Unsaved: func() []string {
			var paths []string
			for _, f := range files.Known() {
				paths = append(paths, f.Path)
			}
			return paths
		},
		Scan: scanOf(files),
	}
}

// languageServers are those that are known, as the settings change them and add to them.
func languageServers(said []config.LanguageServer) []lsp.Server {
	known := lsp.Builtin()
	var first []lsp.Server
	var off []string
	for _, v := range said {
		var s lsp.Server
		if i := slices.IndexFunc(known, func(k lsp.Server) bool { return k.Name == v.Name }); i >= 0 {
			s = known[i]
		}
		s.Name = v.Name
		if len(v.Command) > 0 {
			s.Command = v.Command
		}
		if len(v.Filetypes) > 0 {
			s.Extensions = v.Filetypes
		}
		if v.RootMarkers != nil {
			s.Markers = v.RootMarkers
		}
		if v.Off || len(s.Command) == 0 {
			off = append(off, v.Name)
			continue
		}
		first = append(first, s)
	}
	return slices.DeleteFunc(lsp.With(first, known), func(s lsp.Server) bool { return slices.Contains(off, s.Name) })
}

// Bounds of a search for definitions without a language server.
const (
	maxScanned     = 20_000  // files and folders that are looked at
	maxScannedFile = 512_000 // bytes of a file that is read
)

// scanOf reads the files of a root that are wanted. What may be told of them is decided
// where it is told.
func scanOf(files *fileop.Operator) func(context.Context, string, func(string) bool, func(string, []byte)) error {
	return func(ctx context.Context, root string, want func(string) bool, visit func(string, []byte)) error {
		return files.Scan(ctx, root, fileop.ScanOptions{
			WalkOptions: fileop.WalkOptions{MaxEntries: maxScanned},
			Workers:     2,
			MaxFile:     maxScannedFile,
			Want:        func(e fileop.Entry) bool { return want(e.Path) },
			Visit: func(_ int, e fileop.Entry, data []byte, err error) {
				if err == nil {
					visit(e.Path, data)
				}
			},
		})
	}
}
