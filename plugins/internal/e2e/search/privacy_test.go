package search

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// TestNothingAboutTheClientGoesUpstream sends all that could identify a client and looks for it in what arrives.
func TestNothingAboutTheClientGoesUpstream(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "log_bodies = true\n"+kit.RoomyLimits)
	secret := token[8:]
	telling := http.Header{
		"Cookie": {"session=telling"}, "User-Agent": {"telling/1.0"}, "X-Forwarded-For": {"198.51.100.7"}, "X-Real-Ip": {"198.51.100.7"},
		"Forwarded": {"for=198.51.100.7"}, "X-Project-Id": {"telling"}, "X-Session-Id": {"telling"}, "X-Human-Id": {"telling"},
		"X-Client-Source": {"telling"}, "X-Client-Name": {"telling"}, "X-Tavily-Orgid": {"telling"}, "X-Request-Id": {"telling"},
		"Referer": {"https://telling.example.org/"}, "Origin": {"https://telling.example.org"}, "Accept-Language": {"telling"},
		"Traceparent": {"00-telling"}, "Via": {"telling"}, "Proxy-Authorization": {"Basic telling"}, "From": {"telling@example.org"},
		"Accept-Encoding": {"telling"}, "Te": {"telling"}, "If-None-Match": {"telling"}, "Cf-Connecting-Ip": {"198.51.100.7"},
	}
	escaped := strings.ReplaceAll(`"\u0061pi_key"`, " ", "")
	members := []string{
		`"api_key":"` + token + `"`, `"apiKey":"` + token + `"`, `"apikey":"` + token + `"`, `"API_KEY":"` + token + `"`,
		`"tavilyApiKey":"` + token + `"`, `"TavilyApiKey":"` + token + `"`, escaped + `:"` + token + `"`,
		`"api_key":"` + token + `","api_key":"` + token + `"`, `"api_key":"\u0074` + token[1:] + `"`,
		`"api_key":{"nested":"` + token + `"}`, `"apiKey":["` + token + `"],"tavilyApiKey":"` + token + `"`, `"api_key":"tvly-telling"`,
	}
	operations := []struct{ path, body string }{
		{"search", `"query":"q"`}, {"extract", `"urls":["https://example.org"]`}, {"crawl", `"url":"https://example.org"`},
		{"map", `"url":"https://example.org"`}, {"research", `"input":"i"`}, {"research", `"input":"i","stream":true`},
	}
	sent := 0
	for i, op := range operations {
		for _, member := range members {
			if i > 0 && member != members[0] {
				continue
			}
			for _, body := range []string{"{" + member + "," + op.body + "}", "{" + op.body + " , " + member + " }"} {
				if a := c.Send(t, kit.Request{Path: op.path, Token: token, Body: body, Header: telling}); a.Status >= 300 {
					t.Errorf("%s: status %d: %s", body, a.Status, a.Body)
				}
				sent++
			}
		}
	}
	// A token in the address is refused, by the name of the parameter, and goes nowhere.
	if a := c.Send(t, kit.Request{Path: "search?tavilyApiKey=" + token, Token: token,
		Body: `{"query":"q"}`}); a.Status != http.StatusBadRequest || strings.Contains(a.Body, token) {
		t.Errorf("a token in the address: %d %s", a.Status, a.Body)
	}
	// In the body alone, too.
	if a := c.Send(t, kit.Request{Path: "search", Body: `{"api_key":"` + token + `","query":"q"}`, Header: telling}); a.Status != http.StatusOK {
		t.Errorf("status %d: %s", a.Status, a.Body)
	}
	id := kit.Decode[struct {
		RequestID string `json:"request_id"`
	}](t, c.Post(t, token, "research", `{"input":"i"}`).Body).RequestID
	c.Send(t, kit.Request{Method: http.MethodGet, Path: "research/" + id + "?include_usage=true", Token: token, Header: telling})
	got := up.Requests()
	if len(got) != sent+3 {
		t.Errorf("%d requests went upstream, want %d", len(got), sent+3)
	}
	allowed := []string{"Accept", "Accept-Encoding", "Authorization", "Content-Length", "Content-Type", "User-Agent"}
	for _, r := range got {
		whole := strings.ToLower(fmt.Sprint(r.Method, r.Path, r.Query, r.Header, r.Body))
		for _, text := range []string{"telling", "198.51.100", strings.ToLower(token[:7]), strings.ToLower(secret), "api_key", "apikey",
			"127.0.0.1"} {
			if strings.Contains(whole, text) {
				t.Errorf("%q went upstream: %+v", text, r)
			}
		}
		for name := range r.Header {
			if !slices.Contains(allowed, name) {
				t.Errorf("the header %s went upstream", name)
			}
		}
		if r.Header.Get("Authorization") != "Bearer key-one" || !strings.HasPrefix(r.Header.Get("User-Agent"), "patchbay") {
			t.Errorf("headers %v", r.Header)
		}
	}
	if last := got[len(got)-1]; last.Query != "include_usage=true" {
		t.Errorf("query %q", last.Query)
	}
	secretsStayIn(t, c, token, "key-one", "tvly-telling")
}

// secretsStayIn looks for secrets in the log and, as stored bodies, in the database.
func secretsStayIn(t *testing.T, c *kit.Core, secrets ...string) {
	t.Helper()
	db := c.Records(t, kit.Storage{})
	db.Settled()
	if db.Number("SELECT COUNT(*) FROM search_bodies") == 0 {
		t.Error("no body was kept")
	}
	for _, s := range secrets {
		if strings.Contains(c.Logs(), s) {
			t.Errorf("%q is in the log", s)
		}
		for _, column := range []string{"request", "response"} {
			if n := db.Number("SELECT COUNT(*) FROM search_bodies WHERE instr(CAST(" + column + " AS TEXT), '" + s + "') > 0"); n > 0 {
				t.Errorf("%q is in %d stored bodies (%s)", s, n, column)
			}
		}
	}
}

func TestSecretsStayOutOfLogsAndErrors(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.StartCore(t, kit.WebHCL(up.URL, "", "log_bodies = true"), "SVC_LOG_LEVEL=trace")
	c.AddKeys("key-secret-one")
	token := c.Token()
	for _, fault := range []kit.Scripted{{Fault: "reset"}, {Fault: "html"}, {Fault: "garbage"},
		{Status: 500, Body: `{"detail":{"error":"key-secret-one is broken"}}`}, {}, {Status: 401, Body: `bad key key-secret-one`}} {
		up.Script(fault)
		a := c.Send(t, kit.Request{Path: "search?tavilyApiKey=" + token + "&api_key=" + token, Token: token,
			Body: `{"query":"q","api_key":"` + token + `"}`})
		if fault.Status != 500 && strings.Contains(a.Body, "key-secret-one") || strings.Contains(a.Body, token) {
			t.Errorf("a secret is in the answer: %s", a.Body)
		}
	}
	c.Send(t, kit.Request{Method: http.MethodGet, Path: "nothing?tavilyApiKey=" + token, Token: token})
	c.Send(t, kit.Request{Path: "search", Token: token + "x", Body: `{}`})
	for _, s := range []string{token, token[8:], "key-secret-one"} {
		if strings.Contains(c.Logs(), s) {
			t.Errorf("%q is in the log", s)
		}
	}
}
