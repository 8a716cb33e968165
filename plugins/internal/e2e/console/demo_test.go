package console

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// demoReleases are the releases of the demonstration: hours before this day, repository, tag, title and notes.
var demoReleases = []struct {
	hours                  int
	repo, tag, title, body string
}{
	{2, "harborlight/gateway", "v2.8.0", "Faster routing", "Routes are matched in one pass. Requests with many rules are answered 30% faster."},
	{5, "papertrail-lab/notes", "v1.14.2", "Fixes for search", "Search finds notes in archived folders again."},
	{9, "northwind-tools/queue", "v0.31.0", "Delayed jobs", "Jobs can be delayed by up to 30 days. The old field `wait` still works."},
	{26, "harborlight/gateway", "v2.7.4", "Security fix", "Closes a hole in the check of forwarded headers. Update soon."},
	{31, "quietfield/metrics", "v4.2.0", "Histograms", "Native histograms are on by default."},
	{50, "northwind-tools/queue", "v0.30.3", "Small fixes", "A worker no longer stops after a lost connection."},
	{55, "papertrail-lab/notes", "v1.14.1", "Fixes for mobile", "The editor scrolls on small screens."},
	{78, "quietfield/metrics", "v4.1.9", "Last of 4.1", "Only fixes. The next release is 4.2."},
}

// demoMails are the mails of the demonstration: mailbox, sender, subject and text. The last one is the newest.
var demoMails = [][4]string{
	{"news", "Harbour Weekly <news@harbour-weekly.example>", "Seven tools for small teams", "This week: backups that restore, and how to read a flame graph.\n"},
	{"signup", "Northwind Shop <hello@northwind.example>", "Confirm your address", "Please confirm your address:\nhttps://northwind.example/confirm?t=8f2c\n"},
	{"alerts", "Build Robot <robot@builds.example>", "Nightly build: 214 tests passed", "All 214 tests passed in 3 minutes 12 seconds.\n"},
	{"news", "Quietfield <digest@quietfield.example>", "Your digest for this week", "Three new posts since Monday.\n"},
	{"alerts", "Build Robot <robot@builds.example>", "Staging was deployed", "Version 2.8.0 runs on staging.\n"},
	{"signup", "Paperwork Cloud <no-reply@paperwork.example>", "Welcome to Paperwork", "Your workspace is ready.\n"},
	{"signup", "Northwind Shop <hello@northwind.example>", "Your code is 428319", "Hello,\n\nyour sign-up code is 428319. It is valid for ten minutes.\n\nIf you did not ask for it, ignore this mail.\n\nNorthwind Shop\n"},
}

// demoStacks are the stacks of the demonstration: their names, and name, image, tag and new version of each service.
var demoStacks = []struct {
	name     string
	services [][4]string
}{
	{"blog", [][4]string{{"web", "registry.example.com/blog/web", "6.2.1", "6.3.0"}, {"db", "registry.example.com/library/postgres", "17.2", ""}}},
	{"media", [][4]string{{"server", "registry.example.com/media/server", "10.9.4", ""}, {"indexer", "registry.example.com/media/indexer", "2.1.0", ""}}},
	{"monitoring", [][4]string{{"metrics", "registry.example.com/quietfield/metrics", "4.1.9", "4.2.0"},
		{"dashboards", "registry.example.com/quietfield/boards", "11.4.0", ""}}},
	{"notes", [][4]string{{"app", "registry.example.com/papertrail/notes", "1.14.1", "1.14.2"}, {"cache", "registry.example.com/library/valkey", "8.0", ""}}},
	{"proxy", [][4]string{{"gateway", "registry.example.com/harborlight/gateway", "2.8.0", ""}}},
	{"wiki", [][4]string{{"wiki", "registry.example.com/wiki/wiki", "3.5.1", ""}, {"search", "registry.example.com/wiki/search", "1.9.0", ""}}},
}

// demoTokens are the notes of the access tokens, the busiest first.
var demoTokens = []string{"Research agent", "Help centre", "Editorial team", "Nightly report"}

// startDemo runs a core with every service for the pictures of the documents. What it asks for stands in for the outside.
func startDemo(t *testing.T) (c *kit.Core, tokens []string) {
	t.Helper()
	hub, repos := githubtest.New(t), []string{}
	midnight := time.Now().UTC().Truncate(24 * time.Hour)
	for i, r := range demoReleases {
		if name := fmt.Sprintf("%q", r.repo); !strings.Contains(strings.Join(repos, ","), name) {
			hub.AddRepo(githubtest.Repo{FullName: r.repo})
			repos = append(repos, name)
		}
		hub.Change(func(s *githubtest.Server) {
			s.Content(r.repo).Releases = append(s.Content(r.repo).Releases,
				&githubtest.Release{ID: int64(10 + i), Tag: r.tag, Name: r.title, Body: r.body, At: midnight.Add(-time.Duration(r.hours) * time.Hour)})
		})
	}
	hub.Token("ghp_a_token_of_the_demonstration", "robin")
	up := kit.StartUpstream(t, "-no-history")
	hcl := fmt.Sprintf("search \"tavily\" \"web\" {\n  config { base_url = %q }\n}\nsearch \"local\" \"handbook\" {\n  config { folders = [\"docs\"] }\n}\n",
		up.URL) + "service \"search\" {\n  base_url = \"/search\"\n  backend  = search.web\n}\nnotify \"telegram\" \"family\" {}\n" +
		strings.Replace(kit.MailHCL, "mail.localhost", "example.com", 1) + kit.ReleasesHCL(hub, strings.Join(repos, ", ")) +
		strings.Replace(kit.ContainersHCL(dockertest.NewestCompose(t).Path, "  notify = [notify.family]"), "interval_seconds = 10",
			"interval_seconds = 86400", 1)
	c = kit.NewCore(t, hcl, "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	kit.Must(t, os.Mkdir(filepath.Join(c.Dir, "docs"), 0o700))
	kit.Must(t, os.WriteFile(filepath.Join(c.Dir, "docs", "start.md"), []byte("# Start\n\nHow to begin.\n"), 0o600))
	c.Start()
	t.Cleanup(c.Stop)
	for _, note := range demoTokens {
		tokens = append(tokens, c.CLI("token", "create", "-note", note))
	}
	keys := c.AddKeys("tvly-demonstration-one", "tvly-demonstration-two", "tvly-demonstration-three")
	c.Stop()
	fillDemo(t, c, func(exec executor) { fillDemoSearches(exec, tokens, keys) })
	c.Start()
	return c, tokens
}

// executor runs a statement with its arguments.
type executor func(string, ...any)

// fillDemo has a function write into the database of a core, all at once.
func fillDemo(t testing.TB, c *kit.Core, fill func(executor)) {
	t.Helper()
	db := c.Writable(t)
	tx, err := db.Begin()
	kit.Must(t, err)
	fill(func(query string, args ...any) {
		t.Helper()
		if _, err := tx.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	})
	kit.Must(t, tx.Commit())
	kit.Must(t, db.Close())
}

// fillDemoMail makes the administrator, mails and stacks of the demonstration, and returns the path of the newest mail.
func fillDemoMail(b *kit.Browser, c *kit.Core, tokens []string) (message string) {
	b.T.Helper()
	b.Open(c.SetupPath())
	b.Do(chromedp.SendKeys(chromedp.CSS("#email"), "robin@example.com"), chromedp.SendKeys(chromedp.CSS("#name"), "Robin Hale"))
	b.Press("main form .btn.p", "#passkeys")
	for _, token := range tokens {
		c.Search(b.T, token, http.StatusOK)
	}
	for _, name := range []string{"news", "alerts", "signup"} {
		kit.RequireValue(b, "make a mailbox", fmt.Sprintf(`fetch("/mail/api/mailboxes", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({localPart: %q})}).then((r) => r.ok)`, name), true)
	}
	for _, m := range demoMails {
		c.SendMailFrom(m[1], m[0]+"@example.com", "Subject: "+m[2], m[3])
	}
	b.Open("/releases/settings")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_the_demonstration"))
	b.Press("form[action$='/token'] .btn.p", ".toast.ok")
	kit.Eventually(b.T, kit.StartWithin, "the feed has the releases", func() bool {
		b.Open("/releases/feed")
		n, err := kit.Evaluate[int](b, `document.querySelectorAll(".item a.open").length`)
		return err == nil && n >= len(demoReleases)
	})
	fillDemo(b.T, c, func(exec executor) {
		for i := range demoMails {
			age := (len(demoMails) - i) * (len(demoMails) - i) * 9 * 60_000
			exec("UPDATE mail_messages SET received_at = received_at - ? WHERE id = (SELECT id FROM mail_messages ORDER BY id LIMIT 1 OFFSET ?)", age, i)
		}
		exec("UPDATE mail_mailboxes SET created_at = created_at - 172800000, received_at = (SELECT MAX(received_at) FROM mail_messages WHERE mailbox_id = mail_mailboxes.id)")
	})
	kit.Eventually(b.T, kit.StartWithin, "the inbox has the mails", func() bool {
		b.Open("/mail/inbox")
		n, err := kit.Evaluate[int](b, `document.querySelectorAll("a.message").length`)
		return err == nil && n >= len(demoMails)
	})
	message, err := kit.Evaluate[string](b, `document.querySelector("a.message").getAttribute("href")`)
	kit.Must(b.T, err)
	return message
}

// fillDemoSearches writes a week of searches, the oldest first.
func fillDemoSearches(exec executor, tokens, keys []string) {
	// Without the mark of the last end the core adds everything up anew at its start.
	exec("DELETE FROM search_marks WHERE name = 'rollups'")
	at := time.Now()
	for i := range 2000 {
		// Days are busy, nights are not; now and then a request fails.
		when := at.Add(-time.Duration(2000-i) * 5 * time.Minute)
		if math.Sin(float64(when.UTC().Hour()-6)/24*2*math.Pi) < float64(i%7)/5-0.9 {
			continue
		}
		token, outcome, status, code := tokens[min(i%3, i*7%5)][3:7], 1, http.StatusOK, ""
		if i%43 == 17 {
			outcome, status, code = 2, http.StatusBadGateway, "upstream_error"
		}
		took := 240_000 + i*7919%61*9_000
		exec("INSERT INTO search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code) VALUES (?,?,?,?,?,'search.web',?,?,?,?,1,?,?,900,1,180,5200,'10.0.0.12',?)",
			i+1, when.UnixMilli(), fmt.Sprintf("req_%026d", i), token, keys[i%len(keys)], []string{"search", "search", "extract"}[i%3], outcome, status,
			status, took, took-9_000, code)
		exec("INSERT INTO quota_usage (token_id,minute,requests,credits,successes,errors,refused) VALUES (?,?,1,1,?,?,0)", token,
			when.Unix()/60, 2-outcome, outcome-1)
	}
}

// fillDemoStacks writes the stacks with their services. A scan of the engine finds no containers of theirs: write them before each look.
func fillDemoStacks(exec executor) {
	exec("DELETE FROM containers_services")
	exec("DELETE FROM containers_stacks")
	now := time.Now().UnixMilli()
	for i, st := range demoStacks {
		id, dir := fmt.Sprintf("stk_%s", st.name), "/srv/"+st.name
		exec("INSERT INTO containers_stacks (id,project,working_dir,files,created_at,updated_at,last_check_at) VALUES (?,?,?,?,?,?,?)", id, st.name,
			dir, `["`+dir+`/compose.yaml"]`, now, now, now-600_000)
		for n, s := range st.services {
			digest, match := "", ""
			if s[3] != "" {
				digest, match = "sha256:"+strings.Repeat("ab", 32), "match"
			}
			exec("INSERT INTO containers_services (id,stack_id,name,image,repo,tag,state,runtime_digest,runtime_version,candidate_tag,candidate_digest,candidate_match,candidate_version,created_at,updated_at,checked_at) VALUES (?,?,?,?,?,?,'running',?,?,?,?,?,?,?,?,?)",
				fmt.Sprintf("svc_%d_%d", i, n), id, s[0], s[1]+":"+s[2], s[1], s[2], "sha256:"+strings.Repeat("cd", 32), s[2], s[3], digest, match, s[3], now, now,
				now-600_000)
		}
	}
}
