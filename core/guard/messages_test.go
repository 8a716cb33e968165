package guard

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// quotedMessage is text between backquotes in the first cell of a table.
	quotedMessage = regexp.MustCompile("`([^`]+)`")
	// quotedParts are apart where the program formats something in.
	quotedParts = regexp.MustCompile(`["]?…["]?|: |=|^[0-9]{3} [0-9.]+ `)
	// joinedStrings is where a string goes on in the next one.
	joinedStrings = regexp.MustCompile(`["` + "`" + `]\s*\+\s*["` + "`" + `]`)
)

// TestTroubleshootingQuotesTheProgram checks that each message in the first column of core/docs/troubleshooting.md occurs in the program.
// Parts that differ stand there as "…", and are what is formatted in.
func TestTroubleshootingQuotesTheProgram(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root(t), "core/docs/troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var program strings.Builder
	files(t, ".", func(path string, content []byte) {
		if !strings.HasSuffix(path, "_test.go") {
			text := joinedStrings.ReplaceAllString(string(content), "")
			program.WriteString(strings.NewReplacer(`\"`, `"`, "`+\"`\"+`", "`").Replace(text))
		}
	}, ".go", ".json")
	all, rows := program.String(), 0
	for line := range strings.Lines(string(page)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 {
			continue
		}
		for _, m := range quotedMessage.FindAllStringSubmatch(cells[1], -1) {
			rows++
			for _, part := range quotedParts.Split(m[1], -1) {
				if len(part) > 8 && !strings.Contains(all, part) {
					t.Errorf("troubleshooting.md quotes %q, and nothing in the program says %q", m[1], part)
				}
			}
		}
	}
	if rows < 60 {
		t.Errorf("troubleshooting.md has %d messages: has its form changed?", rows)
	}
}
