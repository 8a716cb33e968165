package searchapi_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi/searchapitest"
)

var update = flag.Bool("update", false, "write the tables of the documentation anew")

// TestDocumentedTables: search-local.md has the tables as the code has them. With -update they are written.
func TestDocumentedTables(t *testing.T) {
	const path = "../../../core/docs/search-local.md"
	begin, end := []byte("<!-- parameters: begin -->"), []byte("\n<!-- parameters: end -->")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := bytes.Cut(content, begin)
	table, after, closed := bytes.Cut(rest, end)
	if !ok || !closed {
		t.Fatal("search-local.md has no place for the tables of parameters")
	}
	want := []byte(searchapi.Document())
	if *update {
		if err := os.WriteFile(path, bytes.Join([][]byte{before, begin, want, end, after}, nil), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(table, want) {
		t.Error("the tables of parameters in search-local.md are not those of the code: run go test ./plugins/internal/searchapi -update")
	}
}

// TestTableIsComplete: each row says what both backends do, and has values to test it by.
func TestTableIsComplete(t *testing.T) {
	for _, op := range searchapi.Operations() {
		names := map[string]bool{}
		for _, p := range searchapi.Parameters(op) {
			if p.Local.String() == "" || p.SearXNG.String() == "" || names[p.Name] {
				t.Errorf("%s of %s: twice, or without an effect: %+v", p.Name, op, p)
			}
			names[p.Name] = true
			for _, sample := range searchapitest.Samples(p.Value) {
				if err := p.Value.Check(p.Name, []byte(sample)); err != nil {
					t.Errorf("%s of %s: %s: %v", p.Name, op, sample, err)
				}
			}
			for _, bogus := range searchapitest.Bogus(p.Value) {
				if p.Value.Check(p.Name, []byte(bogus)) == nil {
					t.Errorf("%s of %s: %s is accepted", p.Name, op, bogus)
				}
			}
		}
	}
}

func TestPlaces(t *testing.T) {
	for name, want := range map[string]string{
		"germany": "DE de", "Germany": "DE de", "DE": "DE de", "united states": "US en", "united kingdom": "GB en", "uk": "GB en",
		"china": "CN zh", "taiwan": "TW zh",
		"japan": "JP ja", "brazil": "BR pt", "czech republic": "CZ cs", "czechia": "CZ cs", "turkey": "TR tr", "bosnia and herzegovina": "BA bs",
		"south korea": "KR ko",
		"ivory coast": "CI fr", "cote d'ivoire": "CI fr", "russia": "RU ru", "vietnam": "VN vi", "netherlands": "NL nl", "hong kong": "HK zh",
		"myanmar": "MM my",
	} {
		code, ok := searchapi.FindRegion(name)
		if got := code + " " + searchapi.LanguageIn(code); !ok || got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	for _, name := range []string{"", "bogusland", "xx", "europe", "001", "d", "de-DE"} {
		if code, ok := searchapi.FindRegion(name); ok {
			t.Errorf("%q is the country %s", name, code)
		}
	}
}

func TestIgnoredNamesAreBounded(t *testing.T) {
	var body bytes.Buffer
	body.WriteString(`{"query":"q"`)
	for i := range 100 {
		fmt.Fprintf(&body, `,"%d%s":1`, i, strings.Repeat("é", 20+i))
	}
	body.WriteString("}")
	p, err := searchapi.ReadParams(searchapi.Local, "search", body.Bytes())
	if err != nil || len(p.Ignored) != 32 {
		t.Fatalf("got %+v, %v", p, err)
	}
	for _, name := range p.Ignored {
		if len(name) > 64 {
			t.Errorf("a name of %d bytes is listed", len(name))
		}
	}
}
