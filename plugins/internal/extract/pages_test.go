package extract_test

import (
	"encoding/base64"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

// blob is encoded data that stands for BLOB in the pages.
var blob = func() string {
	var b []byte
	for i := range 3000 {
		b = append(b, byte(i*i*31+i>>3))
	}
	return base64.StdEncoding.EncodeToString(b)
}()

// pages are what each page of testdata/pages must give and must not give, as Markdown.
var pages = map[string]struct {
	title     string
	must, not []string
}{
	"sphinx": {"Quickstart", []string{
		"# Quickstart\n\nHow to light your first lantern", "needs a wick", "## Trim the wick\n",
		"```python\nimport lantern\nlantern.trim(wick)\n```", "Never trim a burning wick",
	}, []string{"General Index", "Previous topic", "Navigation of the manual", "Install the mirror", "Copyright", "¶"}},
	"docusaurus": {"Install", []string{
		"# Install\n", "carries packages", "npm\n", "yarn\n", "```bash\nnpm install ferry\nnpx ferry row\n```", "```bash\nyarn add ferry\n```",
		"## Row\n", "other bank",
	}, []string{"Ferry home", "Ropes and knots", "crumbs", "On this page", "Copy this code", "Edit this page", "Next: oars",
		"in the contents", "Community links", "\u200b"}},
	"vitepress": {"监听器", []string{"# 监听器", "监听器在数据改变时运行", "config.ts", "```ts\nwatch(question, () => ask())\nstop()\n```", "不要忘记停止监听"},
		[]string{"Skip to content", "指南菜单", "侧栏目录", "页面导航", "编辑此页", "下一页", "版权所有", "\n\nts\n"}},
	"starlight": {"Tuning", []string{"# Tuning", "tuned by its slider", "temperature of the concert",
		"```js\nconst a = 440;\n\ntune(a);\n```"},
		[]string{"Organ pipes", "Bellows guide", "On this page list", "Edit page", "Search", "Copy"}},
	"hugo": {"Weights", []string{"# Weights\n\nWhich weights lie in the box", "nine weights of brass", "```go\nfunc weigh() {\n}\n```",
		"Keep them dry"},
		[]string{"Pans menu", "Scale root", "Powered by", "1\n2", "|"}},
	"mdbook": {"What Is a Lock?", []string{"## What Is a Lock?\n\nA *lock* lifts",
		"```js\nimport lock from 'lock';\nconst lock = require('lock');\n```", "### Gates\n", "see [above](https://example.org/docs/page#what)"},
		[]string{"The Canal Book", "Weirs", "Toggle", "Next chapter", "# What Is a Lock?\n\n##"}},
	"rustdoc": {"Trait FromBarge", []string{"# Trait FromBarge", "pub trait FromBarge<A>: Sized { }", "into something that floats",
		"(https://example.org/docs/b.html)", "## Examples\n\nBarges float"},
		[]string{"In the sidebar", "Expand description", "Copy item path", "Conversion from a `Barge` into", "§"}},
	"docbook": {"3. Mooring lines", []string{"3. Mooring lines\n", "holds a ship", "make fast(bow)", "12 t", "Spring lines run"},
		[]string{"Prev page", "manual bar", "Next page", "List of the contents", "Home of the manual", "Mooring lines\n\n3. Mooring"}},
	"news": {"Bridge reopens after nine months", []string{
		"# Bridge reopens", "Trams cross the harbour again", "carries trams again, two weeks earlier", "four hundred people",
		"The bridge at dawn", "engineer", "eleven million",
	}, []string{"Politics", "cookies", "Accept all", "newsletter", "Read also", "whale", "roof garden", "Terms of use", "machines", "base64"}},
	"shop": {"Teekanne „Nordlicht“", []string{"# Teekanne", "1,2 Litern, spülmaschinenfest", "bleibt kühl", "Einzelstück", "840 g", "17 cm"},
		[]string{"Warenkorb", "Suchen", "Tracking-Pixel", "Farbe wählen", "Kunden kauften", "Passende Tassen", "Versand"}},
	"plain": {"How to sharpen a plane", []string{"# How to sharpen a plane", "tears the wood", "push it over the stone", "thin as paper"},
		[]string{"All tools", "Buy our stones", "Foot navigation", "Imprint"}},
	"appshell": {"Rye bread with honey", []string{"Mix rye flour", "twelve hours & bake it"}, []string{"enable JavaScript", "<p>"}},
	"blob": {"Icons", []string{"# Icons", "forty icons", "An arrow", "the raw file", "```css\n.icon { background: url(\"…\"); }\n```",
		"State: …", "Use them freely"}, []string{"base64"}},
}

// TestPages: each page gives what it is about, whole, and nothing of what surrounds that.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.html")
	if err != nil || len(files) != len(pages) {
		t.Fatalf("there are %d pages, %v, for %d cases", len(files), err, len(pages))
	}
	base, _ := url.Parse("https://example.org/docs/page")
	for name, tt := range pages {
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(filepath.Join("testdata", "pages", name+".html"))
			if err != nil {
				t.Fatal(err)
			}
			html := strings.ReplaceAll(string(body), "BLOB", blob)
			page, err := extract.HTML([]byte(html), "text/html; charset=utf-8", base, extract.Markdown)
			if err != nil {
				t.Fatal(err)
			}
			if page.Title != tt.title {
				t.Errorf("title is %q", page.Title)
			}
			for _, want := range tt.must {
				if !strings.Contains(page.Text, want) {
					t.Errorf("%q is missing in:\n%s", want, page.Text)
				}
			}
			for _, not := range tt.not {
				if strings.Contains(page.Text, not) {
					t.Errorf("%q is in:\n%s", not, page.Text)
				}
			}
			if len(page.Text) > 4000 {
				t.Errorf("text has %d bytes", len(page.Text))
			}
			plain, err := extract.HTML([]byte(html), "text/html; charset=utf-8", base, extract.Text)
			if err != nil || len(plain.Text) > 4000 {
				t.Errorf("as text: %v, %d bytes", err, len(plain.Text))
			}
		})
	}
}
