package guard

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// nameMeasure counts what the style of names and comments is about, for one package without its tests.
type nameMeasure struct {
	// unexported is the number of unexported functions and methods; oneWord holds those of them whose name is one word.
	unexported int
	oneWord    []string
	// commented is the number of declarations with a comment; misbegun holds the positions and names of those whose
	// comment does not begin with the name.
	commented int
	misbegun  []string
}

// TestNames prints, for each package, the unexported functions whose name is one word. It fails for comments that do not begin with
// the name of what they explain, those of tests excepted: core/docs/CONTRIBUTING.md says how to read it.
func TestNames(t *testing.T) {
	all, fset := sources(t)
	measures := map[string]*nameMeasure{}
	isTest := regexp.MustCompile(`^\S+: (Test|Benchmark|Fuzz|Example)`)
	for _, s := range all {
		if strings.HasSuffix(s.path, "_test.go") {
			var m nameMeasure
			m.addFile(fset, s.file)
			for _, c := range m.misbegun {
				if !isTest.MatchString(c) {
					t.Errorf("the comment does not begin with the name: %s", c)
				}
			}
			continue
		}
		dir := path.Dir(s.path)
		if measures[dir] == nil {
			measures[dir] = &nameMeasure{}
		}
		measures[dir].addFile(fset, s.file)
	}
	if len(measures) == 0 {
		t.Fatal("no package was found; have the folders moved?")
	}
	var total nameMeasure
	var report strings.Builder
	for _, dir := range slices.Sorted(maps.Keys(measures)) {
		m := measures[dir]
		total.unexported += m.unexported
		total.oneWord = append(total.oneWord, m.oneWord...)
		total.commented += m.commented
		total.misbegun = append(total.misbegun, m.misbegun...)
		fmt.Fprintf(&report, "\n%s: %s", dir, m.summary())
		if len(m.oneWord) > 0 {
			fmt.Fprintf(&report, "\n\tone word: %s", strings.Join(m.oneWord, ", "))
		}
		for _, c := range m.misbegun {
			t.Errorf("the comment does not begin with the name: %s", c)
		}
	}
	t.Logf("%s\nall packages: %s", report.String(), total.summary())
}

func TestNameMeasure(t *testing.T) {
	const sample = `package sample

// dial opens a connection.
func dial() {}

// Opens the next one.
func dialNext() {}

func init() {}

// A Conn is one connection.
type Conn struct{}

func (c *Conn) close() {}

func (c *Conn) Close() {}

// What a connection may take.
const limit, timeout = 1, 2

// Limits of the protocol.
const (
	// maxFrame is the size of a frame.
	maxFrame = 3
	// how often it is tried
	retries = 4
)

// these are not counted by name
var _, version = 1, 2
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "sample.go", sample, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	var m nameMeasure
	m.addFile(fset, f)
	if want := []string{"dial", "Conn.close"}; m.unexported != 3 || !slices.Equal(m.oneWord, want) {
		t.Errorf("unexported functions: %d, of one word %q; want 3 and %q", m.unexported, m.oneWord, want)
	}
	want := []string{"sample.go:6: dialNext: Opens the next one.", "sample.go:18: limit: What a connection may take.",
		"sample.go:25: retries: how often it is tried", "sample.go:29: version: these are not counted by name"}
	if m.commented != 7 || !slices.Equal(m.misbegun, want) {
		t.Errorf("commented declarations: %d, begun otherwise than with the name\n%s\nwant 7 and\n%s", m.commented,
			strings.Join(m.misbegun, "\n"), strings.Join(want, "\n"))
	}
	if got, want := m.summary(), "2 of 3 unexported functions have names of one word (67 %), 4 of 7 comments begin otherwise than with the name (57 %)"; got != want {
		t.Errorf("summary: %s\nwant: %s", got, want)
	}
}

// addFile adds the declarations of a file to m.
func (m *nameMeasure) addFile(fset *token.FileSet, f *ast.File) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			m.addFunction(d)
			m.addComment(fset, d.Doc, d.Name)
		case *ast.GenDecl:
			for _, s := range d.Specs {
				m.addSpec(fset, d, s)
			}
		}
	}
}

// addFunction counts an unexported function. The names main and init are the language's.
func (m *nameMeasure) addFunction(d *ast.FuncDecl) {
	name := d.Name.Name
	if d.Name.IsExported() || name == "_" || d.Recv == nil && (name == "main" || name == "init") {
		return
	}
	m.unexported++
	if strings.ContainsFunc(name, func(r rune) bool { return unicode.IsUpper(r) || r == '_' }) {
		return
	}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		if receiver := receiverType(d.Recv.List[0].Type); receiver != nil {
			name = receiver.Name + "." + name
		}
	}
	m.oneWord = append(m.oneWord, name)
}

// addSpec counts the comment of a type, constant or variable. The comment before a parenthesis is about the whole group
// and is free.
func (m *nameMeasure) addSpec(fset *token.FileSet, d *ast.GenDecl, spec ast.Spec) {
	doc := d.Doc
	if d.Lparen.IsValid() {
		doc = nil
	}
	switch s := spec.(type) {
	case *ast.TypeSpec:
		if s.Doc != nil {
			doc = s.Doc
		}
		m.addComment(fset, doc, s.Name)
	case *ast.ValueSpec:
		if s.Doc != nil {
			doc = s.Doc
		}
		m.addComment(fset, doc, s.Names...)
	}
}

// addComment counts a comment that explains one or more names. It may begin with any of them, after an article or not.
func (m *nameMeasure) addComment(fset *token.FileSet, doc *ast.CommentGroup, names ...*ast.Ident) {
	names = slices.DeleteFunc(slices.Clone(names), func(n *ast.Ident) bool { return n.Name == "_" })
	if doc == nil || len(names) == 0 || strings.TrimSpace(doc.Text()) == "" {
		return
	}
	m.commented++
	begin, _, _ := strings.Cut(doc.Text(), "\n")
	words := strings.Fields(begin)
	if len(words) > 1 && (words[0] == "A" || words[0] == "An" || words[0] == "The") {
		words = words[1:]
	}
	first := strings.TrimRight(words[0], ",:;.")
	first = strings.TrimSuffix(first, "'s")
	if !slices.ContainsFunc(names, func(n *ast.Ident) bool { return n.Name == first }) {
		m.misbegun = append(m.misbegun, fmt.Sprintf("%s:%d: %s: %s", fset.Position(doc.Pos()).Filename, fset.Position(doc.Pos()).Line,
			names[0].Name, begin))
	}
}

// summary returns the counts and shares of m as one line.
func (m *nameMeasure) summary() string {
	return fmt.Sprintf("%d of %d unexported functions have names of one word (%d %%), %d of %d comments begin otherwise than with the name (%d %%)",
		len(m.oneWord), m.unexported, percent(len(m.oneWord), m.unexported), len(m.misbegun), m.commented, percent(len(m.misbegun), m.commented))
}

// percent returns the share of part in whole, rounded to whole percent. It is 0 where whole is.
func percent(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return (100*part + whole/2) / whole
}
