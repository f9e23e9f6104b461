package outline

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// ofGo reads Go. Of a text that does not parse it gives what the parser made out.
func ofGo(text []byte) []Definition {
	set := token.NewFileSet()
	file, _ := parser.ParseFile(set, "", text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	g := golang{set: set, text: text}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			g.function(d)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				g.spec(d, s)
			}
		}
	}
	return g.all
}

type golang struct {
	set  *token.FileSet
	text []byte
	all  []Definition
}

// source gives what stands between two places, as one line each.
func (g *golang) source(from, to token.Pos) string {
	if !from.IsValid() || !to.IsValid() {
		return ""
	}
	a, b := g.set.Position(from).Offset, g.set.Position(to).Offset
	if a < 0 || b < a || b > len(g.text) {
		return ""
	}
	return string(g.text[a:b])
}

func (g *golang) add(name *ast.Ident, kind, of, signature string, doc *ast.CommentGroup) {
	if name.Name == "_" {
		return
	}
	g.all = append(g.all, Definition{Name: name.Name, Of: of, Kind: kind, Line: g.set.Position(name.Pos()).Line, Signature: signature, Doc: doc.Text()})
}

func (g *golang) function(d *ast.FuncDecl) {
	kind, of := "func", ""
	if d.Recv != nil && len(d.Recv.List) > 0 {
		kind, of = "method", receiver(d.Recv.List[0].Type)
	}
	g.add(d.Name, kind, of, g.source(d.Pos(), d.Type.End()), d.Doc)
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			e = t.X
		case *ast.IndexExpr:
			e = t.X
		case *ast.IndexListExpr:
			e = t.X
		case *ast.ParenExpr:
			e = t.X
		case *ast.Ident:
			return t.Name
		default:
			return ""
		}
	}
}

func (g *golang) spec(d *ast.GenDecl, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		doc := s.Doc
		if doc == nil {
			doc = d.Doc
		}
		g.add(s.Name, "type", "", "type "+g.source(s.Pos(), s.End()), doc)
		if i, ok := s.Type.(*ast.InterfaceType); ok && i.Methods != nil {
			g.fields(i.Methods, "method", s.Name.Name)
		}
		if st, ok := s.Type.(*ast.StructType); ok && st.Fields != nil {
			g.fields(st.Fields, "field", s.Name.Name)
		}
	case *ast.ValueSpec:
		doc := s.Doc
		if doc == nil && !d.Lparen.IsValid() {
			doc = d.Doc
		}
		signature, _, _ := strings.Cut(g.source(s.Pos(), s.End()), "\n")
		for _, name := range s.Names {
			g.add(name, d.Tok.String(), "", d.Tok.String()+" "+signature, doc)
		}
	}
}

func (g *golang) fields(list *ast.FieldList, kind, of string) {
	for _, f := range list.List {
		signature, _, _ := strings.Cut(g.source(f.Pos(), f.End()), "\n")
		for _, name := range f.Names {
			g.add(name, kind, of, signature, f.Doc)
		}
	}
}
