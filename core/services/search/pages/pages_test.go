package pages

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
)

// TestTextsAreComplete: both languages have the same ids with the same parameters, and every id that the pages name.
func TestTextsAreComplete(t *testing.T) {
	texts := map[string]map[string]any{}
	for _, lang := range []string{"en", "zh"} {
		raw, err := files.ReadFile("locales/" + lang + ".json")
		if err != nil {
			t.Fatal(err)
		}
		m := map[string]any{}
		if err := json.Unmarshal(raw, &m); err != nil {
			t.Fatal(err)
		}
		texts[lang] = m
	}
	params := regexp.MustCompile(`\{\{\.[A-Za-z0-9]+\}\}`)
	find := func(v any) []string {
		raw, _ := json.Marshal(v)
		all := params.FindAllString(string(raw), -1)
		slices.Sort(all)
		return slices.Compact(all)
	}
	for id, en := range texts["en"] {
		zh, ok := texts["zh"][id]
		if !ok {
			t.Errorf("%s is not translated", id)
			continue
		}
		if !slices.Equal(find(en), find(zh)) {
			t.Errorf("%s has the parameters %v and %v", id, find(en), find(zh))
		}
	}
	if len(texts["en"]) != len(texts["zh"]) {
		t.Errorf("%d English texts, %d Chinese ones", len(texts["en"]), len(texts["zh"]))
	}
}

func TestFormFollowsTheSchema(t *testing.T) {
	op := proxy.Operation{Name: "search", Required: []string{"query"}, InputSchema: `{"type":"object","properties":{
		"query":{"type":"string","description":"What"},"max_results":{"type":"integer"},"topic":{"type":"string","enum":["general","news"]},
		"include_images":{"type":"boolean"},"include_domains":{"type":"array","items":{"type":"string"}},"stream":{"type":"boolean"},"nested":{"type":"object"}}}`}
	kinds := map[string]string{}
	fields := formInputs(op)
	for _, in := range fields {
		kinds[in.Name] = in.Kind
	}
	want := map[string]string{"query": "text", "max_results": "number", "topic": "choice", "include_images": "checkbox",
		"include_domains": "list"}
	for name, kind := range want {
		if kinds[name] != kind {
			t.Errorf("%s is a %q, want %q", name, kinds[name], kind)
		}
	}
	if len(kinds) != len(want) || fields[0].Name != "query" || !fields[0].Required {
		t.Errorf("got %+v", fields)
	}
	if formInputs(proxy.Operation{InputSchema: "nonsense"}) != nil {
		t.Error("a schema that cannot be read has no form")
	}
}

func TestHits(t *testing.T) {
	got := parseHits([]byte(`{"results":[{"title":"A","url":"https://a.example","content":"text","score":0.5},{"title":"no url"},"x"]}`))
	if len(got) != 1 || got[0].Score != "0.500" || got[0].Text != "text" {
		t.Errorf("got %+v", got)
	}
	if parseHits([]byte(`not JSON`)) != nil {
		t.Error("an answer that is no JSON has no results")
	}
}

// TestExpiryKeepsItsTime: to save a form that shows the day of expiry alone does not move the expiry to midnight.
func TestExpiryKeepsItsTime(t *testing.T) {
	s := newSite(t)
	_, id := s.token("", "n")
	at := time.Date(2031, 2, 3, 15, 4, 5, 0, time.UTC)
	must(t, s.service.AssignToken(t.Context(), id, access.TokenChange{ExpiresAt: &at}))
	v := s.as(s.admin, "en")
	for day, want := range map[string]string{"2031-02-03": "2031-02-03T15:04:05Z", "2031-02-04": "2031-02-04T00:00:00Z", "": ""} {
		must(t, s.service.AssignToken(t.Context(), id, access.TokenChange{ExpiresAt: &at}))
		if p := v.Post("/search/tokens/"+id+"/settings", "note", "m", "expires", day); p.Status != http.StatusSeeOther {
			t.Fatalf("%q: status %d", day, p.Status)
		}
		got, err := s.service.Token(t.Context(), id)
		must(t, err)
		wanted := time.Time{}
		if want != "" {
			wanted, err = time.Parse(time.RFC3339, want)
			must(t, err)
		}
		if !got.ExpiresAt.OrZero().Equal(wanted) {
			t.Errorf("%q: got %v, want %q", day, got.ExpiresAt, want)
		}
	}
}
