package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestTokensInHeaderAndBody(t *testing.T) {
	t.Parallel()
	up := startUpstream(t)
	c := newCore(t, webHCL(up.url, "", ""))
	c.addKeys("key-one")
	good, other, disabled, expired, fresh := c.token(), c.token(), c.token(), c.token(), c.token()
	c.cli("token", "disable", disabled[3:7])
	db := c.writable(t)
	for token, at := range map[string]time.Time{expired: time.Now().Add(-time.Second), fresh: time.Now().Add(time.Hour)} {
		if _, err := db.Exec("UPDATE search_tokens SET expires_at = ? WHERE id = ?", at.UnixMilli(), token[3:7]); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c.start()
	t.Cleanup(c.stop)

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
			r := request{path: "search", body: "{" + tt.body + "}", header: http.Header{}}
			if tt.header != "" {
				r.header["Authorization"] = []string{tt.header}
			}
			check(t, c.send(t, r), tt.status)
		})
	}
	for _, rq := range up.requests() {
		for _, token := range []string{good, other, fresh, disabled, expired} {
			if strings.Contains(fmt.Sprint(rq), token[8:]) {
				t.Errorf("a token went upstream: %+v", rq)
			}
		}
	}
	t.Run("two headers", func(t *testing.T) {
		for _, pair := range [][]string{{"Bearer " + good, "Bearer " + other}, {"Bearer " + good, "Bearer " + good}} {
			check(t, c.send(t, request{path: "search", body: "{" + query + "}", header: http.Header{"Authorization": pair}}), 401)
		}
	})
	t.Run("GET takes the header alone", func(t *testing.T) {
		for _, path := range []string{"usage", "research/abc"} {
			body := `{"api_key":"` + good + `"}`
			check(t, c.send(t, request{method: http.MethodGet, path: path, body: body}), 401)
			c.send(t, request{method: http.MethodGet, path: path + "?api_key=" + good}).refused(t, http.StatusBadRequest, "invalid_request")
			check(t, c.send(t, request{method: http.MethodGet, path: path, token: disabled}), 401)
		}
		c.usage(t, good)
	})
	c.records(t, storage{}).balanced(c, good)
}

// swapped is a letter that differs from b.
func swapped(b byte) string {
	if b == 'a' {
		return "b"
	}
	return "a"
}

func check(t *testing.T, a answer, status int) {
	t.Helper()
	switch status {
	case 200:
		if a.status != status {
			t.Errorf("status %d, want %d: %s", a.status, status, a.body)
		}
	case 401:
		a.refused(t, status, "unauthorized")
	case 400:
		a.refused(t, status, "invalid_request")
	}
}

func TestUnknownTokenIsLookedUpAgainSoon(t *testing.T) {
	t.Parallel()
	c := localCore(t, localHCL)
	c.start()
	t.Cleanup(c.stop)
	for range 5 {
		c.search(t, c.token(), http.StatusOK)
	}
}

func TestDevOpenAdminLetsCallsWithoutATokenThrough(t *testing.T) {
	t.Parallel()
	c := localCore(t, localHCL, "DEV_OPEN_ADMIN=true")
	c.start()
	t.Cleanup(c.stop)
	c.logged("dev_open_admin is on")
	a := c.search(t, "", http.StatusOK)
	if row := c.records(t, storage{}).audit(a.header.Get("X-Request-Id")); row.tokenID != "dev" {
		t.Errorf("audit row %+v", row)
	}
	if used := c.usage(t, ""); used.HourlyRequests != 1 || used.TokenID != "dev" {
		t.Errorf("usage %+v", used)
	}
	check(t, c.post(t, "th-nope", "search", `{"query":"q"}`), 401)
	c.restart()
	if used := c.usage(t, ""); used.HourlyRequests != 1 {
		t.Errorf("usage after a restart %+v", used)
	}
}
