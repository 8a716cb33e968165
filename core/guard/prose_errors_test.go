package guard

import (
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// errorMakers are the functions whose first sentence becomes the text of an error that callers of the API and users of plugins read.
var errorMakers = map[string][]string{
	"fault": {"New", "Wrap", "InvalidField"},
	"errs":  {"New", "BadInput", "NotFound", "Unavailable"},
}

// listErrorTexts returns the texts of errors in the trees core, plugins and sdk, a subject for each, without those of test parts.
func listErrorTexts(t *testing.T) (out []subjectOfProse) {
	t.Helper()
	all, _ := sources(t)
	for _, tree := range []string{"core", "plugins", "sdk"} {
		s := subjectOfProse{name: "errors of " + tree}
		for _, src := range all {
			if within(src.path, tree) && !within(src.path, "core/internal/testing") && !strings.HasSuffix(src.path, "_test.go") {
				s.paragraphs = append(s.paragraphs, findErrorTexts(src.file)...)
			}
		}
		if len(s.paragraphs) < 40 {
			t.Errorf("%d errors were found in %s; have their functions other names now?", len(s.paragraphs), tree)
		}
		out = append(out, s)
	}
	return out
}

// findErrorTexts returns the text of each error that a file makes: the first text with a space among the arguments.
func findErrorTexts(file *ast.File) (out []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || !makesError(call.Fun) {
			return true
		}
		for _, arg := range call.Args {
			if text := joinLiterals(arg); strings.Contains(text, " ") {
				out = append(out, text)
				break
			}
		}
		return true
	})
	return out
}

// makesError reports whether a function is one of errorMakers.
func makesError(fun ast.Expr) bool {
	sel, ok := fun.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	pkg, ok := sel.X.(*ast.Ident)
	return ok && slices.Contains(errorMakers[pkg.Name], sel.Sel.Name)
}

// joinLiterals returns the text of a string that is written in one or several pieces. What is not a literal counts as nothing.
func joinLiterals(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, _ := strconv.Unquote(e.Value)
			return text
		}
	case *ast.BinaryExpr:
		return joinLiterals(e.X) + joinLiterals(e.Y)
	case *ast.ParenExpr:
		return joinLiterals(e.X)
	}
	return ""
}
