package searxng_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi/searchapitest"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng"
	"github.com/patchbay-dev/patchbay/plugins/search/searxng/searxngtest"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestParametersOfTheTable(t *testing.T) {
	site := newSite(t)
	b := open(t, searxngtest.New(searxngtest.Config{}), func(c *searxng.Config) { c.AllowHosts = []string{host(site)} })
	schemas := map[string]string{}
	for _, op := range searxng.Definition().Operations {
		schemas[op.Name] = op.InputSchema
	}
	page := fmt.Sprintf("%q", site.URL+"/")
	searchapitest.TestBackend(t, searchapitest.Config{
		Backend: searchapi.SearXNG, Schemas: schemas, Required: map[string]string{"query": `"q"`, "urls": page, "url": page, "input": `"i"`},
		Invoke: func(t *testing.T, op, body string) (int, []byte) {
			resp, err := b.Invoke(t.Context(), &search.Request{Operation: op, Body: []byte(body)})
			if err != nil {
				t.Fatalf("%s: %v", body, err)
			}
			return resp.Status, resp.Body
		},
	})
}

// TestMappedParameters: language, country and time range reach the server in its own words.
func TestMappedParameters(t *testing.T) {
	since := func(days int) string { return time.Now().UTC().AddDate(0, 0, -days).Format("2006-01-02") }
	for _, tt := range []struct{ configured, members, language, timeRange string }{
		{"all", ``, "all", ""},
		{"en", ``, "en", ""},
		{"en", `"language":"de"`, "de", ""},
		{"en", `"language":"all"`, "all", ""},
		{"en", `"language":"auto"`, "auto", ""},
		{"all", `"language":"zh-CN"`, "zh-CN", ""},
		{"all", `"country":"germany"`, "de-DE", ""},
		{"auto", `"country":"japan"`, "ja-JP", ""},
		{"en", `"country":"germany"`, "en-DE", ""},
		{"zh-CN", `"country":"taiwan"`, "zh-TW", ""},
		{"all", `"country":"switzerland","language":"fr"`, "fr-CH", ""},
		{"all", `"country":"austria","language":"de-DE"`, "de-AT", ""},
		{"all", `"country":"br"`, "pt-BR", ""},
		{"all", `"time_range":"day"`, "all", "day"},
		{"all", `"time_range":"d"`, "all", "day"},
		{"all", `"time_range":"w"`, "all", "week"},
		{"all", `"time_range":"month"`, "all", "month"},
		{"all", `"time_range":"y"`, "all", "year"},
		{"all", `"days":1`, "all", "day"},
		{"all", `"days":7.0`, "all", "week"},
		{"all", `"days":8`, "all", "month"},
		{"all", `"days":100`, "all", "year"},
		{"all", `"days":366`, "all", "year"},
		{"all", `"days":367`, "all", ""},
		{"all", `"days":30,"time_range":"week"`, "all", "week"},
		{"all", `"start_date":"` + since(0) + `"`, "all", "day"},
		{"all", `"start_date":"` + since(5) + `"`, "all", "week"},
		{"all", `"start_date":"` + since(20) + `"`, "all", "month"},
		{"all", `"start_date":"` + since(300) + `"`, "all", "year"},
		{"all", `"start_date":"2020-01-01"`, "all", ""},
		{"all", `"start_date":"2020-01-01","time_range":"day"`, "all", "day"},
	} {
		fake := searxngtest.New(searxngtest.Config{})
		b := open(t, fake, func(c *searxng.Config) { c.Language = tt.configured })
		body := `{"query":"q"}`
		if tt.members != "" {
			body = `{"query":"q",` + tt.members + `}`
		}
		call(t, b, search.OpSearch, body)
		got := fake.Requests()[0]
		want := url.Values{"language": {tt.language}}
		if tt.timeRange != "" {
			want.Set("time_range", tt.timeRange)
		}
		if diff := cmp.Diff(want, url.Values(pickValues(got, "language", "time_range"))); diff != "" {
			t.Errorf("%s %s: %s", tt.configured, tt.members, diff)
		}
	}
}

func pickValues(all url.Values, names ...string) map[string][]string {
	out := map[string][]string{}
	for _, name := range names {
		if all.Has(name) {
			out[name] = all[name]
		}
	}
	return out
}
