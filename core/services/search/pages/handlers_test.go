package pages

import (
	"bufio"
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// hostile is text that must never become markup; hostileJSON is the same within a JSON string.
const (
	hostile     = `"><script>alert(1)</script><img src=x onerror=alert(2)>`
	hostileJSON = `\"><script>alert(1)</script><img src=x onerror=alert(2)>`
)

// markup are the pieces of hostile text that would do something.
var markup = []string{"<script>alert", "<img src=x", `href="javascript:`, `href="data:`}

// filled is a site with tokens, keys and requests of an administrator and two members.
type filled struct {
	*site
	texts                 []string
	bobs, eves, nobodys   string
	bobRow, eveRow        int64
	keyIDs, secretsOfKeys []string
}

func fillSite(t testing.TB) filled {
	s := newSite(t)
	f := filled{site: s, secretsOfKeys: []string{"upstream-secret-one", "upstream-secret-two", "upstream-secret-three"}}
	var text string
	for owner, to := range map[string]*string{s.bobID: &f.bobs, s.eveID: &f.eves, "": &f.nobodys} {
		text, *to = s.token(owner, hostile)
		f.texts = append(f.texts, text)
	}
	f.keyIDs = s.keys(hostile, f.secretsOfKeys...)
	must(t, s.service.QuarantineKey(t.Context(), f.keyIDs[1], hostile))
	must(t, s.service.SetKeyEnabled(t.Context(), f.keyIDs[2], false))
	s.backend.answers(200, `{"results":[{"title":"`+hostileJSON+`","url":"javascript:alert(3)","content":"`+hostileJSON+`","score":0.5},
		{"title":"Data","url":"data:text/html,<script>alert(4)</script>","content":"x"},{"title":"Good","url":"https://example.org/a?b=1&c=2","content":"fine"}]}`)
	f.bobRow, f.eveRow = s.searched(f.bobs), s.searched(f.eves)
	return f
}

func (f filled) addresses() []string {
	row := strconv.FormatInt(f.bobRow, 10)
	return []string{
		"/search/overview", "/search/overview?window=1h", "/search/overview?window=30d",
		"/search/tokens", "/search/tokens?q=team&group=&enabled=active&quota=normal", "/search/tokens?page=99", "/search/tokens?page=x",
		"/search/tokens/" + f.bobs, "/search/tokens/" + f.bobs + "?window=1h", "/search/tokens/" + f.nobodys,
		"/search/keys", "/search/keys?status=disabled", "/search/keys?group=nothing",
		"/search/keys/" + f.keyIDs[0], "/search/keys/" + f.keyIDs[1] + "?window=30d",
		"/search/requests", "/search/requests?token=" + f.bobs + "&operation=search&result=success", "/search/requests?key=" + f.keyIDs[0],
		"/search/requests/" + row,
		"/search/playground", "/search/playground?operation=map&token=" + f.bobs, "/search/guide", "/system",
	}
}

// TestPagesShow: an administrator can open every page in both languages, no text is missing, and neither secrets nor
// anything that somebody else wrote does harm.
func TestPagesShow(t *testing.T) {
	f := fillSite(t)
	for _, lang := range []string{"en", "zh"} {
		v := f.as(f.admin, lang)
		for _, path := range f.addresses() {
			p := v.Get(path)
			p.Is(t, path, http.StatusOK, `lang="`+lang)
			p.Lacks(t, path, append(append(append([]string{"⟦", "%!"}, markup...), f.texts...), f.secretsOfKeys...)...)
			for _, name := range []string{"Content-Security-Policy", "Cache-Control"} {
				if p.Header.Get(name) == "" {
					t.Errorf("%s has no %s", path, name)
				}
			}
			if p.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%s may be stored", path)
			}
		}
	}
	v := f.as(f.admin, "zh")
	v.Get("/search/tokens").Is(t, "Chinese", 200, "访问令牌")
	if p := v.Get("/search"); p.Status != http.StatusSeeOther || p.Header.Get("Location") != "/search/overview" {
		t.Errorf("the start of an administrator: %d %q", p.Status, p.Header.Get("Location"))
	}
}

// TestPagesRefuse: what does not exist or makes no sense is an error page that names what is wrong.
func TestPagesRefuse(t *testing.T) {
	f := fillSite(t)
	v := f.as(f.admin, "en")
	for path, want := range map[string]struct {
		status int
		text   string
	}{
		"/search/overview?window=2y":            {400, "The window must be"},
		"/search/tokens/none":                   {404, "no such access token"},
		"/search/tokens/none/live":              {404, "no such access token"},
		"/search/tokens/" + f.bobs + "?window=": {400, "The window must be"},
		"/search/tokens?enabled=maybe":          {200, ""},
		"/search/keys/none":                     {404, ""},
		"/search/requests/0":                    {404, "no such request"},
		"/search/requests/x":                    {404, "no such request"},
		"/search/requests/99999":                {404, "no such request"},
		"/search/requests?cursor=broken":        {400, ""},
		"/search/requests?request_id=broken":    {400, "The id of a request must be"},
		"/search/playground?operation=dance":    {404, "offers this operation"},
		"/search/nothing":                       {404, ""},
	} {
		v.Get(path).Is(t, path, want.status, want.text)
	}
	long := strings.Repeat("x", 600)
	token, key := "/search/tokens/"+f.bobs, "/search/keys/"+f.keyIDs[0]
	for _, tt := range []struct {
		path, field, value string
		status             int
		text               string
	}{
		{"/search/tokens", "note", long, 400, "note"},
		{"/search/tokens", "group", long, 400, "group"},
		{token + "/settings", "note", "a\x00b", 400, "note"},
		{token + "/settings", "requests_hour", "-1", 400, "0 or more"},
		{token + "/settings", "credits_day", "1e9", 400, "whole number"},
		{token + "/settings", "cache_ttl", "soon", 400, "whole number"},
		{token + "/settings", "expires", "tomorrow", 400, "expiry as a day"},
		{token + "/settings", "owner", "usr_nobody", 400, "user"},
		{token + "/settings", "owner", "a\x00b", 400, "owner"},
		{"/search/tokens/none/settings", "note", "a", 404, "no such access token"},
		{"/search/tokens/none/disable", "", "", 404, "no such access token"},
		{"/search/tokens/none/delete", "confirm_name", "none", 404, "no such access token"},
		{"/search/tokens/none/reveal", "", "", 404, "no such access token"},
		{"/search/keys", "keys", " \n ", 400, "no key"},
		{"/search/keys", "keys", strings.Repeat("k\n", 1001), 400, "at most 1000"},
		{key + "/dance", "", "", 404, "nothing at this address"},
		{"/search/keys/none/disable", "", "", 404, "no such"},
		{key + "/quarantine", "reason", long, 400, "reason"},
		{"/search/playground", "operation", "dance", 404, "offers this operation"},
		{"/search/playground", "token", "none", 404, "no such access token"},
		{"/search/guide/test", "token", "none", 404, "no such access token"},
	} {
		v.Post(tt.path, tt.field, tt.value).Is(t, tt.path+" "+tt.field, tt.status, tt.text)
	}
	v.Post("/search/keys", "keys", "k-1", "group", long).Is(t, "a long group", 400, "group")
}

// TestMembersSeeTheirOwn: members have their own tokens and requests, and for everything else it is as if it did not exist.
func TestMembersSeeTheirOwn(t *testing.T) {
	f := fillSite(t)
	v := f.as(f.bob, "en")
	if p := v.Get("/search"); p.Header.Get("Location") != "/search/tokens" {
		t.Errorf("the start of a member: %d %q", p.Status, p.Header.Get("Location"))
	}
	foreign := []string{f.eves, f.nobodys, f.keyIDs[0]}
	for _, path := range []string{"/search/tokens", "/search/tokens/" + f.bobs, "/search/requests", "/search/requests?key=" + f.keyIDs[0][:1],
		"/search/requests/" + strconv.FormatInt(f.bobRow, 10), "/search/playground", "/search/guide", "/system"} {
		p := v.Get(path)
		p.Is(t, path, 200)
		p.Lacks(t, path, foreign...)
		p.Lacks(t, path, markup...)
		p.Lacks(t, path, "/delete", "/disable", "/settings", `action="/search/tokens"`+` method`, "/search/overview", `href="/search/keys`)
	}
	v.Get("/search/tokens").Is(t, "own tokens", 200, f.bobs)
	v.Get("/search/requests").Is(t, "own requests", 200, "/search/requests/"+strconv.FormatInt(f.bobRow, 10))
	v.Get("/search/requests").Lacks(t, "own requests", `/search/requests/`+strconv.FormatInt(f.eveRow, 10)+`"`)
	v.Get("/search/requests?token="+f.eves).Lacks(t, "a foreign token", "/search/requests/"+strconv.FormatInt(f.eveRow, 10))
	none, absent := v.Get("/search/requests/99999"), v.Get("/search/requests/"+strconv.FormatInt(f.eveRow, 10))
	none.Is(t, "no request", 404, "no such request")
	absent.Is(t, "a foreign request", 404, "no such request")
	for _, path := range []string{"/search/tokens/" + f.eves, "/search/tokens/" + f.eves + "/live", "/search/tokens/" + f.nobodys} {
		v.Get(path).Is(t, path, 404, "no such access token")
	}
	for _, path := range []string{"/search/overview", "/search/keys", "/search/keys/" + f.keyIDs[0]} {
		v.Get(path).Is(t, path, 403)
	}
	for _, path := range []string{"/search/tokens", "/search/tokens/" + f.bobs + "/settings", "/search/tokens/" + f.bobs + "/enable",
		"/search/tokens/" + f.bobs + "/disable", "/search/tokens/" + f.bobs + "/delete", "/search/keys",
		"/search/keys/" + f.keyIDs[0] + "/delete"} {
		v.Post(path).Is(t, path, 403)
	}
	for _, path := range []string{"/search/tokens/" + f.eves + "/reveal", "/search/tokens/" + f.eves + "/rotate"} {
		p := v.Post(path)
		p.Is(t, path, 404, "no such access token")
		p.Lacks(t, path, f.texts...)
	}
	v.Post("/search/playground", "operation", "search", "token", f.eves, "f.query", "x").Is(t, "a foreign token in the playground", 404)
	v.Post("/search/guide/test", "token", f.eves).Is(t, "a foreign token in the guide", 404)
	v.Post("/search/tokens/"+f.bobs+"/reveal").Is(t, "the own token", http.StatusSeeOther)
	v.Get("/search/tokens/"+f.bobs).Is(t, "the own token", 200, "th-"+f.bobs+"-")

	nobody := f.visitor("en")
	for _, path := range f.addresses()[:len(f.addresses())-1] {
		nobody.Get(path).Is(t, path, 401)
	}
}

// TestOtherSitesChangeNothing: a form that another site sends with the cookie of an administrator is refused.
func TestOtherSitesChangeNothing(t *testing.T) {
	f := fillSite(t)
	v := f.as(f.admin, "en")
	v.Header.Set("Sec-Fetch-Site", "cross-site")
	for _, path := range []string{
		"/search/tokens", "/search/tokens/" + f.bobs + "/delete", "/search/tokens/" + f.bobs + "/rotate", "/search/tokens/" + f.bobs + "/reveal",
		"/search/keys",
		"/search/keys/" + f.keyIDs[0] + "/delete", "/search/playground", "/search/guide/test",
	} {
		p := v.Post(path, "note", "theirs", "keys", "their-key")
		p.Is(t, path, http.StatusForbidden)
		p.Lacks(t, path, "th-")
	}
	v.Header.Set("Sec-Fetch-Site", "same-origin")
	v.Get("/search/tokens").Lacks(t, "tokens", "theirs")
	v.Get("/search/tokens/"+f.bobs).Is(t, "the token", 200)
	v.Get("/search/keys/"+f.keyIDs[0]).Is(t, "the key", 200)
}

func TestKeysAreManaged(t *testing.T) {
	s := newSite(t)
	v := s.as(s.admin, "en")
	if p := v.Post("/search/keys", "keys", "secret-a\nsecret-b\n\nsecret-a\nwith a space\n", "group", "g"); p.Status != http.StatusSeeOther {
		t.Fatalf("add: %d\n%s", p.Status, p.Body)
	}
	list := v.Get("/search/keys")
	list.Is(t, "keys", 200, "2 keys")
	list.Lacks(t, "keys", "secret-a", "secret-b")
	keys, err := s.service.FindKeys(t.Context(), keys.KeyFilter{}, 1, 10)
	must(t, err)
	id := keys.Items[0].ID
	for _, tt := range []struct{ action, state string }{{"disable", "disabled"}, {"enable", "active"}, {"quarantine", "invalid"},
		{"release", "active"}, {"sync", "active"}} {
		if p := v.Post("/search/keys/"+id+"/"+tt.action, "reason", hostile); p.Status != http.StatusSeeOther {
			t.Fatalf("%s: %d\n%s", tt.action, p.Status, p.Body)
		}
		k, err := s.service.Key(t.Context(), id)
		if err != nil || string(k.Status) != tt.state {
			t.Errorf("after %s: %+v, %v", tt.action, k, err)
		}
		p := v.Get("/search/keys/" + id)
		p.Is(t, tt.action, 200)
		p.Lacks(t, tt.action, append(markup, "⟦", "secret-a", "secret-b")...)
	}
	v.Post("/search/keys/"+id+"/delete", "confirm_name", "another").Is(t, "delete with another name", http.StatusBadRequest,
		"Type the name to confirm")
	if p := v.Post("/search/keys/"+id+"/delete", "confirm_name", id); p.Header.Get("Location") != "/search/keys" {
		t.Errorf("delete: %d to %q", p.Status, p.Header.Get("Location"))
	}
	v.Get("/search/keys/"+id).Is(t, "deleted", 404)
}

// TestPlayground: what is sent is what the form says, and answers are shown without doing anything.
func TestPlayground(t *testing.T) {
	f := fillSite(t)
	v := f.as(f.bob, "en")
	p := v.posted(t, "/search/playground", "operation", "search", "token", f.bobs, "f.query", hostile, "f.max_results", "3", "f.topic", "news")
	p.Is(t, "an answer", 200, `class="hits"`, "https://example.org/a?b=1&amp;c=2", "Good", `<option value="news" selected>`)
	p.Lacks(t, "an answer", markup...)
	calls := f.backend.calls()
	v.Get("/search/playground?operation=search").Lacks(t, "the page again", `class="hits"`)
	if n := f.backend.calls(); n != calls {
		t.Errorf("loading the page again made %d calls", n-calls)
	}
	for body, text := range map[string]string{`{"query":`: "JSON", `{"query":"x","max_results":99}`: "max_results",
		`{"query":"x","stream":true}`: "", `[]`: ""} {
		p := v.posted(t, "/search/playground", "operation", "search", "token", f.bobs, "raw", body)
		p.Is(t, body, 200, `role="alert"`, text)
		p.Lacks(t, body, markup...)
	}
	v.posted(t, "/search/playground", "operation", "search", "token", f.bobs, "f.query", "x", "f.max_results", "many").Is(t,
		"a word for a number", 200, "max_results")
	f.backend.answers(500, `{"detail":"`+hostileJSON+`"}`)
	p = v.posted(t, "/search/playground", "operation", "search", "token", f.bobs, "f.query", "x")
	p.Is(t, "an error upstream", 200, "500")
	p.Lacks(t, "an error upstream", markup...)
	v.posted(t, "/search/guide/test", "token", f.bobs).Is(t, "the test fails", 200, "note bad")
	f.backend.answers(200, `{"results":[]}`)
	v.posted(t, "/search/guide/test", "token", f.bobs).Is(t, "the test", 200, "note ok")
	v.Get("/search/guide").Is(t, "the guide", 200, f.base+"/search/api/proxy", f.base+"/search/mcp", "mcpServers")
}

// TestLiveRequests: requests arrive in the pages of those who may see them, and in nobody else's.
func TestLiveRequests(t *testing.T) {
	f := fillSite(t)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	follow := func(key, path string) *bufio.Scanner {
		v := f.as(key, "en")
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, f.base+path, nil)
		must(t, err)
		req.Header.Set("Accept", "text/event-stream")
		resp, err := v.Client.Do(req)
		must(t, err)
		t.Cleanup(func() { _ = resp.Body.Close() })
		if resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d", path, resp.StatusCode)
		}
		return bufio.NewScanner(resp.Body)
	}
	bob, eve := follow(f.bob, "/search/tokens/"+f.bobs+"/live"), follow(f.eve, "/search/requests/live")
	row := strconv.FormatInt(f.searched(f.bobs), 10)
	found := false
	for !found && bob.Scan() {
		found = strings.Contains(bob.Text(), "/search/requests/"+row+`"`)
	}
	if !found {
		t.Errorf("the request did not arrive: %v", bob.Err())
	}
	next := strconv.FormatInt(f.searched(f.eves), 10)
	for eve.Scan() {
		if strings.Contains(eve.Text(), "/search/requests/"+row+`"`) {
			t.Fatal("a member sees the request of another one")
		}
		if strings.Contains(eve.Text(), "/search/requests/"+next+`"`) {
			return
		}
	}
	t.Errorf("the own request did not arrive: %v", eve.Err())
}
