package guard

import (
	"go/ast"
	"go/token"
	"path"
	"slices"
	"strings"
	"testing"
)

// TestPluginsStartWithoutPatterns: the process of each built-in plugin contains all of them, so that what a package compiles at its start
// is kept by every one: patterns cost it a megabyte.
func TestPluginsStartWithoutPatterns(t *testing.T) {
	all := packages(t)
	at := slices.IndexFunc(all, func(p pkg) bool { return p.local() == "plugins/cmd/patchbay-plugins" })
	if at < 0 {
		t.Fatal("the program with the built-in plugins is not where it was")
	}
	linked := map[string]bool{}
	for _, dep := range all[at].Deps {
		linked[pkg{ImportPath: dep}.local()] = true
	}
	parsed, fset := sources(t)
	for _, s := range parsed {
		if !linked[path.Dir(s.path)] || strings.HasSuffix(s.path, "_test.go") {
			continue
		}
		for _, call := range patternsAtStart(s.file) {
			t.Errorf("%s: the pattern is compiled at the start of every plugin: wrap it in sync.OnceValue", fset.Position(call.Pos()))
		}
	}
}

// patternsAtStart returns the calls by which the variables of a package compile patterns.
func patternsAtStart(f *ast.File) (out []*ast.CallExpr) {
	for _, d := range f.Decls {
		if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR {
			continue
		}
		ast.Inspect(d, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if fun, ok := call.Fun.(*ast.SelectorExpr); ok && fun.Sel.Name == "MustCompile" {
					out = append(out, call)
				}
			}
			_, function := n.(*ast.FuncLit)
			return !function
		})
	}
	return out
}
