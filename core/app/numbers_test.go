package app

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// integerParameters returns the query parameters that an OpenAPI document declares as integers, by "GET /path".
func integerParameters(t *testing.T, document []byte) map[string][]string {
	t.Helper()
	var doc struct {
		Paths map[string]map[string]json.RawMessage
	}
	must(t, json.Unmarshal(document, &doc))
	found := map[string][]string{}
	for path, operations := range doc.Paths {
		var get struct {
			Parameters []struct {
				Name, In string
				Schema   struct{ Type any }
			}
		}
		if operations["get"] == nil {
			continue
		}
		must(t, json.Unmarshal(operations["get"], &get))
		for _, p := range get.Parameters {
			kinds, _ := p.Schema.Type.([]any)
			if p.In == "query" && (p.Schema.Type == "integer" || slices.Contains(kinds, any("integer"))) {
				found[path] = append(found[path], p.Name)
			}
		}
	}
	return found
}

// TestNumbersInAddresses gives every number in the address of every API and page a value that is none, or none that fits: it is taken as
// the nearest one, or refused by its name. Nothing fails.
func TestNumbersInAddresses(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "false", "SVC_AUTH_ALLOWED_USER": "alice",
		"SVC_AUTH_TRUSTED_PROXIES": proxyAddr})
	all := callers(t, a)
	admin := all[slices.IndexFunc(all, func(c caller) bool { return c.name == "admin" })]
	get := func(target, accept string) (int, http.Header, []byte) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr()+target, nil)
		must(t, err)
		req.Header = admin.header.Clone()
		req.Header.Set("X-Forwarded-User", "alice")
		req.Header.Set("Accept", accept)
		res, err := http.DefaultTransport.RoundTrip(req)
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		if strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
			return res.StatusCode, res.Header, nil
		}
		body, err := io.ReadAll(res.Body)
		must(t, err)
		return res.StatusCode, res.Header, body
	}
	values := []string{"99999999999999999999", "9223372036854775807", "-9223372036854775808", "-1", "0", "1.5", "x", ""}
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	documented, pages := 0, 0
	for _, m := range mounts {
		base := strings.TrimSuffix(m.BaseURL, "/")
		if u, err := url.Parse(m.BaseURL); err == nil {
			base = strings.TrimSuffix(u.Path, "/")
		}
		status, _, document := get(base+"/openapi.json", "application/json")
		if status != http.StatusOK {
			t.Errorf("%s has no document: %d", m.Service, status)
			continue
		}
		for path, names := range integerParameters(t, document) {
			for _, name := range names {
				documented++
				for _, value := range values {
					target := path + "?" + url.Values{name: {value}}.Encode()
					if !strings.HasPrefix(path, base+"/") {
						target = base + target
					}
					for strings.Contains(target, "{") {
						before, rest, _ := strings.Cut(target, "{")
						_, after, _ := strings.Cut(rest, "}")
						target = before + "x" + after
					}
					status, _, body := get(target, "application/json")
					var refusal struct{ Code, Field, Message string }
					_ = json.Unmarshal(body, &refusal)
					if status >= 500 && status != http.StatusServiceUnavailable || status == http.StatusBadRequest && refusal.Field == "" &&
						!strings.Contains(string(body), name) {
						t.Errorf("%s: %d %s", target, status, body)
					}
				}
			}
		}
		for _, r := range m.Routes {
			if r.Method != http.MethodGet || !pageOf(r) {
				continue
			}
			pages++
			for _, value := range values {
				query := url.Values{}
				for _, name := range []string{"page", "limit", "days", "offset", "before", "cursor", "minutes"} {
					query.Set(name, value)
				}
				target := concrete(base, r.Path) + "?" + query.Encode()
				if status, _, body := get(target, "text/html"); status >= 500 && status != http.StatusServiceUnavailable {
					t.Errorf("%s: %d %.300s", target, status, body)
				}
			}
		}
	}
	if documented < 20 || pages < 40 {
		t.Errorf("only %d parameters and %d pages were tried", documented, pages)
	}
}

// pageOf reports whether a route is likely a page: it is in no API and streams nothing.
func pageOf(r httpd.Route) bool {
	return !strings.Contains(r.Path, "/api/") && !strings.Contains(r.Path, "live") && !strings.Contains(r.Path, "events") &&
		!strings.HasSuffix(r.Path, "stream")
}
