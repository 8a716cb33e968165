package search

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// showcase is a core with a month of requests, tokens in every state of their quota, and keys in every state.
type showcase struct {
	*kit.Core
	tokens, keys []string
	// served and failed are the numbers of two requests.
	served, failed int64
}

// startShowcase runs a core whose search pages have something to show.
func startShowcase(t *testing.T) showcase {
	t.Helper()
	up := kit.StartUpstream(t)
	s := showcase{Core: kit.NewCore(t, kit.WebHCL(up.URL, "", "log_bodies = true"), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")}
	for _, note := range []string{"Grace: research notebook", "Editorial team", "Nightly reports", "Chat assistant in the help centre",
		"Old laptop", "Trial of the partner, ends soon"} {
		s.tokens = append(s.tokens, s.CLI("token", "create", "-note", note)[3:7])
	}
	s.keys = s.AddKeys("key-one", "key-two", "key-three", "key-four", "key-five", "key-six")
	db := s.Writable(t)
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	now := time.Now()
	until := now.Add(25 * time.Minute).UnixMilli()
	for i, state := range []string{"active", "active", "cooling_down", "exhausted", "invalid", "disabled"} {
		exec("UPDATE search_keys SET state = ?, reason = ?, until = ?, group_name = ?, quota_limit = 1000, quota_used = ?, quota_synced_at = ? WHERE id = ?", state,
			map[string]string{"cooling_down": "The upstream answered 429.", "invalid": "The upstream answered 401: the key was revoked.",
				"exhausted": "The plan of this month is used up."}[state],
			map[string]int64{"cooling_down": until, "exhausted": now.AddDate(0, 1, 0).UnixMilli()}[state], []string{"main", "spare"}[i/3],
			[]int{120, 480, 777, 1000, 12, 0}[i], now.UnixMilli(), s.keys[i])
	}
	for i, values := range []string{"group_name = 'people', limit_requests = 2000",
		"group_name = 'people', limit_credits_hour = 50, limit_credits_day = 50", "group_name = 'machines'", "group_name = 'machines'",
		"enabled = FALSE", "limit_requests = 40"} {
		exec("UPDATE search_tokens SET "+values+" WHERE id = ?", s.tokens[i])
	}
	s.history(exec, now)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(s.Stop)
	return s
}

// history writes requests of a month, more by day than by night, with failures and refusals among them.
func (s *showcase) history(exec func(string, ...any), now time.Time) {
	dice := rand.New(rand.NewPCG(7, 11))
	id := int64(0)
	exec("BEGIN")
	for at := now.AddDate(0, 0, -29); at.Before(now); at = at.Add(time.Duration(60+dice.IntN(360)) * time.Second) {
		if hour := at.Hour(); hour < 6 && dice.IntN(3) > 0 {
			continue
		}
		id++
		took := 180_000 + int(dice.ExpFloat64()*120_000)
		token, key := s.tokens[dice.IntN(4)], s.keys[dice.IntN(2)]
		outcome, status, upstream, credits, code := 1, 200, 200, 1+dice.IntN(2), ""
		switch dice.IntN(40) {
		case 0:
			outcome, status, upstream, credits, code = 2, 502, 500, 0, "upstream_error"
			s.failed = id
		case 1:
			outcome, status, upstream, credits, code, key, took = 3, 429, 0, 0, "quota_exhausted", "", 300
		}
		operation := []string{"search", "search", "search", "extract", "map"}[dice.IntN(5)]
		exec("INSERT INTO search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code) VALUES (?,?,?,?,?,'search.web',?,?,?,?,?,?,?,?,1,?,?,'192.0.2.17',?)",
			id, at.UnixMilli(), fmt.Sprintf("req_%026d", id), token, key, operation, outcome, status, upstream, credits, took, took*9/10, took/50,
			60+dice.IntN(200), 900+dice.IntN(9000), code)
		exec("INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) VALUES (?,?,1,?,1,0,0) ON CONFLICT DO NOTHING",
			token, at.Unix()/60, credits)
	}
	exec("COMMIT")
	exec("UPDATE search_tokens SET limit_credits_month = (SELECT SUM(credits) FROM quota_usage WHERE token_id = search_tokens.id AND minute >= ?) WHERE id = ?",
		time.Date(now.UTC().Year(), now.UTC().Month(), 1, 0, 0, 0, 0, time.UTC).Unix()/60, s.tokens[2])
}

func (s *showcase) pages() [][2]string {
	return [][2]string{
		{"home", "/system"}, {"overview", "/search/overview"}, {"overview-month", "/search/overview?window=30d"},
		{"tokens", "/search/tokens"}, {"token", "/search/tokens/" + s.tokens[0] + "?window=30d"},
		{"token-used-up", "/search/tokens/" + s.tokens[2]},
		{"keys", "/search/keys"}, {"key", "/search/keys/" + s.keys[4]}, {"key-resting", "/search/keys/" + s.keys[2]},
		{"requests", "/search/requests"}, {"request", fmt.Sprintf("/search/requests/%d", s.served)},
		{"request-failed", fmt.Sprintf("/search/requests/%d", s.failed)},
		{"requests-refused", "/search/requests?result=refused"}, {"guide", "/search/guide"},
	}
}

// TestSearchPages looks at every page of the search service with data, in every size, theme and language: nothing is wider
// than the window, no text is missing, nothing is hard to read, and no chart stays empty.
func TestSearchPages(t *testing.T) {
	t.Parallel()
	s := startShowcase(t)
	b := kit.Browse(t, s.Core)
	source := kit.ReadAxe(t)
	b.Authenticator(true)
	b.SetUp(s.Core)
	searchPlayground(b, s.tokens[0], "what happens when a plugin crashes")
	s.served = s.newest()
	for _, page := range s.pages() {
		b.WalkOpened(kit.ShowcasePage+page[0], func() {
			b.Open(page[1])
			b.Charted()
		}, source, kit.Wide, kit.Narrow)
	}
	b.WalkOpened(kit.ShowcasePage+"playground", func() { searchPlayground(b, s.tokens[0], "what happens when a plugin crashes") }, source, kit.Wide, kit.Narrow)
	b.WalkOpened(kit.ShowcasePage+"token-shown", func() {
		b.Open("/search/tokens/" + s.tokens[0])
		b.Press("form[action$='/reveal'] button", ".code pre")
	}, source, kit.Wide, kit.Narrow)
	b.As(kit.Wide)
	checkKeys(b)
	checkChart(b)
}

// searchPlayground sends a search from the playground.
func searchPlayground(b *kit.Browser, token, query string) {
	b.T.Helper()
	b.Open("/search/playground?operation=search&token=" + token)
	b.Do(chromedp.SendKeys(chromedp.CSS("#in-query"), query), chromedp.Click(chromedp.CSS("main form[action='/search/playground'] .btn.p")),
		chromedp.WaitVisible(chromedp.CSS(".hits")))
}

// newest is the number of the last request, once it is written.
func (s *showcase) newest() (id int64) {
	s.T.Helper()
	r := s.Records(s.T, kit.Storage{})
	kit.Eventually(s.T, 10*time.Second, "the request is in the audit", func() bool {
		id = r.Number("SELECT MAX(id) FROM search_requests WHERE outcome <> 0")
		return r.Number(fmt.Sprintf("SELECT COUNT(*) FROM search_bodies WHERE request_row = %d", id)) > 0
	})
	return id
}

// checkChart points at the last bar of a chart, which shows the values of the last row of its table; marks a stretch, which
// then fills the chart; and goes back.
func checkChart(b *kit.Browser) {
	b.T.Helper()
	b.Open("/search/overview")
	b.Charted()
	_, err := kit.Evaluate[any](b, `(() => { const o = document.querySelector(".u-over"), r = o.getBoundingClientRect();
		o.dispatchEvent(new MouseEvent("mousemove", { clientX: r.right - 2, clientY: r.top + 40, bubbles: true })); })()`)
	if err != nil {
		b.T.Fatal(err)
	}
	got, err := kit.Evaluate[string](b, `document.querySelector(".tip").innerText`)
	if err != nil {
		b.T.Fatal(err)
	}
	want, err := kit.Evaluate[string](b, `(() => { const f = document.querySelector("figure[data-chart]"); return f.querySelector("th[data-tone]").textContent + " " + f.querySelector("tbody tr:last-child td:nth-child(2)").textContent; })()`)
	if err != nil || !strings.Contains(got, want) || !strings.Contains(got, " UTC") {
		b.T.Errorf("the last bar shows %q, want %q, and the time in UTC: %v", got, want, err)
	}
	area, err := kit.Evaluate[struct{ X, Y, Width float64 }](b, `document.querySelector(".u-over").getBoundingClientRect().toJSON()`)
	if err != nil {
		b.T.Fatal(err)
	}
	b.Do(chromedp.DragAndDropXY(area.X+area.Width/2, area.Y+40, area.X+area.Width*0.9, area.Y+40, 5))
	b.Do(chromedp.WaitVisible(chromedp.CSS("figure .reset")), chromedp.Click(chromedp.CSS("figure .reset")))
	if shown, err := kit.Evaluate[bool](b, `document.querySelector("figure .reset").hidden`); err != nil || !shown {
		b.T.Errorf("the chart still offers to show all: %v", err)
	}
}

// checkKeys has keys checked before they are added, with each result as it comes.
func checkKeys(b *kit.Browser) {
	b.T.Helper()
	b.Open("/search/keys")
	b.Do(chromedp.Click(chromedp.CSS("[data-open]")),
		chromedp.SendKeys(chromedp.CSS("#keys"), "key-one\nupstream-key-number-seven\nupstream-key-number-eight"),
		chromedp.Click(chromedp.CSS("[data-ask]")), chromedp.WaitVisible(chromedp.CSS("[data-results] tbody tr:nth-child(3)")))
	b.Shows("3 / 3")
	if lines, err := kit.Evaluate[string](b, `[...document.querySelectorAll("[data-results] tbody tr")].map((row) => row.cells[0].textContent).join()`); err != nil || lines != "1,2,3" {
		b.T.Errorf("the results stand in the order %s: %v", lines, err)
	}
	b.Picture("full-keys-checked-1440")
	b.Press("form[data-validate] .btn.p", ".toast")
	b.Shows("8 keys")
}
