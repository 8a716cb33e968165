package guard

import (
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	wordPattern = regexp.MustCompile(`[A-Za-z_]\w*`)
	// filePattern matches the names of source files and documents.
	filePattern = regexp.MustCompile(`[\w/.-]+\.(?:go|templ|proto|md|css)\b`)
	// qualifiedPattern matches pkg.Name, and what stands before it.
	qualifiedPattern = regexp.MustCompile(`(^|[^\w./-])([a-z]\w*)\.([A-Z]\w*)`)
	// mixedPattern matches words such as newStore and NewStore, which only identifiers are, and what stands before them.
	mixedPattern = regexp.MustCompile(`(^|[^\w./-])([a-z]+[A-Z][A-Za-z0-9]*|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+)\b`)
)

// foreignWords are names of others that look like identifiers and that no code has.
var foreignWords = []string{"gRPC", "iCalendar"}

// vocabulary is what comments may name.
type vocabulary struct {
	// words are those outside of comments, each with the folders that have it. Files that are not Go count as the folder "".
	words map[string]map[string]bool
	// qualified are the words pkg.Name outside of comments.
	qualified map[string]bool
	// packages are the folders of packages by their names.
	packages map[string][]string
	files    []string
}

// TestCommentsNameWhatExists looks for comments that name a file or an identifier of ours that is gone: a file that the tree does
// not have, pkg.Name where no package of that name has it, and a word in mixed case that no code has.
func TestCommentsNameWhatExists(t *testing.T) {
	v := vocabulary{map[string]map[string]bool{}, map[string]bool{}, map[string][]string{}, nil}
	files(t, ".", func(p string, content []byte) { v.addFile(p, content) })
	all, fset := sources(t)
	for _, s := range all {
		for _, group := range s.file.Comments {
			for _, c := range group.List {
				for _, gone := range v.findGone(path.Dir(s.path), s.file, c.Text) {
					t.Errorf("%s: the comment names %s, which there is not", fset.Position(c.Pos()), gone)
				}
			}
		}
	}
}

func TestFindGone(t *testing.T) {
	v := vocabulary{map[string]map[string]bool{}, map[string]bool{}, map[string][]string{}, nil}
	v.addFile("core/disk/disk.go", []byte("package disk\n// Gone\nfunc Read() { newStore(); mail.ParseAddress(\"\") }\nfunc WriteAll() {}"))
	v.addFile("core/ui/page.templ", []byte("templ showPage() {}"))
	for comment, want := range map[string][]string{
		"// newStore and WriteAll, see disk.go, core/ui/page.templ, disk.Read and mail.ParseAddress": nil,
		"// several newStores":                nil,
		"// oldStore is gone":                 {"oldStore"},
		"// see store.go and core/page.templ": {"store.go", "core/page.templ"},
		"// disk.Write and other.Write":       {"disk.Write"},
		"// writeAll is WriteAll":             {"writeAll"},
		"// https://example.com/a/oldStore":   nil,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "disk.go", "package disk", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := v.findGone("core/disk", f, comment); !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", comment, got, want)
		}
	}
}

// addFile adds the words of a file.
func (v *vocabulary) addFile(name string, content []byte) {
	v.files = append(v.files, name)
	switch path.Ext(name) {
	case ".br", ".png", ".ttf", ".woff2", ".pdf", ".binpb":
		return
	case ".go":
	default:
		v.addWords("", string(content))
		return
	}
	text := blankComments(name, content)
	v.addWords(path.Dir(name), text)
	if before, rest, found := strings.Cut(text, "package "); found && strings.TrimSpace(before) == "" {
		name, dir := wordPattern.FindString(rest), path.Dir(name)
		if !slices.Contains(v.packages[name], dir) {
			v.packages[name] = append(v.packages[name], dir)
		}
	}
}

// blankComments returns Go code with spaces in place of its comments.
func blankComments(name string, content []byte) string {
	code := slices.Clone(content)
	file := token.NewFileSet().AddFile(name, -1, len(content))
	var s scanner.Scanner
	s.Init(file, content, nil, scanner.ScanComments)
	for pos, tok, text := s.Scan(); tok != token.EOF; pos, tok, text = s.Scan() {
		if at := file.Offset(pos); tok == token.COMMENT {
			copy(code[at:], strings.Repeat(" ", len(text)))
		}
	}
	return string(code)
}

// addWords adds the words of a text in a folder.
func (v *vocabulary) addWords(dir, text string) {
	for _, w := range wordPattern.FindAllString(text, -1) {
		if v.words[w] == nil {
			v.words[w] = map[string]bool{}
		}
		v.words[w][dir] = true
	}
	for _, m := range qualifiedPattern.FindAllStringSubmatch(text, -1) {
		v.qualified[m[2]+"."+m[3]] = true
	}
}

// findGone returns what a comment in a file names and is not there.
func (v *vocabulary) findGone(dir string, f *ast.File, comment string) (gone []string) {
	for _, name := range filePattern.FindAllString(comment, -1) {
		if !slices.ContainsFunc(v.files, func(f string) bool { return f == name || strings.HasSuffix(f, "/"+strings.TrimLeft(name, "./")) }) {
			gone = append(gone, name)
		}
	}
	for _, m := range qualifiedPattern.FindAllStringSubmatch(comment, -1) {
		pkg, name := m[2], m[3]
		foreign := slices.ContainsFunc(f.Imports, func(s *ast.ImportSpec) bool {
			target := strings.Trim(s.Path.Value, `"`)
			return !within(target, module) && strings.Contains(target, pkg)
		})
		has := func(dir string) bool { return v.words[name][dir] }
		if v.packages[pkg] != nil && !foreign && !v.qualified[pkg+"."+name] && !slices.ContainsFunc(v.packages[pkg], has) {
			gone = append(gone, pkg+"."+name)
		}
	}
	for _, m := range mixedPattern.FindAllStringSubmatch(comment, -1) {
		if w := m[2]; !v.hasWord(dir, w) && !v.hasWord(dir, strings.TrimSuffix(w, "s")) && !slices.Contains(foreignWords, w) {
			gone = append(gone, w)
		}
	}
	return gone
}

// hasWord reports whether there is a word. One that a package has with a capital alone was exported since.
func (v *vocabulary) hasWord(dir, word string) bool {
	exported := strings.ToUpper(word[:1]) + word[1:]
	return v.words[word] != nil && (v.words[word][dir] || exported == word || !v.words[exported][dir])
}
