package console

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// walked are the pages that a walk looks at, by the routes that the pages of the core and of the services declare. A path with a
// name in braces is that of a thing, which is there in a core that has been filled.
var walked = map[string][]string{
	"console /system":                                              {"/system"},
	"console /system/account":                                      {"/system/account", "/system/account?open=new-key"},
	"console /system/audit":                                        {"/system/audit"},
	"console /system/find":                                         {"/system/find", "/system/find?q=search"},
	"console /system/jobs":                                         {"/system/jobs", "/system/jobs?housekeeping=show"},
	"console /system/jobs/:id":                                     {"/system/jobs/{job}"},
	"console /system/plugins":                                      {"/system/plugins"},
	"console /system/plugins/add":                                  {"/system/plugins/add"},
	"console /system/plugins/add/:kind/:plugin":                    {"/system/plugins/add/search/searxng?for=search.backend"},
	"console /system/plugins/available":                            {"/system/plugins/available"},
	"console /system/plugins/available/:kind/:name":                {"/system/plugins/available/search/local"},
	"console /system/plugins/instance/:ref":                        {"/system/plugins/instance/search.docs"},
	"console /system/plugins/instance/:ref/settings":               {"/system/plugins/instance/search.docs/settings"},
	"console /system/plugins/use/:service/:attribute":              {"/system/plugins/use/search/backend"},
	"console /system/users":                                        {"/system/users"},
	"services/containers/pages /deploy-check":                      {"/deploy-check"},
	"services/containers/pages /discovery":                         {"/discovery"},
	"console /system/docs":                                         {"/system/docs", "/system/docs?q=passkeys"},
	"console /system/docs/*name":                                   {"/system/docs/troubleshooting"},
	"services/containers/pages /host-packages":                     {"/host-packages"},
	"services/containers/pages /notifications":                     {"/notifications"},
	"services/containers/pages /notifications/preview/:kind":       {"/notifications/preview/job_finished"},
	"services/containers/pages /queue/:jobId":                      {"/queue/{job}"},
	"services/containers/pages /queue/version-inference":           {"/queue/version-inference"},
	"services/containers/pages /services/:stackId/:serviceId":      {"/services/stk_0/{service}"},
	"services/containers/pages /services/:stackId/:serviceId/logs": {"/services/stk_0/{service}/logs"},
	"services/containers/pages /settings":                          {"/settings"},
	"services/containers/pages /stacks":                            {"/stacks", "/stacks?q=nothing-has-this-name"},
	"services/containers/pages /stacks/:stackId":                   {"/stacks/{stack}"},
	"services/containers/pages /stacks/:stackId/files":             {"/stacks/{stack}/files"},
	"services/containers/pages /stacks/update":                     {"/stacks/update?action=check&id={service}"},
	"services/mail/pages /api-keys/docs":                           {"/mail/api-keys/docs"},
	"services/mail/pages /deploy-check":                            {"/mail/deploy-check"},
	"services/mail/pages /domains":                                 {"/mail/domains"},
	"services/mail/pages /inbox":                                   {"/mail/inbox", "/mail/inbox?open=new-mailbox", "/mail/inbox{message}"},
	"services/releases/pages /briefs":                              {"/releases/briefs"},
	"services/releases/pages /briefs/:id":                          {"{brief}"},
	"services/releases/pages /hosts":                               {"/releases/hosts"},
	"services/releases/pages /hosts/models":                        {"/releases/hosts/models"},
	"services/releases/pages /hosts/public":                        {"/releases/hosts/public"},
	"services/releases/pages /inbox":                               {"/releases/inbox"},
	"services/releases/pages /repos":                               {"/releases/repos"},
	"services/releases/pages /settings":                            {"/releases/settings"},
	"services/releases/pages /:owner/:repo/releases/tag/*tag":      {"{release}"},
	// The addresses of the feed are a list.
	"services/releases/pages path": {"/releases/feed", "/releases/stars", "/releases/followers", "/releases/focus/repo/acme/engine",
		"/releases/focus/repos?items=acme/engine", "/releases/focus/org/acme", "/releases/focus/mine"},
	"services/search/pages /guide":        {"/search/guide"},
	"services/search/pages /index":        {"/search/index"},
	"services/search/pages /keys":         {"/search/keys", "/search/keys?open=new-keys"},
	"services/search/pages /keys/:id":     {"/search/keys/{key}"},
	"services/search/pages /keys/bulk":    {"/search/keys/bulk?action=delete&id={key}"},
	"services/search/pages /overview":     {"/search/overview"},
	"services/search/pages /playground":   {"/search/playground"},
	"services/search/pages /requests":     {"/search/requests"},
	"services/search/pages /requests/:id": {"/search/requests/{request}"},
	"services/search/pages /tokens":       {"/search/tokens", "/search/tokens?open=new-token"},
	"services/search/pages /tokens/:id":   {"/search/tokens/{token}"},
	"services/search/pages /tokens/bulk":  {"/search/tokens/bulk?action=delete&id={token}"},
}

// notWalked are the routes that a walk leaves out, each with the reason.
var notWalked = map[string]string{
	"console /system/nodes":                                            "TestNodesPage looks at it: it is there with PostgreSQL alone",
	"console /system/setup":                                            "TestConsolePages looks at it: a link is for one use",
	"console /system/sign-in":                                          "TestConsolePages looks at it: whoever is signed in does not see it",
	"console /system/plugins/changes/:id":                              "TestConsoleProviders looks at it: a change is kept for a short time",
	"services/containers/pages /":                                      "it leads on",
	"services/containers/pages /host-packages/conflict":                "TestContainersWithoutScript: it takes a repository with two webhooks",
	"services/containers/pages /host-packages/inbox":                   "a part of a page",
	"services/containers/pages /notifications/preview":                 "it leads on",
	"services/containers/pages /notifications/preview/:kind/card.png":  "a picture",
	"services/containers/pages /notifications/preview/:kind/mail":      "the frame of a page",
	"services/containers/pages /queue":                                 "it leads on",
	"services/containers/pages /services/:stackId/:serviceId/rollback": "TestContainersPages looks at it: it takes an update",
	"services/mail/pages /":                                            "it leads on",
	"services/releases/pages /":                                        "it leads on",
	"services/releases/pages /:owner/:repo/releases":                   "TestReleasesPublic looks at it: it is for those who are not signed in",
	"services/releases/pages /sign-in":                                 "it leads on",
	"services/releases/pages /sign-in/callback":                        "it leads on",
	"services/search/pages /":                                          "it leads on",
	"supervisor /":                                                     "TestSupervisorPageInEveryState looks at it",
	"supervisor /favicon.png":                                          "a picture",
}

// TestEveryPageIsWalked: a page that is declared is looked at in every state, or has a reason why it is not.
func TestEveryPageIsWalked(t *testing.T) {
	t.Parallel()
	declared := declaredRoutes(t, "get")
	for _, route := range declared {
		known := strings.HasSuffix(route, "/live") || walked[route] != nil || notWalked[route] != ""
		if !known {
			t.Errorf("%s is not in the list of pages that are looked at", route)
		}
	}
	for route := range walked {
		if !slices.Contains(declared, route) {
			t.Errorf("%s is looked at, and nobody declares it", route)
		}
	}
	for route := range notWalked {
		if !slices.Contains(declared, route) {
			t.Errorf("%s is left out, and nobody declares it", route)
		}
	}
}

// ordinary are texts as people write them: two words at most, since English sentences are looked for on Chinese pages.
var ordinary = []string{"Editorial team", "", "nightly report", "help centre"}

// oneOfEach and manyOfEach fill lists with one row, and with more than a page holds.
var (
	oneOfEach  = filling{texts: ordinary[:1], word: "v1.4.0", number: 2, rows: 1, stacks: 1, services: 1}
	manyOfEach = filling{texts: ordinary, word: "v1.4.0", number: 2, rows: 60, stacks: 20, services: 3}
)

// startWalk runs a core with every service, which has nothing yet. So many releases are at its code host.
func startWalk(t *testing.T, releases int) *kit.Core {
	t.Helper()
	hub := githubtest.New(t)
	hub.AddRepo(githubtest.Repo{FullName: "acme/engine"})
	hub.Token("ghp_a_token_of_ada_lovelace", "ada")
	hub.Change(func(s *githubtest.Server) {
		for i := range releases {
			at := time.Now().UTC().Truncate(time.Second).Add(-time.Duration(i) * 7 * time.Hour)
			s.Content("acme/engine").Releases = append(s.Content("acme/engine").Releases,
				&githubtest.Release{ID: int64(10 + i), Tag: fmt.Sprintf("v1.%d.0", releases-i), Name: "Punched cards", Body: "- faster\n", At: at})
		}
	})
	bin := dockertest.NewestCompose(t)
	c := kit.NewCore(t, consoleConfig+"notify \"webhook\" \"hook\" {}\nnotify \"telegram\" \"bot\" {}\n"+kit.MailHCL+kit.ReleasesHCL(hub,
		`"acme/engine"`)+kit.ContainersHCL(bin.Path, "  notify = [notify.bot, notify.hook]"),
		"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	docs := filepath.Join(c.Dir, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	if releases > 0 {
		if err := os.WriteFile(filepath.Join(docs, "start.md"), []byte("# Start\n\nHow to begin.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Start()
	t.Cleanup(c.Stop)
	return c
}

// walkedToken is the note of the token that stands in the paths of pages.
const walkedToken = "Help centre"

// fillAll gives every service what f says, and returns what stands in the paths of things.
func fillAll(b *kit.Browser, c *kit.Core, f filling) *strings.Replacer {
	b.T.Helper()
	token := c.CLI("token", "create", "-note", walkedToken)[3:7]
	if f.rows > 1 {
		makeTokens(b, f.rows, "people")
	}
	var texts []string
	for i := range f.rows {
		texts = append(texts, fmt.Sprint("an-upstream-key-", i))
	}
	keys := c.AddKeys(texts...)
	db := c.Writable(b.T)
	f.fill(b.T, db, token, keys)
	if err := db.Close(); err != nil {
		b.T.Fatal(err)
	}
	kit.RequireValue(b, "make a mailbox", `fetch("/mail/api/mailboxes", {method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify({localPart: "hello"})}).then((r) => r.ok)`, true)
	for i := range f.rows {
		c.SendMail("hello@mail.localhost", "Subject: Report "+fmt.Sprint(i), "It is "+fmt.Sprint(482900+i)+".\n")
	}
	href := func(selector string) string {
		found, err := kit.Evaluate[string](b, fmt.Sprintf(`document.querySelector(%q)?.getAttribute("href") ?? ""`, selector))
		if err != nil || found == "" {
			b.T.Fatalf("there is no %s: %v, at %s", selector, err, b.Where())
		}
		return found
	}
	b.Open("/mail/inbox")
	message := strings.TrimPrefix(href("a.message"), "/mail/inbox")
	b.Open("/releases/settings")
	b.Do(chromedp.SendKeys(chromedp.CSS("#token"), "ghp_a_token_of_ada_lovelace"))
	b.Press("form[action$='/token'] .btn.p", ".toast.ok")
	kit.Eventually(b.T, kit.StartWithin, "the feed has the releases", func() bool {
		b.Open("/releases/feed")
		n, err := kit.Evaluate[int](b, `document.querySelectorAll(".item a.open").length`)
		return err == nil && n >= min(f.rows, 5)
	})
	release := href(".item a.open")
	b.Open("/releases/briefs")
	b.Press(".top .btn", "article.notes")
	brief, err := kit.Evaluate[string](b, "location.pathname")
	if err != nil {
		b.T.Fatal(err)
	}
	return strings.NewReplacer("{token}", token, "{key}", keys[0], "{request}", "1", "{job}", fmt.Sprintf("job_%026d", 0), "{stack}", "stk_0",
		"{service}", "svc_0_0", "{message}", message, "{release}", release, "{brief}", brief)
}

// TestPagesInEveryState looks at every page of a core with all services: empty, with one of each, and with many, where every form can be
// sent without a script.
func TestPagesInEveryState(t *testing.T) {
	t.Parallel()
	source := kit.ReadAxe(t)
	for state, tt := range map[string]struct {
		filling   filling
		inspected kit.Look
	}{"empty": {filling{}, kit.Narrow}, "one": {oneOfEach, kit.Wide}, "many": {manyOfEach, kit.Narrow}} {
		t.Run(state, func(t *testing.T) {
			f := tt.filling
			t.Parallel()
			c := startWalk(t, f.rows)
			b := kit.Browse(t, c)
			b.SetUp(c)
			things := strings.NewReplacer()
			if f.rows > 0 {
				things = fillAll(b, c, f)
			}
			pages := map[string]string{}
			for _, paths := range walked {
				for _, path := range paths {
					if !strings.Contains(path, "{") || f.rows > 0 {
						name := strings.Trim(strings.NewReplacer("/", "-", "?", "-", "&", "-", "=", "-", "{", "", "}", "").Replace(path), "-")
						pages[name] = things.Replace(path)
					}
				}
			}
			for name, path := range pages {
				b.Walk(state+"-"+name, path, source, tt.inspected)
			}
			if f.rows <= 1 {
				return
			}
			b.As(kit.Wide)
			b.WithoutScript(true)
			more, sent := fillForms(b, c)
			for _, path := range slices.Concat(more, slices.Collect(maps.Values(pages))) {
				sent = append(sent, inspectForms(b, path)...)
			}
			// The forms that start and stop a container are there with this compose alone.
			testkit.Require(t, "compose v2", dockertest.NewestCompose(t).PullPolicy, dockertest.Compose2Hint)
			checkFormsWereSeen(t, sent)
		})
	}
}
