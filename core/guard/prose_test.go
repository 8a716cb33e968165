package guard

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	gmtext "github.com/yuin/goldmark/text"

	"github.com/patchbay-dev/patchbay/core/cli"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// The limits of what people read. A paragraph of 600 characters has about six lines on a page.
const (
	mostWords      = 30
	mostCharacters = 600
)

// foreignPhrases are turns of speech that make English read as if it were translated.
var foreignPhrases = regexp.MustCompile(`(?i)\bwhoever\b|\bwhat(ever)? (is|was|has|can|could|may|must)\b[^.?]* (is|are|was|has|goes|stays)\b` +
	`|\bthose (that|who|which)\b|\bthat which\b|\bnobody (is|who)\b|\bnothing is\b|\b(is|are|be) let in\b|\bin vain\b|\ball the same\b` +
	`|\bof (its|their|his|your|our) own\b` +
	`|\b(is|are|was|were) (made|asked|told|taken|given|brought|refused|looked)\b` +
	`|\b(in|on|at|by|with|to|from|of|for) which\b` +
	`|\bstands? (in|at|on|below|beside|there|under)\b|\b(is|are) to be\b|\bas such\b|\bno longer\b`)

// proseFigures are what one subject has too much of: a document, a file of texts, the errors of a tree, or the help.
type proseFigures struct {
	Subject    string `json:"subject"`
	Sentences  int    `json:"sentences"`
	Paragraphs int    `json:"paragraphs"`
	Phrases    int    `json:"phrases"`
}

// figures returns the counts in the order of the rules.
func (f proseFigures) figures() [3]int { return [3]int{f.Sentences, f.Paragraphs, f.Phrases} }

// proseRules name the counts.
var proseRules = [3]string{"sentences of more than 30 words", "paragraphs of more than six lines", "phrases that read as if translated"}

// subjectOfProse is something that people read: its paragraphs.
type subjectOfProse struct {
	name       string
	paragraphs []string
}

// TestProse counts in documents, texts, errors and help what makes them hard to read. testdata/prose.json holds what each subject still
// has; its figures may only fall. Lower them to what is measured with "go test ./core/guard -run 'TestProse$' -update".
func TestProse(t *testing.T) {
	allowed := map[string]proseFigures{}
	for _, f := range readProseFigures(t) {
		allowed[f.Subject] = f
	}
	var measured []proseFigures
	for _, s := range listProse(t) {
		f, examples := measureProse(s)
		for rule, figure := range f.figures() {
			most := allowed[s.name].figures()[rule]
			if figure < most && !*update {
				t.Errorf("%s: %d %s, fewer than the %d of %s: run the test with -update", s.name, figure, proseRules[rule], most, proseFile)
			}
			if figure > most {
				t.Errorf("%s: %d %s, more than %d:\n\t%s", s.name, figure, proseRules[rule], most, strings.Join(examples[rule], "\n\t"))
			}
		}
		if f != (proseFigures{Subject: s.name}) {
			measured = append(measured, f)
		}
	}
	if *update && !t.Failed() {
		writeProseFigures(t, measured)
	}
}

// TestMeasureProse checks the counting itself.
func TestMeasureProse(t *testing.T) {
	long := strings.Repeat("word ", 31) + "end."
	page := "# Whoever reads a heading\n\nShort. Whoever reads `those that` is asked.\n\n```sh\nwhoever\n```\n\n" +
		"| a | b |\n|---|---|\n| " + long + " | x |\n\n" +
		strings.Repeat("Ten words are in this sentence, and it is short. ", 13) + "\n"
	got, _ := measureProse(subjectOfProse{"page", listMarkdownParagraphs([]byte(page))})
	if want := (proseFigures{Subject: "page", Sentences: 1, Paragraphs: 1, Phrases: 2}); got != want {
		t.Errorf("the page has %+v, want %+v", got, want)
	}
}

// listProse returns all that is counted: documents, the English texts of the product, the errors, and the help of commands.
func listProse(t *testing.T) (out []subjectOfProse) {
	t.Helper()
	files(t, ".", func(p string, content []byte) {
		if !countsAsDocument(p) {
			return
		}
		out = append(out, subjectOfProse{p, listMarkdownParagraphs(content)})
	}, ".md")
	files(t, "core", func(p string, content []byte) {
		if path.Base(p) != locale.English+".json" || path.Base(path.Dir(p)) != "locales" {
			return
		}
		var texts map[string]any
		if err := json.Unmarshal(content, &texts); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		s := subjectOfProse{name: p}
		for _, id := range slices.Sorted(maps.Keys(texts)) {
			s.paragraphs = append(s.paragraphs, listForms(texts[id])...)
		}
		out = append(out, s)
	}, ".json")
	if len(out) < 40 {
		t.Errorf("%d documents and files of texts were found; have they moved?", len(out))
	}
	out = append(out, listErrorTexts(t)...)
	return append(out, subjectOfProse{"help", listHelp(cli.Commands())})
}

// countsAsDocument reports whether people read the file to use Patchbay or to write plugins for it: not the history of changes, and not
// the licences of others.
func countsAsDocument(p string) bool {
	if strings.Contains(p, "testdata/") || path.Base(p) == "CHANGELOG.md" || path.Base(p) == "third-party-licences.md" {
		return false
	}
	return p == "README.md" || within(p, "core/docs", "sdk/docs", "examples")
}

// listMarkdownParagraphs returns the paragraphs, list items and cells of tables, with one word for each piece of code.
func listMarkdownParagraphs(content []byte) (out []string) {
	root := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(gmtext.NewReader(content))
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n.(type) {
		case *ast.Paragraph, *ast.TextBlock, *extast.TableCell:
			var b strings.Builder
			writePlainText(&b, n, content)
			out = append(out, b.String())
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return out
}

// writePlainText writes what a reader sees of a node.
func writePlainText(b *strings.Builder, n ast.Node, content []byte) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			b.Write(c.Value(content))
			if c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.CodeSpan:
			b.WriteString("code")
		default:
			writePlainText(b, c, content)
		}
	}
}

// listHelp returns the texts of a command, of its flags and of all below it.
func listHelp(cmd *cobra.Command) []string {
	out := []string{cmd.Short, cmd.Long}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { out = append(out, f.Usage) })
	for _, sub := range cmd.Commands() {
		out = append(out, listHelp(sub)...)
	}
	return out
}

var sentenceEnd = regexp.MustCompile(`[.!?…]["')]*\s+`)

// measureProse counts what a subject has too much of, with an example for each.
func measureProse(s subjectOfProse) (proseFigures, [3][]string) {
	f, examples := proseFigures{Subject: s.name}, [3][]string{}
	for _, p := range s.paragraphs {
		for _, sentence := range sentenceEnd.Split(p, -1) {
			if n := len(strings.Fields(sentence)); n > mostWords {
				f.Sentences++
				examples[0] = append(examples[0], fmt.Sprintf("%d words: %.120s", n, sentence))
			}
			for _, found := range foreignPhrases.FindAllString(sentence, -1) {
				f.Phrases++
				examples[2] = append(examples[2], fmt.Sprintf("%q in: %.120s", found, sentence))
			}
		}
		if n := len([]rune(p)); n > mostCharacters {
			f.Paragraphs++
			examples[1] = append(examples[1], fmt.Sprintf("%d characters: %.120s", n, p))
		}
	}
	return f, examples
}

var proseFile = filepath.Join("testdata", "prose.json")

func readProseFigures(t *testing.T) (out []proseFigures) {
	t.Helper()
	content, err := os.ReadFile(proseFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(content, &out); err != nil {
		t.Fatalf("read %s: %v", proseFile, err)
	}
	return out
}

// writeProseFigures writes testdata/prose.json, one subject a line.
func writeProseFigures(t *testing.T, list []proseFigures) {
	t.Helper()
	slices.SortFunc(list, func(a, b proseFigures) int { return cmp.Compare(a.Subject, b.Subject) })
	lines := make([]string, 0, len(list))
	for _, f := range list {
		row, err := json.Marshal(f)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, "  "+string(row))
	}
	if err := os.WriteFile(proseFile, []byte("[\n"+strings.Join(lines, ",\n")+"\n]\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
