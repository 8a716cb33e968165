package search

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// keyState is what the database says about a key, once it has been written.
func keyState(t *testing.T, r kit.Records, id, want string) {
	t.Helper()
	state := ""
	kit.Eventually(t, 3*time.Second, "the key is "+want, func() bool {
		state = r.Text("SELECT state FROM search_keys WHERE id = '" + id + "'")
		return state == want
	})
}

func TestUpstreamThatGivesNoAnswerIsA502(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, `timeout = "700ms"`, kit.RoomyLimits)
	db := c.Records(t, kit.Storage{})
	id := db.Text("SELECT id FROM search_keys")
	// A call whose end nobody saw costs its price; an answer that is of no use costs nothing.
	price := map[string]int64{"search": 1, "research": 50}
	unseen := map[string]bool{"hang": true, "reset": true, "half_body": true, "huge": true}
	var charged int64
	for _, fault := range []string{"hang", "reset", "garbage", "half_body", "wrong_length", "html", "huge"} {
		for _, op := range []string{"search", "research"} {
			t.Run(fault+" in "+op, func(t *testing.T) {
				up.Reset()
				up.Script(kit.Scripted{Fault: fault})
				a := c.Post(t, token, op, `{"query":"q","input":"i"}`)
				code := "upstream_unavailable"
				// On a busy machine even the huge answer may not be there in time.
				if fault == "huge" && kit.Decode[kit.Problem](t, a.Body).Code != code {
					code = "answer_too_large"
				}
				a.Refused(t, http.StatusBadGateway, code)
				if n := len(up.Requests()); n != 1 {
					t.Errorf("%d requests went upstream, want 1", n)
				}
				row := db.Audit(a.Header.Get("X-Request-Id"))
				if row.Outcome != kit.OutcomeFailure || row.Status != 502 || row.Code != code || row.Tried != 1 || row.KeyID != id {
					t.Errorf("audit row %+v", row)
				}
				if unseen[fault] && row.Credits != price[op] || !unseen[fault] && row.Credits != 0 {
					t.Errorf("%d credits for a call that ended with %s", row.Credits, fault)
				}
				charged += row.Credits
				keyState(t, db, id, "active")
				c.Search(t, token, http.StatusOK)
			})
		}
	}
	if used := db.Balanced(c, token); used.DailyError != 14 || used.DailySuccess != 14 || used.HourlyCredits != 14+charged {
		t.Errorf("usage %+v", used)
	}
}

func TestUpstreamThatIsNotThereIsA502(t *testing.T) {
	t.Parallel()
	c := kit.StartCore(t, kit.WebHCL("http://"+testkit.FreeAddress(t), "", ""))
	c.AddKeys("key-one")
	token := c.Token()
	for range 3 {
		c.Post(t, token, "search", `{"query":"q"}`).Refused(t, http.StatusBadGateway, "upstream_unavailable")
	}
	if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.DailyError != 3 || used.HourlyCredits != 0 {
		t.Errorf("usage %+v", used)
	}
}

func TestTenMegabytesPassThrough(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "")
	up.Script(kit.Scripted{Fault: "large"})
	a := c.Post(t, token, "search", `{"query":"q","include_usage":true}`)
	if a.Status != http.StatusOK || len(a.Body) < 10*mib || !strings.HasSuffix(a.Body, "}") ||
		!strings.Contains(a.Body[:200]+a.Body[len(a.Body)-200:], `"usage":{"credits":1}`) {
		t.Errorf("status %d, %d bytes", a.Status, len(a.Body))
	}
}

func TestAnswersOfTheUpstreamPassThroughByteForByte(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits)
	db := c.Records(t, kit.Storage{})
	tests := []kit.Scripted{
		{Status: 400, Body: `{"detail":{"error":"Invalid topic."}} `},
		{Status: 403, Body: `{"detail":{"error":"[403] URL is not supported"}}`},
		{Status: 404, Body: `{"detail":"Not Found"}`},
		{Status: 422, Body: "{\n  \"detail\": [ {\"loc\": [1.0, 2e3]} ]\n}"},
		{Status: 500, Body: `{"detail":{"error":"Internal Server Error"}}`},
		{Status: 500, Body: "<html>oops</html>", Header: map[string]string{"Content-Type": "text/html"}},
		{Status: 502, Body: "bad gateway", Header: map[string]string{"Content-Type": "text/plain"}},
		{Status: 503, Body: `{"detail":{"error":"busy"}}`,
			Header: map[string]string{"Retry-After": "7", "Set-Cookie": "a=b", "Server": "x", "X-Secret": "y"}},
	}
	for _, s := range tests {
		up.Script(s)
		a := c.Post(t, token, "search", `{"query":"q"}`)
		if a.Status != s.Status || a.Body != s.Body || a.Header.Get("Retry-After") != s.Header["Retry-After"] {
			t.Errorf("sent %+v, got %d %q, Retry-After %q", s, a.Status, a.Body, a.Header.Get("Retry-After"))
		}
		if kind := s.Header["Content-Type"]; kind != "" && a.Header.Get("Content-Type") != kind {
			t.Errorf("Content-Type %q, want %q", a.Header.Get("Content-Type"), kind)
		}
		for _, name := range []string{"Set-Cookie", "Server", "X-Secret"} {
			if a.Header.Get(name) != "" {
				t.Errorf("the header %s of the upstream reached the client", name)
			}
		}
		row := db.Audit(a.Header.Get("X-Request-Id"))
		if row.Outcome != kit.OutcomeFailure || row.Status != int64(s.Status) || row.Upstream != int64(s.Status) || row.Credits != 0 ||
			row.Code != "upstream_error" {
			t.Errorf("audit row %+v", row)
		}
	}
	if state := db.Text("SELECT state FROM search_keys"); state != "active" {
		t.Errorf("the key is %s", state)
	}
	if used := db.Balanced(c, token); used.DailyError != int64(len(tests)) || used.HourlyCredits != 0 {
		t.Errorf("usage %+v", used)
	}
	c.Search(t, token, http.StatusOK)
}

func TestKeysThatFailAreMarkedAndTheNextIsTried(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, state string
		answer      kit.Scripted
	}{
		{"401", "invalid", kit.Scripted{Status: 401}},
		{"403 of a revoked key", "invalid", kit.Scripted{Status: 403, Body: `{"detail":{"error":"This API key has been deactivated."}}`}},
		{"429", "cooling_down", kit.Scripted{Status: 429}},
		{"429 with Retry-After", "cooling_down", kit.Scripted{Status: 429, Header: map[string]string{"Retry-After": "600"}}},
		{"432", "exhausted", kit.Scripted{Status: 432}},
		{"433", "exhausted", kit.Scripted{Status: 433}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c, up, token := kit.StartWeb(t, "", "", "key-one", "key-two")
			db := c.Records(t, kit.Storage{})
			up.Script(tt.answer)
			a := c.Search(t, token, http.StatusOK)
			got := up.Requests()
			if len(got) != 2 || got[0].Header.Get("Authorization") == got[1].Header.Get("Authorization") || got[0].Body != got[1].Body {
				t.Fatalf("the upstream got %+v", got)
			}
			row := db.Audit(a.Header.Get("X-Request-Id"))
			if row.Tried != 2 || row.Credits != 1 || row.Outcome != kit.OutcomeSuccess {
				t.Errorf("audit row %+v", row)
			}
			keyState(t, db, row.KeyID, "active")
			bad := db.Text("SELECT id FROM search_keys WHERE id <> '" + row.KeyID + "'")
			keyState(t, db, bad, tt.state)
			// The marked key is left alone, also after a restart.
			c.Search(t, token, http.StatusOK)
			c.Restart()
			c.Search(t, c.Token(), http.StatusOK)
			for _, r := range up.Requests()[2:] {
				if r.Header.Get("Authorization") != got[1].Header.Get("Authorization") {
					t.Error("the marked key was used again")
				}
			}
			// With the last key gone there is none: a 502, never the upstream's own status.
			up.Script(tt.answer)
			c.Search(t, token, http.StatusBadGateway).Refused(t, http.StatusBadGateway, "upstream_unavailable")
			db.Balanced(c, token)
			c.AddKeys("key-three")
			c.Search(t, token, http.StatusOK)
		})
	}
}

func TestKeysAreTriedUntilOneWorks(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "", "key-1", "key-2", "key-3", "key-4", "key-5")
	db := c.Records(t, kit.Storage{})
	up.Script(kit.Scripted{Status: 401, Times: 3})
	a := c.Search(t, token, http.StatusOK)
	if n := len(up.Requests()); n != 4 {
		t.Errorf("%d requests went upstream, want 4", n)
	}
	if row := db.Audit(a.Header.Get("X-Request-Id")); row.Tried != 4 || row.Credits != 1 {
		t.Errorf("audit row %+v", row)
	}
	kit.Eventually(t, 3*time.Second, "three keys are invalid", func() bool {
		return db.Number("SELECT COUNT(*) FROM search_keys WHERE state = 'invalid'") == 3
	})
	c.Search(t, token, http.StatusOK)
	db.Balanced(c, token)
}

func TestCoolDownIsObeyed(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "")
	up.Script(kit.Scripted{Status: 429, Header: map[string]string{"Retry-After": "2"}})
	began := time.Now()
	c.Search(t, token, http.StatusBadGateway)
	for range 5 {
		c.Search(t, token, http.StatusBadGateway)
	}
	if n := len(up.Requests()); n != 1 {
		t.Errorf("%d requests went upstream while the key rests, want 1", n)
	}
	kit.Eventually(t, 5*time.Second, "the key comes back", func() bool {
		return c.Post(t, token, "search", `{"query":"q"}`).Status == http.StatusOK
	})
	if took := time.Since(began); took < 1900*time.Millisecond || took > kit.Slower(3500*time.Millisecond) {
		t.Errorf("the key came back after %s", took)
	}
	c.Records(t, kit.Storage{}).Balanced(c, token)
}
