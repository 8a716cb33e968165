package guard

import (
	"go/parser"
	"go/token"
	"slices"
	"testing"
)

func TestCompareFigures(t *testing.T) {
	l := limit{name: "files", most: 10, advice: "split it"}
	allowed := []exception{{"files", "a", 20, "why"}, {"files", "b", 30, ""}, {"files", "c", 15, ""}, {"files", "gone", 12, ""},
		{"files", "f", 100, ""}, {"lines", "a", 99, ""}}
	needed, rises, falls := compareFigures(l, map[string]int{"a": 21, "b": 25, "c": 10, "d": 11, "e": 10, "f": 96}, allowed)
	if want := []exception{{"files", "a", 20, "why"}, {"files", "b", 25, ""}, {"files", "f", 96, ""}}; !slices.Equal(needed, want) {
		t.Errorf("needed: %v, want %v", needed, want)
	}
	want := []string{"a: 21 files, more than the 20 of testdata/limits.json: split it", "d: 11 files, more than 10: split it"}
	if !slices.Equal(rises, want) {
		t.Errorf("rises: %q, want %q", rises, want)
	}
	want = []string{"b: 25 files, fewer than the 30 of testdata/limits.json: run the test with -update",
		"c: files: the exception in testdata/limits.json is not needed: run the test with -update",
		"gone: files: the exception in testdata/limits.json is not needed: run the test with -update"}
	if !slices.Equal(falls, want) {
		t.Errorf("falls: %q, want %q", falls, want)
	}
}

// sample parses files of a service's package, which are given as name and content in turn.
func sample(t *testing.T, namesAndContents ...string) (out []source, fset *token.FileSet) {
	t.Helper()
	fset = token.NewFileSet()
	for i := 0; i < len(namesAndContents); i += 2 {
		name, content := "core/services/sample/"+namesAndContents[i], namesAndContents[i+1]
		f, err := parser.ParseFile(fset, name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, source{name, []byte(content), f})
	}
	return out, fset
}

func TestMeasures(t *testing.T) {
	all, fset := sample(t,
		"a.go", "package sample\n\nimport \"gorm.io/gorm\"\n\ntype A struct{ db *gorm.DB; b B }\n\nfunc (a A) Use() { a.b.Help() }\n",
		"b.go", "package sample\n\ntype B struct{}\n\nfunc (b *B) Help() { helpMore() }\n\nfunc (b *B) More() {}\n",
		"c.go", "package sample\n\nfunc helpMore() { var a A; a.Use() }\n",
		"top.go", "package sample\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc Top(c *gin.Context) { helpMore() }\n",
		"store_a.go", "package sample\n\nimport \"gorm.io/gorm\"\n\nvar db *gorm.DB\n",
		"a_test.go", "package sample\n\nfunc (b *B) Check() { Top(nil) }\n",
		"api/api.go", "package api\n\nimport \"github.com/gin-gonic/gin\"\n\nfunc statusOf(c *gin.Context) {}\n")
	for _, c := range []struct {
		measure func(*token.FileSet, []source) map[string]int
		subject string
		want    int
	}{
		{countLines, "core/services/sample", 27},
		{countFiles, "core/services/sample", 5},
		{countMethods, "core/services/sample.B", 2},
		{countFilesWithSQL, "core/services/sample", 1},
		{countFilesWithRoutes, "core/services/sample", 1},
		{measureKnots, "core/services/sample", 3},
		{measureKnots, "core/services/sample/api", 0},
		{measureArrowsBack, "core/services", 250},
		{measureNamesInOf, "core", 167},
		{measureLongLines, "core", 0},
	} {
		if got := c.measure(fset, all)[c.subject]; got != c.want {
			t.Errorf("%s: %d, want %d", c.subject, got, c.want)
		}
	}
}
