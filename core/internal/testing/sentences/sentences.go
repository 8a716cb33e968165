// Package sentences finds in the sources which sentences a program writes for people, so that a test can ask for a translation of each.
package sentences

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Calls are the functions and methods that are given a sentence, by their names, with the index of the argument that it is.
type Calls map[string]int

// Written returns the sentences in the Go files of a directory by the place where each stands: those that are given to calls, and those
// that are assigned to the field of a variable, if field is such as "p.Message". What varies in a sentence is %s. Tests are left out, and
// arguments without a text.
func Written(t testing.TB, dir string, calls Calls, field string) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sources in %s: %v", dir, err)
	}
	out := map[string]string{}
	set := token.NewFileSet()
	add := func(x ast.Expr) {
		if text := exprText(x); strings.ContainsFunc(text, func(r rune) bool { return r != '%' && r != 's' }) {
			out[set.Position(x.Pos()).String()] = text
		}
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				if f, ok := n.Fun.(*ast.SelectorExpr); ok {
					if i, known := calls[f.Sel.Name]; known && i < len(n.Args) {
						add(n.Args[i])
					}
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if field != "" && len(n.Rhs) == len(n.Lhs) && exprName(left) == field {
						add(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return out
}

// exprName returns a field of a variable as x.y, "" for anything else.
func exprName(x ast.Expr) string {
	field, ok := x.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	variable, ok := field.X.(*ast.Ident)
	if !ok {
		return ""
	}
	return variable.Name + "." + field.Sel.Name
}

// exprText returns the text of an expression: a literal, a sum with one, or a call of fmt.Sprintf. "%s" stands for what varies.
func exprText(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value)
		return verbs.ReplaceAllString(text, "%s")
	case *ast.BinaryExpr:
		return exprText(x.X) + exprText(x.Y)
	case *ast.CallExpr:
		if exprName(x.Fun) == "fmt.Sprintf" {
			return exprText(x.Args[0])
		}
	}
	return "%s"
}

// verbs matches the verbs of fmt that sentences have.
var verbs = regexp.MustCompile(`%[dqv]`)

// CheckTranslated fails the test for each sentence that translate does not know, or whose translation has no Chinese or loses a value. The
// sentences in except need none.
func CheckTranslated(t testing.TB, written map[string]string, except []string, translate func(text string) (string, bool)) {
	t.Helper()
	for place, sentence := range written {
		if slices.Contains(except, sentence) {
			continue
		}
		values := 0
		for strings.Contains(sentence, "%s") {
			values++
			sentence = strings.Replace(sentence, "%s", "x"+strconv.Itoa(values), 1)
		}
		got, known := translate(sentence)
		if !known || !chinese.MatchString(got) {
			t.Errorf("%s: %q is %q in Chinese", place, sentence, got)
		}
		for i := range values {
			if value := "x" + strconv.Itoa(i+1); !strings.Contains(got, value) {
				t.Errorf("%s: %q is %q in Chinese, without %s", place, sentence, got, value)
			}
		}
	}
}

// chinese matches a Chinese character or sign, or an arrow, which needs no translation.
var chinese = regexp.MustCompile(`[\p{Han}：→]`)
