package guard

import (
	"regexp"
	"strings"
	"testing"
)

// everyColumn finds statements that ask for the columns of a table without naming them. What stays inside of a statement may do so: a
// subquery whose columns are named, and a CTE.
var everyColumn = regexp.MustCompile(`(?:SELECT|RETURNING) (?:\w+\.)?\*(?:\s*\)|\s+FROM \()?|, \w+\.\* FROM|Select\("(?:\w+\.)?\*[^\n)]*\)\.\w+|clause\.Returning\{\}`)

// findEveryColumn returns the first part of some code that asks for all columns, or "".
func findEveryColumn(code string) string {
	for _, found := range everyColumn.FindAllString(code, -1) {
		if !strings.HasSuffix(found, ")") && !strings.HasSuffix(found, "FROM (") && !strings.HasSuffix(found, ".Updates") {
			return found
		}
	}
	return ""
}

// TestColumnsAreNamed: statements of the core name their columns. PostgreSQL fails one that was prepared with a * once a newer core, beside
// which this one runs, has added a column.
func TestColumnsAreNamed(t *testing.T) {
	for code, wrong := range map[string]bool{
		"`SELECT * FROM jobs`": true, "`SELECT l.resource, j.* FROM jobs j`": true, "`UPDATE jobs SET a = 1 RETURNING *`": true,
		`Select("m.*").Find(`: true, `Clauses(clause.Returning{})`: true, "`SELECT count(*) FROM jobs`": false, "`SELECT * FROM (SELECT id FROM jobs)`": false,
		"`WITH a AS (UPDATE jobs SET a = 1 RETURNING jobs.*\n\t) SELECT id FROM a`": false, `Select("*").Updates(w)`: false, `Select("id").Find(`: false,
	} {
		if found := findEveryColumn(code); (found != "") != wrong {
			t.Errorf("in %s is found %q", code, found)
		}
	}
	files(t, "core", func(path string, content []byte) {
		if strings.HasSuffix(path, "_test.go") || isGenerated(content) {
			return
		}
		if found := findEveryColumn(string(content)); found != "" {
			t.Errorf("%s asks for all columns: %s", path, found)
		}
	}, ".go")
}
