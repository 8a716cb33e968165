package search

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestTokensInHeaderAndBody(t *testing.T) {
	t.Parallel()
	up := kit.StartUpstream(t)
	c := kit.NewCore(t, kit.WebHCL(up.URL, "", ""))
	c.AddKeys("key-one")
	good, other, disabled, expired, fresh := c.Token(), c.Token(), c.Token(), c.Token(), c.Token()
	c.CLI("token", "disable", disabled[3:7])
	db := c.Writable(t)
	for token, at := range map[string]time.Time{expired: time.Now().Add(-time.Second), fresh: time.Now().Add(time.Hour)} {
		if _, err := db.Exec("UPDATE search_tokens SET expires_at = ? WHERE id = ?", at.UnixMilli(), token[3:7]); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)

	const query = `"query":"q"`
	unknown := "th-zzzz-" + strings.Repeat("a", 24)
	wrong := good[:len(good)-1] + swapped(good[len(good)-1])
	tests := []struct {
		name, header, body string
		status             int
	}{
		{"header", "Bearer " + good, query, 200},
		{"header in lower case", "bearer " + good, query, 200},
		{"header in upper case", "BEARER " + good, query, 200},
		{"body", "", `"api_key":"` + good + `",` + query, 200},
		{"both", "Bearer " + good, `"api_key":"` + other + `",` + query, 200},
		{"header with a foreign key in the body", "Bearer " + good, `"api_key":"tvly-x",` + query, 200},
		{"invalid header beside a valid body", "Bearer " + unknown, `"api_key":"` + good + `",` + query, 401},
		{"empty header beside a valid body", "Bearer ", `"api_key":"` + good + `",` + query, 401},
		{"other scheme beside a valid body", "Basic dTpw", `"api_key":"` + good + `",` + query, 200},
		{"other scheme alone", "Basic dTpw", query, 401},
		{"token without a scheme", good, query, 401},
		{"none", "", query, 401},
		{"unknown", "Bearer " + unknown, query, 401},
		{"wrong secret", "Bearer " + wrong, query, 401},
		{"short", "Bearer th-abc", query, 401},
		{"long", "Bearer " + good + "a", query, 401},
		{"disabled", "Bearer " + disabled, query, 401},
		{"disabled in the body", "", `"api_key":"` + disabled + `",` + query, 401},
		{"expired", "Bearer " + expired, query, 401},
		{"not yet expired", "Bearer " + fresh, query, 200},
		{"body with a number", "", `"api_key":1,` + query, 401},
		{"body with null", "", `"api_key":null,` + query, 401},
		{"body under another name", "", `"apiKey":"` + good + `",` + query, 401},
		{"body in a nested member", "", `"options":{"api_key":"` + good + `"},` + query, 401},
		{"elsewhere in the body", "Bearer " + good, `"query":"my token is ` + good + `"`, 400},
		{"elsewhere, escaped", "Bearer " + good, `"query":"\u0074` + good[1:] + `"`, 400},
		{"elsewhere, as a name", "Bearer " + good, query + `,"` + good + `":1`, 400},
		{"elsewhere, deep", "Bearer " + good, query + `,"a":[{"b":["` + good + `"]}]`, 400},
		{"elsewhere beside the member", "", `"api_key":"` + good + `","query":"` + good + `"`, 400},
		{"elsewhere, the one of the body beside the header", "Bearer " + good, `"api_key":"` + other + `","query":"` + other + `"`, 400},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := kit.Request{Path: "search", Body: "{" + tt.body + "}", Header: http.Header{}}
			if tt.header != "" {
				r.Header["Authorization"] = []string{tt.header}
			}
			check(t, c.Send(t, r), tt.status)
		})
	}
	for _, rq := range up.Requests() {
		for _, token := range []string{good, other, fresh, disabled, expired} {
			if strings.Contains(fmt.Sprint(rq), token[8:]) {
				t.Errorf("a token went upstream: %+v", rq)
			}
		}
	}
	t.Run("two headers", func(t *testing.T) {
		for _, pair := range [][]string{{"Bearer " + good, "Bearer " + other}, {"Bearer " + good, "Bearer " + good}} {
			check(t, c.Send(t, kit.Request{Path: "search", Body: "{" + query + "}", Header: http.Header{"Authorization": pair}}), 401)
		}
	})
	t.Run("GET takes the header alone", func(t *testing.T) {
		for _, path := range []string{"usage", "research/abc"} {
			body := `{"api_key":"` + good + `"}`
			check(t, c.Send(t, kit.Request{Method: http.MethodGet, Path: path, Body: body}), 401)
			c.Send(t, kit.Request{Method: http.MethodGet, Path: path + "?api_key=" + good}).Refused(t, http.StatusBadRequest, "invalid_request")
			check(t, c.Send(t, kit.Request{Method: http.MethodGet, Path: path, Token: disabled}), 401)
		}
		c.Usage(t, good)
	})
	c.Records(t, kit.Storage{}).Balanced(c, good)
}

// swapped is a letter that differs from b.
func swapped(b byte) string {
	if b == 'a' {
		return "b"
	}
	return "a"
}

func check(t *testing.T, a kit.Answer, status int) {
	t.Helper()
	switch status {
	case 200:
		if a.Status != status {
			t.Errorf("status %d, want %d: %s", a.Status, status, a.Body)
		}
	case 401:
		a.Refused(t, status, "unauthorized")
	case 400:
		a.Refused(t, status, "invalid_request")
	}
}

func TestUnknownTokenIsLookedUpAgainSoon(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	for range 5 {
		c.Search(t, c.Token(), http.StatusOK)
	}
}

func TestDevOpenAdminLetsCallsWithoutATokenThrough(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL, "DEV_OPEN_ADMIN=true")
	c.Start()
	t.Cleanup(c.Stop)
	c.Logged("dev_open_admin is on")
	a := c.Search(t, "", http.StatusOK)
	if row := c.Records(t, kit.Storage{}).Audit(a.Header.Get("X-Request-Id")); row.TokenID != "dev" {
		t.Errorf("audit row %+v", row)
	}
	if used := c.Usage(t, ""); used.HourlyRequests != 1 || used.TokenID != "dev" {
		t.Errorf("usage %+v", used)
	}
	check(t, c.Post(t, "th-nope", "search", `{"query":"q"}`), 401)
	c.Restart()
	if used := c.Usage(t, ""); used.HourlyRequests != 1 {
		t.Errorf("usage after a restart %+v", used)
	}
}
