package guard

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"strings"
	"testing"
)

// source is one parsed Go file.
type source struct {
	path    string
	content []byte
	file    *ast.File
}

// sources parses all Go files that people wrote.
func sources(t *testing.T) (out []source, fset *token.FileSet) {
	t.Helper()
	fset = token.NewFileSet()
	files(t, ".", func(p string, content []byte) {
		if isGenerated(content) {
			return
		}
		f, err := parser.ParseFile(fset, p, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("parse: %v", err)
			return
		}
		out = append(out, source{p, content, f})
	}, ".go")
	return out, fset
}

func TestGoFilesAreFormatted(t *testing.T) {
	all, _ := sources(t)
	for _, s := range all {
		if want, err := format.Source(s.content); err != nil || string(want) != string(s.content) {
			t.Errorf("%s is not formatted: run gofmt -w %s", s.path, s.path)
		}
	}
}

func TestPackagesHaveOneComment(t *testing.T) {
	all, _ := sources(t)
	documented, packages := map[string][]string{}, map[string]bool{}
	for _, s := range all {
		if strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		dir := path.Dir(s.path)
		packages[dir] = true
		if s.file.Doc != nil && strings.TrimSpace(s.file.Doc.Text()) != "" {
			documented[dir] = append(documented[dir], path.Base(s.path))
		}
	}
	for dir := range packages {
		switch n := len(documented[dir]); {
		case n == 0 && !generatedOnly(t, dir):
			t.Errorf("package %s has no comment: say in one of its files what it is for", dir)
		case n > 1:
			t.Errorf("package %s has a comment in each of %s: keep one", dir, strings.Join(documented[dir], ", "))
		}
	}
}

// generatedOnly reports whether the folder's package comment may be a generated file's.
func generatedOnly(t *testing.T, dir string) bool {
	t.Helper()
	found := false
	files(t, dir, func(p string, content []byte) {
		if path.Dir(p) == dir && isGenerated(content) {
			found = true
		}
	}, ".go")
	return found
}

func TestExportedNamesHaveComments(t *testing.T) {
	all, fset := sources(t)
	for _, s := range all {
		if strings.HasSuffix(s.path, "_test.go") || s.file.Name.Name == "main" || strings.HasPrefix(s.path, "examples/") {
			continue
		}
		for _, d := range s.file.Decls {
			for _, name := range bare(d) {
				t.Errorf("%s: %s is exported and has no comment: say what a caller must know", fset.Position(name.Pos()), name.Name)
			}
		}
	}
}

// bare are the exported names of a declaration that no comment explains.
func bare(d ast.Decl) []*ast.Ident {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && exportedReceiver(d) && !wellKnown(d) {
			return []*ast.Ident{d.Name}
		}
	case *ast.GenDecl:
		if d.Doc == nil {
			return bareSpecs(d.Specs)
		}
	}
	return nil
}

func bareSpecs(specs []ast.Spec) (out []*ast.Ident) {
	for _, s := range specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Doc == nil && s.Comment == nil && s.Name.IsExported() {
				out = append(out, s.Name)
			}
		case *ast.ValueSpec:
			if s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, n := range s.Names {
				if n.IsExported() {
					out = append(out, n)
				}
			}
		}
	}
	return out
}

// wellKnown are methods whose contract the standard library has written down.
func wellKnown(d *ast.FuncDecl) bool {
	return d.Recv != nil && (d.Name.Name == "Error" || d.Name.Name == "Unwrap" || d.Name.Name == "String")
}

func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return true
	}
	id := receiverType(d.Recv.List[0].Type)
	return id != nil && id.IsExported()
}

// receiverType returns the name of a receiver's type without pointer and type parameters, or nil if x has none.
func receiverType(x ast.Expr) *ast.Ident {
	for {
		switch y := x.(type) {
		case *ast.StarExpr:
			x = y.X
		case *ast.IndexExpr:
			x = y.X
		case *ast.IndexListExpr:
			x = y.X
		case *ast.Ident:
			return y
		default:
			return nil
		}
	}
}
