package pages

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// othersWords are the lines that hold nothing but a command, or what somebody else has said.
var othersWords = []string{"compose: %s", "compose %s", "%s | %s"}

// logFormats returns the formats of all lines that the service writes into the logs of jobs, and of all its progress messages, by the
// place in the sources.
func logFormats(t *testing.T) map[string]string {
	t.Helper()
	out := map[string]string{}
	files, err := filepath.Glob("../*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, path := range files {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(set, path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				name, ok := n.Fun.(*ast.SelectorExpr)
				if !ok || len(n.Args) < 2 {
					return true
				}
				switch {
				case slices.Contains([]string{"info", "warn", "fail"}, name.Sel.Name):
					out[set.Position(n.Pos()).String()] = formatOf(n.Args[1])
				case name.Sel.Name == "reportProgress" && len(n.Args) == 4:
					out[set.Position(n.Pos()).String()] = formatOf(n.Args[2])
				}
			case *ast.AssignStmt:
				for i, left := range n.Lhs {
					if to, ok := left.(*ast.SelectorExpr); ok && to.Sel.Name == "Message" && len(n.Rhs) == len(n.Lhs) && isProgress(to.X) {
						out[set.Position(n.Rhs[i].Pos()).String()] = formatOf(n.Rhs[i])
					}
				}
			}
			return true
		})
	}
	return out
}

// isProgress reports whether an expression is the progress of a job, which the sources call p.
func isProgress(x ast.Expr) bool {
	id, ok := x.(*ast.Ident)
	return ok && id.Name == "p"
}

// formatOf returns the text of an expression with %s for what varies in it. It returns "" for an expression without a text.
func formatOf(x ast.Expr) string {
	switch x := x.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(x.Value)
		return text
	case *ast.BinaryExpr:
		left, right := formatOf(x.X), formatOf(x.Y)
		if left == "" && right == "" {
			return ""
		}
		return orVerb(left) + orVerb(right)
	}
	return ""
}

func orVerb(text string) string {
	if text == "" {
		return "%s"
	}
	return text
}

var verb = regexp.MustCompile(`%[sd]`)

// TestLogsAreInTheLanguageOfThePage: every line that the service writes into the log of a job, and every progress message, is a
// sentence with a translation.
func TestLogsAreInTheLanguageOfThePage(t *testing.T) {
	formats := logFormats(t)
	if len(formats) < 50 {
		t.Fatalf("only %d lines were found in the sources", len(formats))
	}
	texts, err := ui.NewTexts(ui.OwnTexts(), os.DirFS("locales"))
	if err != nil {
		t.Fatal(err)
	}
	c, _ := gin.CreateTestContext(httptest.NewRecorder())
	c.Request = httptest.NewRequest("GET", "/", nil)
	c.Request.Header.Set("Accept-Language", ui.Chinese)
	v := ui.NewKit(ui.Config{Texts: texts}).View(c, "")
	for place, format := range formats {
		if format == "" || slices.Contains(othersWords, format) {
			continue
		}
		n := 0
		text := verb.ReplaceAllStringFunc(format, func(string) string { n++; return "x" + strconv.Itoa(n) })
		got, ok := v.DetailText(text)
		if !ok || !hasHan(got) && strings.Trim(got, "x0123456789：→ ") != "" {
			t.Errorf("%s: %q is %q in Chinese", place, text, got)
		}
		for i := 1; i <= n; i++ {
			if !strings.Contains(got, "x"+strconv.Itoa(i)) {
				t.Errorf("%s: %q lacks the value %d in Chinese: %q", place, text, i, got)
			}
		}
	}
}

func hasHan(text string) bool { return regexp.MustCompile(`\p{Han}`).MatchString(text) }
