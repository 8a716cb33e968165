package console

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// hostileHCL has instances with the longest names that there can be. Nothing answers for search.web.
func hostileHCL(compose string) string {
	long := strings.Repeat("abcdefgh", 4)
	return fmt.Sprintf(`
search "tavily" "web" {
  config { base_url = "http://127.0.0.1:1" }
}
search "local" %[1]q {
  config { folders = ["docs"] }
}
notify "telegram" %[1]q {}
notify "webhook" "hook" {}
notify "webhook" "unused" {}
registry "oci" %[1]q {}
engine "docker" "local" {}
service "search" {
  base_url = "/search"
  backend  = [search.web, search.%[1]s]
  notify   = [notify.hook]
}
service "containers" {
  base_url    = "/"
  engine      = engine.local
  registries  = registry.%[1]s
  notify      = [notify.%[1]s, notify.hook]
  compose_bin = %[2]q
}
`, long, compose)
}

// startHostile runs a core whose lists are long and hold the hostile texts, and returns the pages to look at.
func startHostile(t *testing.T) (*kit.Core, [][2]string) {
	t.Helper()
	bin := dockertest.NewestCompose(t)
	c := kit.NewCore(t, hostileHCL(bin.Path), "SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV=false")
	docs := filepath.Join(c.Dir, "docs")
	if err := os.Mkdir(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range kit.HostileTexts {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.md", i)), []byte("# "+text+"\n\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token := c.CLI("token", "create", "-note", kit.UnbrokenText[:200])[3:7]
	keys := c.AddKeys("key-one", "key-two", "key-three", "key-four")
	db := c.Writable(t)
	pages := hostileFilling.fill(t, db, token, keys)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	c.Start()
	t.Cleanup(c.Stop)
	return c, pages
}

// filling is what fills the tables behind every list.
type filling struct {
	// texts are the texts that people and other machines write, word one that has no place to wrap.
	texts []string
	word  string
	// tail ends the names of projects and services; number is how large numbers are.
	tail   string
	number int64
	// rows is how many rows a list has that grows by itself, stacks how many stacks and services each of them has.
	rows, stacks, services int
}

// hostileFilling has hostile texts alone.
var hostileFilling = filling{texts: kit.HostileTexts, word: kit.UnbrokenText, tail: "-" + strings.Repeat("long", 15), number: 9_000_000_000, rows: 40,
	stacks: 4, services: 3}

// text is the text of a row.
func (f filling) text(i int) string { return f.texts[i%len(f.texts)] }

// cut is the word, with at most so many letters.
func (f filling) cut(letters int) string { return f.word[:min(letters, len(f.word))] }

// fill fills the tables behind every list, and returns the pages of what is in them.
func (f filling) fill(t testing.TB, db *sql.DB, token string, keys []string) [][2]string {
	t.Helper()
	exec := func(query string, args ...any) {
		t.Helper()
		if _, err := db.Exec(query, args...); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
	}
	now := time.Now().UnixMilli()
	exec("UPDATE search_tokens SET group_name = ?, limit_requests = ?, limit_credits_month = ? WHERE id = ?", f.cut(80), f.number,
		f.number*1000, token)
	for i, key := range keys {
		exec("UPDATE search_keys SET state = ?, reason = ?, group_name = ?, until = ?, quota_error = ? WHERE id = ?",
			[]string{"invalid", "cooling_down", "exhausted", "disabled"}[i%4], f.text(i), f.cut(60), now+3_600_000, f.text(i), key)
		for n := range 10 {
			exec("INSERT INTO search_key_events (id,key_id,time,source,actor,operation,before,after,reason) VALUES (?,?,?,'admin',?,'quarantined','active','invalid',?)", fmt.Sprintf("kev_%d_%d", i, n), key, now, f.text(i), f.text(n))
		}
	}
	for i := range f.rows {
		text := f.text(i)
		exec("INSERT INTO search_requests (id,time,request_id,token_id,key_id,backend,operation,outcome,status,upstream_status,credits,duration_us,upstream_us,plugin_us,attempts,request_bytes,response_bytes,client,error_code) VALUES (?,?,?,?,?,?,'search',2,502,599,?,999999999,999999999,1,12,?,?,?,'upstream_error')",
			i+1, now-int64(i)*60_000, fmt.Sprintf("req_%026d", i), token, keys[0], "search."+strings.Repeat("abcdefgh", 4), f.number, f.number,
			f.number, text)
		exec("INSERT INTO account_events (id,at,action,result,actor_id,actor_name,via,address,target_id,target_name,user_id,detail) VALUES (?,?,'user.create','denied','usr_0001',?,'console',?,'usr_0002',?,'usr_0002',?)", fmt.Sprintf("evt_%04d", i), now-int64(i), text, f.cut(60), text, text)
		exec("INSERT INTO jobs (id,type,state,actor,payload,result,error_code,error_message,step,percent,run_at,created_at,started_at,finished_at) VALUES (?,'containers.update',?,?,?,'','internal',?,?,50,?,?,?,?)", fmt.Sprintf("job_%026d", i),
			[]string{"failed", "success", "rolled_back", "canceled"}[i%4], text, fmt.Sprintf(`{"note":%q}`, f.word), text, text, now, now-int64(i),
			now, now)
		exec("INSERT INTO job_events (job_id,seq,job_type,at,type,data) VALUES (?,1,'containers.update',?,'log',json_object('level','error','text',?,'step',?))", fmt.Sprintf("job_%026d", i), now, text, text)
	}
	pages := f.fillContainers(exec, now)
	return append(pages, [][2]string{
		{"search-token", "/search/tokens/" + token}, {"search-key", "/search/keys/" + keys[0]}, {"search-request", "/search/requests/1"},
		{"job", fmt.Sprintf("/system/jobs/job_%026d", 0)},
		{"unused", "/system/plugins/instance/notify.unused"}, {"dead", "/system/plugins/instance/search.web"},
	}...)
}

// fillContainers fills the tables of the containers service.
func (f filling) fillContainers(exec func(string, ...any), now int64) [][2]string {
	image := "registry.example.com:5000/" + strings.Repeat("a-team/", 1+len(f.tail)/3) + "an-image"
	for i := range f.stacks {
		text, stack := f.text(i), fmt.Sprintf("stk_%d", i)
		exec("INSERT INTO containers_stacks (id,project,working_dir,files,created_at,updated_at) VALUES (?,?,?,?,?,?)", stack,
			fmt.Sprint("project", i)+f.tail, "/srv/"+f.word, `["/srv/`+f.word+`/compose.yaml"]`, now, now)
		exec("INSERT INTO containers_projects (project,status,stack_id,working_dir,last_error,last_seen_at,last_scan_at) VALUES (?,'invalid','',?,?,?,?)", fmt.Sprint("invalid", i)+f.tail, "/srv/"+f.word, text, now, now)
		for n := range f.services {
			id := fmt.Sprintf("svc_%d_%d", i, n)
			exec("INSERT INTO containers_services (id,stack_id,name,image,repo,tag,state,candidate_tag,candidate_digest,candidate_match,runtime_error,check_error,check_reason,runtime_version,candidate_version,created_at,updated_at,checked_at) VALUES (?,?,?,?,?,?,'running',?,?,'match',?,?,'failed',?,?,?,?,?)",
				id, stack, fmt.Sprint("service", n)+f.tail, image+":"+f.cut(120), image, f.cut(120), f.cut(120), "sha256:"+strings.Repeat("ab", 32),
				text, text, f.cut(120), f.cut(120), now, now, now)
			exec("INSERT INTO containers_ignores (id,service_id,enabled,kind,value,note,created_at) VALUES (?,?,?,'regex',?,?,?)", "ign_"+id, id,
				n == 0, f.cut(200), text, now)
			exec("INSERT INTO containers_changes (id,job_id,kind,stack_id,service_id,status,step,image,from_version,to_version,error,reason,started_at,finished_at) VALUES (?,?,'update',?,?,'failed','pull',?,?,?,?,'failed',?,?)", "chg_"+id, fmt.Sprintf("job_%026d", i), stack, id, image, f.cut(120), f.cut(120), text, now, now)
			exec("INSERT INTO containers_backups (id,stack_id,service_id,kind,target,destination,status,path,size,error,created_at,finished_at) VALUES (?,?,?,'volume',?,'','failed',?,?,?,?,?)", "bak_"+id, stack, id, f.cut(200), "/backups/"+f.word, f.number*1000, text, now, now)
		}
	}
	for i, text := range f.texts {
		exec("INSERT INTO notify_subscriptions (id,endpoint,p256dh,auth,sealed_as,label,created_by,created_at,updated_at) VALUES (?,?,'','','notify_subscriptions',?,?,?,?)", fmt.Sprintf("sub_%d", i), fmt.Sprintf("https://push%d.example.invalid/%s", i, f.word), text, text, now, now)
		message := fmt.Sprintf("msg_%d", i)
		exec("INSERT INTO notify_messages (id,service,key,kind,schema,version,severity,title,summary,detail,rich,payload,created_at) VALUES (?,'containers',?,'job_finished','',1,3,?,?,?,'','{}',?)", message, message, text, text, text, now)
		exec("INSERT INTO notify_deliveries (id,message_id,service,channel,name,recipient,once,state,attempts,error,created_at,attempted_at,ended_at) VALUES (?,?,'containers','notify.hook','webhook',?,FALSE,'failed',12,?,?,?,?)", "dlv_"+message, message, f.word, text, now, now, now)
	}
	return [][2]string{
		{"stacks", "/stacks"}, {"stack", "/stacks/stk_0"}, {"service", "/services/stk_0/svc_0_0"}, {"update", "/stacks/update?service=svc_0_0"},
		{"update-picked", "/stacks/update?action=update&id=svc_0_0&id=svc_1_1"}, {"queue", "/queue"},
		{"queue-job", fmt.Sprintf("/queue/job_%026d", 0)},
		{"discovery", "/discovery"}, {"deploy", "/deploy-check"}, {"settings", "/settings"}, {"notifications", "/notifications"},
		{"inference", "/queue/version-inference"}, {"hooks", "/host-packages"},
	}
}

// hostileAccount gives the account of the first administrator keys and sessions with the hostile texts, and makes users of them.
func hostileAccount(t *testing.T, c *kit.Core) {
	t.Helper()
	db := c.Writable(t)
	defer db.Close()
	now := time.Now().UnixMilli()
	for i, text := range kit.HostileTexts {
		for _, query := range []string{
			"INSERT INTO users (id,email,name,role,disabled,created_at,updated_at) VALUES ('usr_'||?1, ?1||'-'||substr(?2, 1, 200)||'@example.com', ?2, 'member', ?1 % 2, ?3, ?3)",
			"INSERT INTO api_keys (id,user_id,name,hash,sealed,prefix,scopes,expires_at,created_at,revoked_at) SELECT 'key_'||?1, id, ?2, ?1, '', 'pbk_xxxx', '', 0, ?3, 0 FROM users WHERE email = 'ada@example.com'",
			"INSERT INTO sessions (hash,id,user_id,key_id,began_with,user_agent,address,created_at,seen_at,expires_at) SELECT ?1, 'ses_'||?1, id, '', 'passkey', ?2, '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', ?3, ?3, ?3 + 86400000 FROM users WHERE email = 'ada@example.com'",
			"UPDATE users SET name = ?2 WHERE email = 'ada@example.com' AND ?1 = 0 AND ?3 > 0",
		} {
			if _, err := db.Exec(query, i, text, now); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
	}
}

// walkHostile looks at a page with hostile texts, a name and an address.
func walkHostile(b *kit.Browser, page [2]string, axe string) {
	b.T.Helper()
	// What the texts could do to axe's findings, they do in the narrow window: the themes are those of ordinary texts.
	b.Walk(kit.HostilePage+page[0], page[1], axe, kit.Narrow)
	kit.RequireValue(b, "a text was run at "+page[1], `window.ran === undefined`, true)
}

// consolePages are the pages of the core and of the search service, by the name of their picture.
func consolePages() [][2]string {
	return [][2]string{
		{"home", "/system"}, {"plugins", "/system/plugins"}, {"instance", "/system/plugins/instance/search.docs"},
		{"add-provider", "/system/plugins/add"}, {"provider-form", "/system/plugins/add/search/searxng?for=search.backend"},
		{"provider-settings", "/system/plugins/instance/search.docs/settings"}, {"use-another", "/system/plugins/use/search/backend"},
		{"available", "/system/plugins/available"}, {"available-one", "/system/plugins/available/search/local"},
		{"jobs", "/system/jobs"}, {"account", "/system/account"}, {"users", "/system/users"}, {"audit", "/system/audit"},
		{"search-overview", "/search/overview"}, {"search-tokens", "/search/tokens"}, {"search-keys", "/search/keys"},
		{"search-requests", "/search/requests"}, {"search-playground", "/search/playground"}, {"search-guide", "/search/guide"},
	}
}

// TestPagesHoldHostileTexts: lists that are full of texts without a space, markup, other scripts and numbers too large stay within
// the window, nothing lies over anything else, and none of it is run.
func TestPagesHoldHostileTexts(t *testing.T) {
	t.Parallel()
	c, pages := startHostile(t)
	b := kit.Browse(t, c)
	b.SetUp(c)
	hostileAccount(t, c)
	// The update of a service that is not there is refused, on its page.
	b.Expect("409")
	for _, page := range consolePages() {
		if !strings.Contains(page[1], "search.docs") && !strings.Contains(page[1], "/provider-") {
			pages = append(pages, page)
		}
	}
	source := kit.ReadAxe(t)
	for _, page := range pages {
		walkHostile(b, page, source)
	}
}
