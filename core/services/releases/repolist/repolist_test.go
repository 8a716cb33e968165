package repolist_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
)

const opml = `<?xml version="1.0"?>
<opml version="2.0"><head><title>Feeds</title></head><body>
<outline text="Tools">
  <outline type="rss" text="Engine" xmlUrl="https://forge.example/acme/engine/releases.atom" htmlUrl="https://forge.example/acme/engine/releases"/>
  <outline type="rss" xmlUrl="https://blog.example/feed.xml"/>
  <outline type="rss" xmlUrl="https://feeds.example/7" htmlUrl="https://forge.example/acme/loom"/>
</outline></body></opml>`

const goMod = `module example.com/mine

go 1.26

require forge.example/acme/engine/v2 v2.1.0 // a comment

require (
	forge.example/acme/loom v1.0.0
	forge.example/acme/loom/cards v1.0.0
	forge.example/other/thing v0.1.0 // indirect
	gopkg.example/yaml.v3 v3.0.1
)

replace forge.example/acme/loom => ../loom
`

const packageJSON = `{
  "name": "mine",
  "dependencies": {
    "engine": "git+https://forge.example/acme/engine.git#v1",
    "loom": "acme/loom",
    "react": "^19.0.0",
    "thing": "forge:other/thing#semver:^1"
  },
  "devDependencies": { "local": "file:../local/x" }
}`

// TestParse reads each format, and says of each entry what is wrong with it.
func TestParse(t *testing.T) {
	for name, tc := range map[string]struct {
		format            repolist.Format
		text              string
		entries, problems string
	}{
		"list": {
			repolist.List, "\ufeffacme/engine, acme/loom\r\n# a comment\n\nhttps://www.Forge.example/acme/loom/releases/tag/v1 # the same elsewhere\ngit@forge.example:acme/cards.git\nACME/Engine\nnonsense\na/b/c\nhttps://forge.example/one\nacme/..\n",
			"1 acme/engine; 1 acme/loom; 4 forge.example acme/loom; 5 forge.example acme/cards",
			"7 nonsense; 8 a/b/c; 9 https://forge.example/one; 10 acme/..",
		},
		"opml":         {repolist.OPML, opml, "4 forge.example acme/engine; 6 forge.example acme/loom", "5 https://blog.example/feed.xml"},
		"go.mod":       {repolist.GoMod, goMod, "5 forge.example acme/engine; 8 forge.example acme/loom", "11 gopkg.example/yaml.v3"},
		"package.json": {repolist.Package, packageJSON, "4 forge.example acme/engine; 5 acme/loom; 7 other/thing", "6 react; 9 local"},
		"empty":        {repolist.List, "", "", ""},
	} {
		for _, format := range []repolist.Format{tc.format, repolist.Auto, ""} {
			got, err := repolist.Parse(format, tc.text)
			if err != nil || got.Format != tc.format {
				t.Errorf("%s: %v as %s", name, err, got.Format)
				continue
			}
			var entries, problems []string
			for _, e := range got.Entries {
				entries = append(entries, strings.Join(strings.Fields(fmt.Sprint(e.Line, " ", e.Site, " ", e.FullName)), " "))
			}
			for _, p := range got.Problems {
				problems = append(problems, fmt.Sprint(p.Line, " ", p.Text))
				if p.Message == "" {
					t.Errorf("%s: line %d has no message", name, p.Line)
				}
			}
			if strings.Join(entries, "; ") != tc.entries || strings.Join(problems, "; ") != tc.problems {
				t.Errorf("%s: got %q and %q", name, entries, problems)
			}
		}
	}
}

// TestParseRefuses names the field and the limit of what cannot be read.
func TestParseRefuses(t *testing.T) {
	var many strings.Builder
	for i := range repolist.MaxEntries + 1 {
		fmt.Fprintf(&many, "acme/r%d\n", i)
	}
	for text, tc := range map[string]struct {
		format         repolist.Format
		field, message string
	}{
		strings.Repeat("x", repolist.MaxSize+1): {repolist.Auto, "content", "at most 262144"},
		many.String():                           {repolist.List, "content", "at most 1000"},
		"<html><body/></html>":                  {repolist.Auto, "content", "element html"},
		"<opml><outline":                        {repolist.OPML, "content", "line 1"},
		"no element":                            {repolist.OPML, "content", "no element"},
		"{\n\"dependencies\":\n}":               {repolist.Auto, "content", "line 3"},
		"[]":                                    {repolist.Package, "content", "an object"},
		`{"dependencies": ["a/b"]}`:             {repolist.Package, "content", "dependencies"},
		"acme/engine":                           {"csv", "format", "must be"},
	} {
		_, err := repolist.Parse(tc.format, text)
		if f := fault.As(err); err == nil || f.Ext["field"] != tc.field || !strings.Contains(f.Message, tc.message) {
			t.Errorf("%.30q: got %v", text, err)
		}
	}
}
