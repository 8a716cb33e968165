package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// pagePackages are the directories of the packages that declare pages.
func pagePackages(t *testing.T) []string {
	t.Helper()
	services, err := filepath.Glob(filepath.Join(kit.Root(), "core", "services", "*", "pages"))
	if err != nil || len(services) == 0 {
		t.Fatalf("there are no pages of services: %v", err)
	}
	return append(services, filepath.Join(kit.Root(), "core", "console"), filepath.Join(kit.Root(), "core", "supervisor"))
}

// sources are the parsed files of a directory, without tests.
func sources(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.HasSuffix(name, "_templ.go") {
			file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
	}
	return files
}

// constants are the texts of a package by the names that another one uses for them, prefix before each.
func constants(files []*ast.File, prefix string, known map[string]ast.Expr) {
	for _, file := range files {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Tok != token.CONST {
				continue
			}
			for _, s := range g.Specs {
				for i, value := range s.(*ast.ValueSpec).Values {
					known[prefix+s.(*ast.ValueSpec).Names[i].Name] = value
				}
			}
		}
	}
}

// textOf is the text of an expression of texts and constants. What is none is shown as it is written.
func textOf(e ast.Expr, known map[string]ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if text, err := strconv.Unquote(e.Value); err == nil {
			return text
		}
	case *ast.BinaryExpr:
		return textOf(e.X, known) + textOf(e.Y, known)
	case *ast.Ident, *ast.SelectorExpr:
		if value, ok := known[types.ExprString(e)]; ok {
			return textOf(value, known)
		}
	}
	return types.ExprString(e)
}

// rooms returns the packages below that of a service.
func rooms(t *testing.T, service string) (dirs []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(service, "*", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		dirs = append(dirs, filepath.Dir(file))
	}
	return slices.Compact(dirs)
}

// declaredRoutes are the paths at which the pages of the core and of the services take a method, get or post, each behind the directory
// that declares it: what is written as httpd.Route, or as a call of a package's own function get or post.
func declaredRoutes(t *testing.T, method string) (routes []string) {
	t.Helper()
	for _, dir := range pagePackages(t) {
		known := map[string]ast.Expr{}
		constants(sources(t, filepath.Join(kit.Root(), "core", "console", "ui")), "ui.", known)
		for _, room := range rooms(t, filepath.Dir(dir)) {
			for _, prefix := range []string{"", filepath.Base(room) + "."} {
				constants(sources(t, room), prefix, known)
			}
		}
		for _, prefix := range []string{"", "service."} {
			constants(sources(t, filepath.Dir(dir)), prefix, known)
		}
		files := sources(t, dir)
		constants(files, "", known)
		name, err := filepath.Rel(filepath.Join(kit.Root(), "core"), dir)
		if err != nil {
			t.Fatal(err)
		}
		add := func(path ast.Expr) { routes = append(routes, filepath.ToSlash(name)+" "+textOf(path, known)) }
		for _, file := range files {
			ast.Inspect(file, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.CallExpr:
					// A function such as adminGet makes routes with a policy.
					name, suffix := "", strings.ToUpper(method[:1])+method[1:]
					if f, ok := n.Fun.(*ast.Ident); ok {
						name = f.Name
					}
					if (name == method || name == method+"Route" || strings.HasSuffix(name, suffix) && len(n.Args) == 2) && len(n.Args) > 1 &&
						types.ExprString(n.Args[0]) != "ctx" {
						add(n.Args[0])
					}
				case *ast.CompositeLit:
					fields := map[string]ast.Expr{}
					for _, e := range n.Elts {
						if kv, ok := e.(*ast.KeyValueExpr); ok {
							fields[types.ExprString(kv.Key)] = kv.Value
						}
					}
					// These functions have a literal whose path is their parameter.
					if path := fields["Path"]; path != nil && fields["Method"] != nil &&
						strings.EqualFold(types.ExprString(fields["Method"]), "http.Method"+method) && !strings.HasSuffix(types.ExprString(path), "path") {
						add(path)
					}
				}
				return true
			})
		}
	}
	slices.Sort(routes)
	return slices.Compact(routes)
}
