package search

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

func TestUsageMemberIsCutOutUnlessAsked(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits)
	db := c.Records(t, kit.Storage{})
	const sent = "{ \"query\":\"q\",\n\t\"max_results\" : 3, \"ratio\": 1.0 , \"big\":12345678901234567890, \"u\":\"\\u00e9\\/\", \"query\" : \"q\" }"
	const before, after = "{\"z\": 1.0, \"a\":[1e2, -0, 12345678901234567890],\n \"results\" : [] , \"nested\":{\"usage\":{\"credits\":9}}",
		", \"e\":\"\\u00e9 \\/ \\ud83d\\ude00\" }"
	for _, tt := range []struct{ name, ask, member, want string }{
		{"not asked", ``, `,  "usage" : {"credits": 7}`, before + after},
		{"refused", `"include_usage": false, `, `,"usage":{"credits":7}`, before + after},
		{"asked", `"include_usage":true, `, `,  "usage" : {"credits": 7}`, before + `,  "usage" : {"credits": 7}` + after},
	} {
		t.Run(tt.name, func(t *testing.T) {
			up.Reset()
			up.Script(kit.Scripted{Status: 200, Body: before + tt.member + after})
			body := strings.Replace(sent, `"query"`, tt.ask+`"query"`, 1)
			a := c.Post(t, token, "search", body)
			if a.Status != http.StatusOK || a.Body != tt.want {
				t.Errorf("status %d\n got %q\nwant %q", a.Status, a.Body, tt.want)
			}
			if row := db.Audit(a.Header.Get("X-Request-Id")); row.Credits != 7 {
				t.Errorf("audit row %+v", row)
			}
			got := up.Requests()[0].Body
			if strings.Count(got, `"include_usage"`) != 1 || !strings.Contains(strings.ReplaceAll(got, " ", ""), `"include_usage":true`) {
				t.Errorf("the upstream was not asked for the credits: %s", got)
			}
			for part := range strings.SplitSeq(sent[1:len(sent)-1], ",") {
				if part = strings.TrimSpace(part); !strings.Contains(got, part) {
					t.Errorf("%q did not reach the upstream as it was sent: %q", part, got)
				}
			}
		})
	}
	if used := db.Balanced(c, token); used.HourlyCredits != 21 {
		t.Errorf("usage %+v", used)
	}
}

func TestCreditsAreThoseOfTheUpstreamElseThePrice(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", kit.RoomyLimits)
	db := c.Records(t, kit.Storage{})
	plain := `{"results":[]}`
	for _, tt := range []struct {
		name, op, body string
		answer         *kit.Scripted
		credits        int64
	}{
		{"search", "search", `{"query":"q"}`, nil, 1},
		{"advanced search", "search", `{"query":"q","search_depth":"advanced"}`, nil, 2},
		{"advanced search without usage", "search", `{"query":"q","search_depth":"advanced"}`, &kit.Scripted{Status: 200, Body: plain}, 2},
		{"usage of nothing", "search", `{"query":"q"}`, &kit.Scripted{Status: 200, Body: `{"usage":{"credits":0}}`}, 0},
		{"usage that is no number", "search", `{"query":"q"}`, &kit.Scripted{Status: 200, Body: `{"usage":{"credits":"many"}}`}, 1},
		{"usage below zero", "search", `{"query":"q"}`, &kit.Scripted{Status: 200, Body: `{"usage":{"credits":-5}}`}, 1},
		{"extract of six", "extract", `{"urls":["a","b","c","d","e","f"]}`, nil, 2},
		{"extract that failed", "extract", `{"urls":["fail"]}`, nil, 0},
		{"extract of one without usage", "extract", `{"urls":"a"}`, &kit.Scripted{Status: 200, Body: plain}, 1},
		{"map", "map", `{"url":"https://example.org"}`, nil, 1},
		{"map with instructions, without usage", "map", `{"url":"https://example.org","limit":20,"instructions":"x"}`,
			&kit.Scripted{Status: 200, Body: plain}, 4},
		{"crawl", "crawl", `{"url":"https://example.org"}`, nil, 2},
		{"crawl without usage", "crawl", `{"url":"https://example.org","limit":10,"extract_depth":"advanced"}`,
			&kit.Scripted{Status: 200, Body: plain}, 5},
		{"research", "research", `{"input":"i"}`, nil, 50},
		{"mini research", "research", `{"input":"i","model":"mini"}`, nil, 40},
		{"failed research", "research", `{"input":"i"}`, &kit.Scripted{Status: 500}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.answer != nil {
				up.Script(*tt.answer)
			}
			a := c.Post(t, token, tt.op, tt.body)
			if row := db.Audit(a.Header.Get("X-Request-Id")); row.Credits != tt.credits {
				t.Errorf("status %d, %d credits, want %d: %s", a.Status, row.Credits, tt.credits, a.Body)
			}
		})
	}
	db.Balanced(c, token)
}

func TestCreditLimitsHold(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ setting, window string }{{"credits_hour", "hour"}, {"credits_day", "day"}, {"credits_month", "month"}} {
		t.Run(tt.window, func(t *testing.T) {
			t.Parallel()
			c, up, token := kit.StartWeb(t, "", fmt.Sprintf("limits {\n %s = 5\n }", tt.setting))
			db := c.Records(t, kit.Storage{})
			// A failure gives its reservation back.
			up.Script(kit.Scripted{Status: 500}, kit.Scripted{Fault: "garbage"})
			c.Search(t, token, http.StatusInternalServerError)
			c.Search(t, token, http.StatusBadGateway)
			for range 2 {
				if a := c.Post(t, token, "search", `{"query":"q","search_depth":"advanced"}`); a.Status != http.StatusOK {
					t.Fatalf("status %d: %s", a.Status, a.Body)
				}
			}
			p := c.Post(t, token, "search", `{"query":"q","search_depth":"advanced"}`).Refused(t, http.StatusTooManyRequests, "quota_exhausted")
			if p.Scope != "credits" || p.Window != tt.window || p.Limit != 5 || p.Used != 4 {
				t.Errorf("the members of the refusal: %+v", p)
			}
			c.Search(t, token, http.StatusOK)
			c.Search(t, token, http.StatusTooManyRequests)
			before := len(up.Requests())
			c.Restart()
			c.Search(t, token, http.StatusTooManyRequests)
			if n := len(up.Requests()); n != before {
				t.Errorf("%d requests went upstream beyond the limit", n-before)
			}
			if used := db.Balanced(c, token); used.HourlyCredits != 5 || used.MonthlyQuotaExhausted != 3 || used.DailyError != 2 {
				t.Errorf("usage %+v", used)
			}
			c.Search(t, c.Token(), http.StatusOK)
		})
	}
}

func TestLimitsHoldExactlyUnderConcurrency(t *testing.T) {
	t.Parallel()
	for _, limit := range []string{"requests_hour", "credits_hour"} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			c, up, token := kit.StartWeb(t, "", fmt.Sprintf("limits {\n %s = 50\n }", limit))
			up.Script(kit.Scripted{Times: -1, DelayMS: 30})
			statuses := make([]int, 200)
			var wg sync.WaitGroup
			for i := range statuses {
				wg.Go(func() {
					a, err := c.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`})
					if err != nil {
						t.Error(err)
					}
					statuses[i] = a.Status
				})
			}
			wg.Wait()
			count := map[int]int{}
			for _, s := range statuses {
				count[s]++
			}
			if count[200] != 50 || count[429] != 150 || len(up.Requests()) != 50 {
				t.Errorf("answers by status: %v, %d requests upstream", count, len(up.Requests()))
			}
			if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.HourlyRequests != 50 || used.HourlyCredits != 50 ||
				used.MonthlyQuotaExhausted != 150 {
				t.Errorf("usage %+v", used)
			}
		})
	}
}
