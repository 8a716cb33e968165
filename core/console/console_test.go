package console_test

import (
	"bufio"
	"context"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

// pages are those that an administrator sees; the first ones a member as well.
func pages() (member, admin []string) {
	return []string{"/system", "/system/account"}, []string{
		"/system/plugins", "/system/plugins/instance/search.docs", "/system/plugins/instance/search.gone", "/system/plugins/instance/notify.ops",
		"/system/plugins/available", "/system/plugins/available/search/files", "/system/plugins/available/search/broken",
		"/system/jobs", "/system/jobs?state=failed&type=test.bad", "/system/users", "/system/audit",
		"/system/audit?action=session.begin&result=ok",
	}
}

var (
	inline   = regexp.MustCompile(`(?i)<style|<[a-z]+(\s+[a-z:-]+(="[^"]*")?)*\s+(style|on[a-z]+)=|javascript:|<script[^>]*>[^<]`)
	foreign  = regexp.MustCompile(`(?i)(src|href|action)="(https?:)?//`)
	leftover = regexp.MustCompile(`⟦|@ui\.|%!`)
	tags     = regexp.MustCompile(`(?s)<(script|style|code|pre|title)[^>]*>.*?</(script|style|code|pre|title)>|<[^>]+lang="en"[^>]*>.*?</[a-z]+>|<[^>]*>`)
	english  = regexp.MustCompile(`[A-Za-z]{3,}(:? [a-z]{2,})+`)
)

func (s *site) submit(kind string) queue.Job {
	s.t.Helper()
	j, _, err := s.queue.Submit(s.t.Context(), queue.Submission{Type: kind, Payload: map[string]string{"note": hostile}, Actor: hostile[:20]})
	must(s.t, err)
	if kind != "test.long" {
		testkit.Eventually(s.t, 10*time.Second, func() bool {
			got, err := s.queue.Get(s.t.Context(), j.ID)
			return err == nil && got.State.Final()
		}, "the job ends")
	}
	return j
}

func TestEveryPage(t *testing.T) {
	s := newSite(t)
	good, bad := s.submit("test.good"), s.submit("test.bad")
	member, admin := pages()
	admin = append(slices.Concat(member, admin), "/system/jobs/"+good.ID, "/system/jobs/"+bad.ID)
	for _, lang := range locale.Languages() {
		v := s.signedIn(s.admin, "Accept-Language", lang)
		for _, path := range admin {
			p := v.Get(path)
			if p.Status != http.StatusOK {
				t.Errorf("%s: status %d", path, p.Status)
			}
			if csp := p.Header.Get("Content-Security-Policy"); csp != ui.Policy || strings.Contains(csp, "unsafe") {
				t.Errorf("%s: the policy is %q", path, csp)
			}
			// The template of htmx's settings is a plain attribute.
			for what, pattern := range map[string]*regexp.Regexp{"inline code": inline, "an address elsewhere": foreign,
				"what should be gone": leftover} {
				if found := pattern.FindString(p.Body); found != "" {
					t.Errorf("%s in %s holds %s: %q", path, lang, what, found)
				}
			}
			if strings.Contains(p.Body, hostile[:20]) {
				t.Errorf("%s shows text of others as markup", path)
			}
			if lang == ui.Chinese {
				s.translated(path, p.Body)
			}
		}
	}
}

// translated fails the test for English words in a page in Chinese, save what people and plugins have written, and the name
// of the first API key, which is stored.
func (s *site) translated(path, body string) {
	_, main, _ := strings.Cut(body, `<main`)
	if strings.HasPrefix(path, "/system/audit") {
		// The details of the audit are our own.
		main = strings.ReplaceAll(main, ` lang="en"`, "")
	}
	main, _, _ = strings.Cut(main, `</main>`)
	for _, text := range strings.Split(tags.ReplaceAllString("<main"+main, "\x00"), "\x00") {
		if found := english.FindString(strings.ReplaceAll(text, "Initial API key", "")); found != "" && !strings.Contains(text, "alert(") {
			s.t.Errorf("%s in Chinese says %q", path, strings.TrimSpace(text))
		}
	}
}

func TestWhoSeesWhat(t *testing.T) {
	s := newSite(t)
	member, admin := pages()
	nobody, bob := s.visitor(), s.signedIn(s.member)
	for _, path := range slices.Concat(member, admin) {
		p := nobody.Get(path)
		if p.Status != http.StatusUnauthorized {
			t.Errorf("%s without a sign-in: status %d", path, p.Status)
		}
		p.Says(t, "Sign in with the API key", `name="next"`)
	}
	for _, path := range member {
		if p := bob.Get(path); p.Status != http.StatusOK {
			t.Errorf("%s for a member: status %d", path, p.Status)
		}
	}
	for _, path := range admin {
		p := bob.Get(path)
		if p.Status != http.StatusForbidden {
			t.Errorf("%s for a member: status %d", path, p.Status)
		}
		p.Says(t, "No access", "req_")
	}
	home := bob.Get("/system")
	for _, path := range []string{`href="/system/plugins`, `href="/system/users"`, `href="/system/jobs`, `href="/system/audit"`} {
		if strings.Contains(home.Body, path) {
			t.Errorf("the home page of a member holds %s", path)
		}
	}
	if p := bob.Get("/system/no-such-page"); p.Status != http.StatusNotFound || !strings.Contains(p.Body, "Not found") {
		t.Errorf("status %d:\n%s", p.Status, p.Body)
	}
	program := s.visitor("Accept", "application/json")
	if p := program.Get("/system/jobs"); p.Status != http.StatusUnauthorized || !strings.Contains(p.Body, `"code":"unauthorized"`) {
		t.Errorf("a program gets %d %s", p.Status, p.Body)
	}
}

func TestSignIn(t *testing.T) {
	s := newSite(t)
	v := s.visitor()
	for next, want := range map[string]string{"/system/jobs?state=failed": "/system/jobs?state=failed", "//evil.example": ui.Home,
		"https://evil.example": ui.Home, `/\evil.example`: ui.Home, "/a\r\nX: y": ui.Home, "": ui.Home} {
		if p := v.Post("/system/sign-in", "key", s.admin, "next", next); p.Status != http.StatusSeeOther || p.Header.Get("Location") != want {
			t.Errorf("next=%q leads to %q with %d, want %q", next, p.Header.Get("Location"), p.Status, want)
		}
	}
	p := s.visitor().Post("/system/sign-in", "key", "svc_ak_wrong", "next", "/system/jobs")
	if p.Status != http.StatusUnauthorized || len(p.Header.Values("Set-Cookie")) > 0 {
		t.Errorf("a wrong key: status %d, cookies %v", p.Status, p.Header.Values("Set-Cookie"))
	}
	p.Says(t, `role="alert"`, `value="/system/jobs"`)
	cross := s.signedIn(s.admin)
	cross.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, path := range []string{"/system/sign-in", "/system/sign-out", "/system/setup", "/system/preferences", "/system/users",
		"/system/account/keys", "/system/plugins/instance/search.docs/restart"} {
		if p := cross.Post(path, "key", s.member); p.Status != http.StatusForbidden {
			t.Errorf("POST %s from another site: status %d", path, p.Status)
		}
	}
	v.Post("/system/sign-out")
	if p := v.Get("/system"); p.Status != http.StatusUnauthorized {
		t.Errorf("after signing out: status %d", p.Status)
	}
}

func TestSetup(t *testing.T) {
	s := newSite(t)
	users, err := s.users.List(t.Context())
	must(t, err)
	token, err := s.users.Links.CreateForUser(t.Context(), users[0].ID)
	must(t, err)
	v := s.visitor()
	v.Get("/system/setup?token="+token).Says(t, "This link signs you in once")
	p := v.Post("/system/setup", "token", token)
	if p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/system/account" {
		t.Fatalf("status %d to %q", p.Status, p.Header.Get("Location"))
	}
	account := v.Get("/system/account")
	account.Says(t, "Welcome. Add a passkey now", "ada@example.com", "this one")
	if p := v.Get("/system/account"); strings.Contains(p.Body, "Welcome.") {
		t.Error("the toast is shown twice")
	}
	if p := s.visitor().Post("/system/setup", "token", token); p.Status != http.StatusUnauthorized {
		t.Errorf("the link again: status %d", p.Status)
	}
	if p := s.visitor().Get("/system/setup?token=" + token); p.Status != http.StatusUnauthorized ||
		!strings.Contains(p.Body, "already used") {
		t.Errorf("the link looked at again: status %d", p.Status)
	}
}

func TestPreferences(t *testing.T) {
	s := newSite(t)
	v := s.visitor()
	v.Post("/system/preferences", "lang", "zh", "back", "/system/sign-in")
	v.Post("/system/preferences", "theme", "dark", "back", "https://evil.example")
	v.Get("/system/sign-in").Says(t, `lang="zh-CN"`, `data-theme="dark"`, "登录")
	v.Post("/system/preferences", "lang", `"><script>`, "theme", "<b>")
	v.Get("/system/sign-in").Says(t, `lang="zh-CN"`, `data-theme="dark"`)
}

func TestToastsAreOurs(t *testing.T) {
	s := newSite(t)
	v := s.visitor()
	for _, value := range []string{"no base64!", "e30", strings.Repeat("A", 4000), "eyJUZXh0SUQiOiI8c2NyaXB0PiJ9"} {
		v.Client.Jar.SetCookies(nil, []*http.Cookie{{Name: "patchbay_toast", Value: value}})
		if p := v.Get("/system/sign-in"); p.Status != http.StatusOK || strings.Contains(p.Body, `class="toast`) {
			t.Errorf("the cookie %.20q shows a toast", value)
		}
	}
}

func TestInstanceActions(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	const at = "/system/plugins/instance/search.docs"
	if p := v.Post(at + "/check"); p.Status != http.StatusSeeOther {
		t.Fatalf("check: status %d", p.Status)
	}
	v.Get(at).Says(t, "search.docs answered in 3.0 ms: ready. fine", "plugin.hcl:4", "(redacted)", "30.0 MiB", "1.0 %", "1,200")
	s.providers.health.State = "error"
	v.Post(at + "/check")
	v.Get(at).Says(t, "search.docs is not well: error.")
	v.Post(at + "/restart")
	if !slices.Equal(s.providers.restarted, []string{"search.docs"}) {
		t.Errorf("restarted %v", s.providers.restarted)
	}
	if p := v.Get("/system/plugins/instance/search.nothing"); p.Status != http.StatusNotFound {
		t.Errorf("an unknown instance: status %d", p.Status)
	}
}

func TestJobs(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	long, bad := s.submit("test.long"), s.submit("test.bad")
	v.Get("/system/jobs").Says(t, long.ID, bad.ID, "failed")
	if p := v.Get("/system/jobs?state=failed"); strings.Contains(p.Body, long.ID) {
		t.Error("the filter shows a job that did not fail")
	}
	if p := v.Get("/system/jobs?cursor=nonsense"); p.Status != http.StatusBadRequest {
		t.Errorf("a cursor of one's own: status %d", p.Status)
	}
	v.Get("/system/jobs/"+bad.ID).Says(t, "Why it failed")
	if p := v.Post("/system/jobs/" + long.ID + "/cancel"); p.Status != http.StatusSeeOther {
		t.Fatalf("cancel: status %d", p.Status)
	}
	testkit.Eventually(t, 10*time.Second, func() bool {
		j, err := s.queue.Get(t.Context(), long.ID)
		return err == nil && j.State == queue.Canceled
	}, "the job is cancelled")
	if p := v.Post("/system/jobs/" + long.ID + "/cancel"); p.Status != fault.Conflict.Status() {
		t.Errorf("cancel again: status %d", p.Status)
	}
}

// TestLive: a stream sends the part at once, again when it changes, and ends with the job.
func TestLive(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	long := s.submit("test.long")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/system/jobs/"+long.ID+"/live", nil)
	must(t, err)
	resp, err := v.Client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
		t.Fatalf("the type is %q", kind)
	}
	canceled, ended := false, false
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.Contains(lines.Text(), "Cancel the job") && !canceled {
			canceled = true
			v.Post("/system/jobs/" + long.ID + "/cancel")
		}
		ended = ended || lines.Text() == "event: done"
	}
	if !canceled || !ended {
		t.Errorf("the stream showed the job: %t, and its end: %t", canceled, ended)
	}
}

// TestStreamsEndWithTheSession: whoever has signed out learns nothing more.
func TestStreamsEndWithTheSession(t *testing.T) {
	s := newSite(t)
	v := s.signedIn(s.admin)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/system/plugins/live", nil)
	must(t, err)
	resp, err := v.Client.Do(req)
	must(t, err)
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("status %d", resp.StatusCode)
	}
	if p := v.Post("/system/sign-out"); p.Status != http.StatusSeeOther {
		t.Fatalf("sign-out: status %d", p.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
	}
	if err := lines.Err(); err != nil {
		t.Errorf("the stream did not end: %v", err)
	}
}
