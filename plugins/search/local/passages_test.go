package local

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// repeated makes long lines.
func repeated(pattern string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(rapid.StringMatching(pattern).Draw(t, "part"), rapid.IntRange(1, 30).Draw(t, "times"))
	})
}

func TestSplitKeepsEverything(t *testing.T) {
	line := rapid.OneOf(
		rapid.StringMatching(`#{0,7} ?[a-z ]{0,60}`), rapid.StringMatching(`[=~^-]{0,20}`), rapid.Just(""), rapid.Just("```"),
		repeated(`[a-z。 ]{50,200}`), repeated(`[中文搜索。]{20,80}`), rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.ToValidUTF8(strings.Join(rapid.SliceOfN(line, 0, 40).Draw(t, "lines"), "\n"), "?")
		var all strings.Builder
		for _, p := range splitPassages(text, rapid.Bool().Draw(t, "headings")) {
			if len(p.text) > maxPassage || !utf8.ValidString(p.text) || strings.TrimSpace(p.text) == "" {
				t.Fatalf("passage of %d bytes: %q", len(p.text), p.text)
			}
			all.WriteString(p.text)
		}
		if diff := cmp.Diff(withoutSpace(text), withoutSpace(all.String())); diff != "" {
			t.Fatal(diff)
		}
	})
}

// A damaged file has bytes that are no text.
func TestSplitEndsOnDamagedText(t *testing.T) {
	for _, p := range splitPassages(strings.Repeat("\x80", 3*maxPassage), false) {
		if len(p.text) > maxPassage {
			t.Errorf("a passage has %d bytes", len(p.text))
		}
	}
}

func TestSensitive(t *testing.T) {
	for name, want := range map[string]bool{
		".env": true, "a.KEY": true, "id_rsa": true, "x.kdbx": true, "secrets.yaml": true, "credentials": true, "prod.env": true,
		"secret.go": false, "secrets.md": false, "identity.md": false, "key.md": false, "environment.txt": false,
	} {
		if got := isSensitive(name); got != want {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestGlob(t *testing.T) {
	for _, tt := range []struct {
		pattern, path string
		want          bool
	}{
		{"*.md", "a/b/c.md", true}, {"*.md", "a.mdx", false}, {"docs/*.md", "docs/a.md", true}, {"docs/*.md", "docs/b/a.md", false},
		{"docs/**/*.md", "docs/a.md", true}, {"docs/**/*.md", "docs/b/c/a.md", true}, {"docs/**", "docs/b/c", true},
		{"node_modules", "a/node_modules/b.js", true},
		{"./docs/", "docs/x", true}, {"docs", "my/docs/x", true}, {"docs/x", "my/docs/x", false}, {"?.txt", "a.txt", true},
		{"?.txt", "ab.txt", false},
	} {
		re, err := compileGlob(tt.pattern)
		if err != nil || re.MatchString(tt.path) != tt.want {
			t.Errorf("%s on %s: want %v (%v)", tt.pattern, tt.path, tt.want, err)
		}
	}
}
