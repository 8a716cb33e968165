package console

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// formsScript opens whatever a page folds, as its reader would, and returns what keeps a form from being sent without a script, the
// addresses that forms are sent to, and those of the pages on which a dialog is open.
const formsScript = `(() => {
	document.querySelectorAll("details").forEach((d) => { d.open = true });
	const out = { findings: [], sent: [], dialogs: [] };
	const seen = (e) => e.checkVisibility({ visibilityProperty: true });
	const name = (e) => e.outerHTML.replace(/\s+/g, " ").slice(0, 120);
	const target = (form, by) => (by.getAttribute("formmethod") || form.method).toUpperCase() + " " + new URL(by.getAttribute("formaction") || form.getAttribute("action") || location.href, location.href).pathname;
	const fields = (form) => [...form.elements].filter((e) => e.matches("input:not([type=hidden]), select, textarea") && !e.disabled);
	const sends = (form) => [...form.elements].filter((e) => e.matches("button:not([type=button]):not([type=reset]), [type=submit]") && seen(e));
	// A single field is sent by the enter key.
	const works = (form) => fields(form).every(seen) && (sends(form).length > 0 || fields(form).length === 1);
	// A passkey takes a script.
	const forms = [...document.forms].filter((f) => f.method !== "dialog" && !f.dataset.passkey);
	for (const form of forms) {
		const dialog = form.closest("dialog:not([open])");
		if (dialog) {
			const link = [...document.links].find((a) => seen(a) && new URLSearchParams(a.search).get("open") === dialog.id);
			if (link) out.dialogs.push(link.pathname + link.search); else out.findings.push("no link opens the dialog of " + name(form));
		} else if (works(form)) {
			out.sent.push(...[form, ...sends(form)].map((by) => target(form, by)));
		} else if (!forms.some((other) => target(other, other) === target(form, form) && works(other))) {
			// The menu has one copy for wide windows and one for narrow ones.
			out.findings.push("nobody can fill in and send " + name(form));
		}
	}
	for (const button of document.querySelectorAll("button")) {
		if (!button.form && seen(button) && !button.disabled && !button.hasAttribute("popovertarget")) out.findings.push("nothing happens at " + name(button));
	}
	return out;
})()`

// pageForms are what formsScript returns.
type pageForms struct {
	Findings []string `json:"findings"`
	Sent     []string `json:"sent"`
	Dialogs  []string `json:"dialogs"`
}

// inspectForms fails the test if a form of a page, or of a dialog of it, cannot be sent without a script. It returns where the forms are
// sent to, as POST /path.
func inspectForms(b *kit.Browser, path string) (sent []string) {
	b.T.Helper()
	opened := map[string]bool{}
	for todo := []string{path}; len(todo) > 0; todo = todo[1:] {
		if opened[todo[0]] {
			continue
		}
		opened[todo[0]] = true
		b.Open(todo[0])
		forms, err := kit.Evaluate[pageForms](b, formsScript)
		if err != nil {
			b.T.Errorf("%s: %v", todo[0], err)
		}
		for _, f := range forms.Findings {
			b.T.Errorf("without a script, at %s: %s", todo[0], f)
		}
		sent = append(sent, forms.Sent...)
		todo = append(todo, forms.Dialogs...)
	}
	return sent
}

// formBases are the addresses of what the packages of pages declare.
var formBases = map[string]string{
	"console": "/system", "services/containers/pages": "", "services/mail/pages": "/mail", "services/releases/pages": "/releases",
	"services/search/pages": "/search",
}

// sentElsewhere are the routes of forms that no page of a filled core has, each with the test that sends them without a script, or with
// the reason why none can.
var sentElsewhere = map[string]string{
	"console /system/nodes/:id/drain":                                        "TestNodesPage",
	"console /system/nodes/:id/resume":                                       "TestNodesPage",
	"console /system/account/first-administrator":                            "TestConsoleWithoutScript",
	"console /passkeys/:id/rename":                                           "TestConsoleWithoutScript",
	"console /passkeys/:id/revoke":                                           "TestConsoleWithoutScript",
	"console /system/setup":                                                  "TestConsoleWithoutScript",
	"console /system/setup/look-around":                                      "TestConsoleWithoutScript",
	"console /system/sign-in":                                                "TestConsoleWithoutScript",
	"console /system/plugins/changes/:id/apply":                              "TestProviderIsSwappedInTheBrowser",
	"services/containers/pages /host-packages/conflict":                      "TestContainersWithoutScript",
	"services/containers/pages /host-packages/repos/bulk":                    "TestContainersWithoutScript",
	"services/containers/pages /host-packages/repos/delete":                  "TestContainersWithoutScript",
	"services/containers/pages /host-packages/repos/select":                  "TestContainersWithoutScript",
	"services/containers/pages /host-packages/sync":                          "TestContainersWithoutScript",
	"services/containers/pages /host-packages/targets/remove":                "TestContainersWithoutScript",
	"services/containers/pages /notifications/subscriptions/remove":          "TestContainersWithoutScript",
	"services/containers/pages /notifications/keys":                          "TestContainersWithoutScript",
	"services/containers/pages /services/:stackId/:serviceId/ignore-version": "TestContainersWithoutScript",
	"services/containers/pages /services/:stackId/:serviceId/rollback":       "TestContainersWithoutScript",
	"services/containers/pages /stacks/update":                               "TestContainersWithoutScript",
	"services/releases/pages /translations/:id/:lane":                        "TestReleaseLanes",
}

// fillForms has pages show forms that a filled core has not: by plain forms, and in the database of a core. It returns further pages, and
// where the forms of a page are sent to that is not so for long.
func fillForms(b *kit.Browser, c *kit.Core) (pages, sent []string) {
	b.T.Helper()
	b.SendForm("/releases/hosts/public", "form[action$='/hosts/public'] .btn.p", ".toast.ok", "#name", "acme/engine")
	b.SendForm("/releases/repos", "form[action$='/repos'] .btn.p", ".toast.ok", "#name", "acme/engine")
	b.SendForm("/releases/settings", "form[action$='/settings/feeds'] .btn.p", ".code pre", "#feed-name", "Reader")
	b.SendForm("/system/account?open=new-key", "form[action='/system/account/keys'] .btn.p", ".code pre", "#key-name", "Backup job")
	db := c.Writable(b.T)
	defer db.Close()
	now := time.Now().UnixMilli()
	var mailbox string
	for _, query := range []string{
		// The token whose page is among the pages that are walked stays enabled.
		"UPDATE search_tokens SET enabled = FALSE WHERE id = (SELECT MIN(id) FROM search_tokens WHERE note <> '" + walkedToken + "')",
		"INSERT INTO jobs (id,type,state,actor,payload,result,error_code,error_message,step,percent,run_at,created_at,started_at,finished_at) VALUES ('job_waiting','containers.update','queued','','{}','','','','',0,?1 + 86400000,?1,0,0)",
		"INSERT INTO jobs (id,type,state,actor,payload,result,error_code,error_message,step,percent,run_at,created_at,started_at,finished_at) VALUES ('job_keys','search.check_keys','queued','','{}','','','','',0,?1 + 86400000,?1,0,0)",
		"INSERT INTO sessions (hash,id,user_id,key_id,began_with,user_agent,address,created_at,seen_at,expires_at) SELECT 'other', 'ses_other', id, '', 'passkey', '', '127.0.0.1', ?1, ?1, ?1 + 86400000 FROM users WHERE email = 'ada@example.com'",
		"UPDATE containers_stacks SET archived_at = ?1, archived_reason = 'manual' WHERE id = 'stk_1'",
		"UPDATE containers_services SET archived_at = ?1, archived_reason = 'manual' WHERE id = 'svc_2_0'",
		"UPDATE containers_projects SET archived_at = ?1, archived_reason = 'manual' WHERE project = 'invalid1'",
		"UPDATE containers_backups SET status = 'success' WHERE id = 'bak_svc_0_0'",
		"INSERT INTO mail_domains (id,name,zone_id,binding,status,created_at,updated_at) VALUES ('dom_off','off.example.com','off.example.com','project_bind','disabled',?1,?1)",
	} {
		if _, err := db.Exec(query, now); err != nil {
			b.T.Fatalf("%s: %v", query, err)
		}
	}
	if err := db.QueryRow("SELECT MIN(id) FROM mail_mailboxes").Scan(&mailbox); err != nil {
		b.T.Fatal(err)
	}
	var token string
	if err := db.QueryRow("SELECT id FROM search_tokens WHERE NOT enabled").Scan(&token); err != nil {
		b.T.Fatal(err)
	}
	kit.Eventually(b.T, kit.BrowserLimit, "a project has moved", func() bool {
		// A discovery, to which the containers of other tests may lead, finds that it has not.
		_, err := db.Exec("UPDATE containers_projects SET move = '{\"workingDir\":\"/srv/new\",\"configFiles\":[\"/srv/new/compose.yaml\"]}' WHERE project = 'invalid2'")
		sent = inspectForms(b, "/discovery")
		return err == nil && slices.Contains(sent, "POST /discovery/accept-move")
	})
	pages = []string{
		"/system/account", "/system/jobs/job_keys", "/queue/job_waiting", "/discovery?archived=only", "/system/plugins/instance/notify.hook",
		"/search/tokens/" + token,
		"/stacks/stk_1", "/services/stk_2/svc_2_0", "/mail/inbox?mailbox=" + mailbox,
	}
	return pages, sent
}

// checkFormsWereSeen fails the test if a route takes POST and none of the forms that were seen is sent to it.
func checkFormsWereSeen(t *testing.T, sent []string) {
	t.Helper()
	for i := range sent {
		sent[i], _ = url.PathUnescape(sent[i])
	}
	for _, route := range declaredRoutes(t, "post") {
		dir, path, _ := strings.Cut(route, " ")
		base, known := formBases[dir]
		if !known || sentElsewhere[route] != "" {
			continue
		}
		pattern := "^POST " + base + "(/[^/]+)*?" +
			regexp.MustCompile(`:[A-Za-z]+`).ReplaceAllString(strings.TrimPrefix(regexp.QuoteMeta(path), base), "[^/]+") + "$"
		if !slices.ContainsFunc(sent, regexp.MustCompile(pattern).MatchString) {
			t.Errorf("no form was seen that is sent to %s, without a script", route)
		}
	}
}
