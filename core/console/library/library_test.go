package library

import (
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	core "github.com/patchbay-dev/patchbay/core/docs"
)

// TestLinksOfDocuments: each link between pages leads to a page, and each anchor to a heading of it.
func TestLinksOfDocuments(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for name, p := range l.pages {
		for _, link := range p.links {
			if strings.Contains(link, "://") || strings.HasPrefix(link, "mailto:") {
				continue
			}
			target, anchor := name, strings.TrimPrefix(link, name)
			if !strings.HasPrefix(link, "#") {
				if target, anchor = pageName(name, link); target == "" {
					continue // a file of the repository, which the guard looks for
				}
			}
			checked++
			to := l.Page(target)
			if to == nil {
				t.Errorf("%s: %s leads to no page", name, link)
				continue
			}
			has := slices.ContainsFunc(to.Headings, func(h Heading) bool { return "#"+h.ID == anchor })
			if strings.HasPrefix(anchor, "#") && !has && !strings.Contains(to.HTML, `id="`+anchor[1:]+`"`) {
				t.Errorf("%s: %s leads to no heading of %s", name, link, target)
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d links were checked", checked)
	}
}

// TestContents: the groups of the index are the contents, and every page has a title and a text.
func TestContents(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	listed := 0
	for _, g := range l.Groups() {
		if g.Title == "" {
			t.Errorf("a group has no title: %v", g.Pages)
		}
		listed += len(g.Pages)
	}
	if listed < 30 {
		t.Errorf("the contents have %d pages", listed)
	}
	for name, p := range l.pages {
		if p.Title == "" || p.HTML == "" {
			t.Errorf("%s has no title or no text", name)
		}
	}
}

func TestRenderPage(t *testing.T) {
	p, err := renderPage("mail", []byte("# Mail\n\nSee [the API](search.md#tokens), [code](../httpd/route.go) and [plugins](../../sdk/docs/AUTHORING.md).\n\n"+
		"![A picture](pictures/home.png)\n\n## Two `words`, here\n\n<script>alert(1)</script>\n\n## Two words here\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`href="/system/docs/search#tokens"`, `href="/system/docs/AUTHORING"`, "code and", `src="/system/docs/files/pictures/home.png"`,
		`id="two-words-here"`, `id="two-words-here-1"`} {
		if !strings.Contains(p.HTML, want) {
			t.Errorf("the page lacks %s:\n%s", want, p.HTML)
		}
	}
	if strings.Contains(p.HTML, "<script") || strings.Contains(p.HTML, "route.go") || p.Title != "Mail" || len(p.Headings) != 2 {
		t.Errorf("got %+v", p)
	}
}

func TestFind(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	for query, want := range map[string]string{"reverse proxy": "reverse-proxy", "Troubleshooting": "troubleshooting", "passkeys": "accounts"} {
		found := l.Find(query)
		if !slices.ContainsFunc(found, func(f Found) bool { return f.Name == want }) {
			t.Errorf("%q finds %v, not %s", query, found, want)
		}
	}
	if found := l.Find("there-is-no-such-word"); len(found) > 0 {
		t.Errorf("got %v", found)
	}
	if got := l.Locate("file:core/docs/mail.md", l.Page("mail").Title); got != "mail" {
		t.Errorf("got %q", got)
	}
	if got := l.Locate("file:notes/mail.md", "My mail"); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestPicture(t *testing.T) {
	l, err := Open()
	if err != nil {
		t.Fatal(err)
	}
	if content, mediaType, err := l.Picture("architecture.svg"); err != nil || mediaType != "image/svg+xml" || len(content) == 0 {
		t.Errorf("got %d bytes of %s, %v", len(content), mediaType, err)
	}
	for _, name := range []string{"../console.go", "index.md", "none.png"} {
		if _, _, err := l.Picture(name); err == nil {
			t.Errorf("%s is a picture", name)
		}
	}
	if err := fstest.TestFS(core.Files, "index.md"); err != nil {
		t.Error(err)
	}
	if _, err := fs.Stat(core.Files, "docs.go"); err == nil {
		t.Error("the documents hold a file of Go")
	}
}
