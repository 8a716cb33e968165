package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/services/search"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
)

// possessions are one of each thing that lets whoever holds it in as a user.
type possessions struct {
	t    *testing.T
	a    *App
	user auth.User
	// by is how each gets in: the status of an answer that needs it.
	by map[string]func() int
	// stream is closed when the stream of the session ends.
	stream chan struct{}
}

// makeOneOfEach makes a user, an administrator beside others, with one of each.
func makeOneOfEach(t *testing.T, a *App, email string) *possessions {
	ctx := t.Context()
	user, key, err := a.users.Create(ctx, email, "One", auth.Admin)
	must(t, err)
	link, err := a.users.Links.CreateForUser(ctx, user.ID)
	must(t, err)
	cookie, p, err := a.users.Links.Use(ctx, link, "", "", auth.Origin{Address: "192.0.2.1"})
	must(t, err)
	exchanged, _, err := a.users.Sessions.Exchange(ctx, key, auth.Origin{Address: "192.0.2.1"})
	must(t, err)
	token, err := search.NewAdmin(a.store, a.keyring, nil).CreateToken(ctx, access.NewToken{OwnerID: user.ID})
	must(t, err)
	must(t, a.refreshServices(ctx))
	_ = p
	h := &possessions{t: t, a: a, user: user, stream: make(chan struct{})}
	session := http.Header{"Cookie": {auth.SessionCookie + "=" + cookie}}
	status, body := h.ask(http.MethodPost, "/releases/api/feed-tokens", session, `{"name":"one"}`)
	var feed struct{ Token string }
	if must(t, json.Unmarshal([]byte(body), &feed)); status != http.StatusOK && status != http.StatusCreated || feed.Token == "" {
		t.Fatalf("make a feed: %d %s", status, body)
	}
	// The link that opens the account once more.
	second, err := a.users.Links.CreateForUser(ctx, user.ID)
	must(t, err)
	get := func(path string, h1 http.Header) func() int {
		return func() int { status, _ := h.ask(http.MethodGet, path, h1, ""); return status }
	}
	h.by = map[string]func() int{
		"session":           get("/system/api/auth/session", session),
		"exchanged session": get("/system/api/auth/session", http.Header{"Cookie": {auth.SessionCookie + "=" + exchanged}}),
		"API key":           get("/system/api/auth/session", http.Header{"Authorization": {"Bearer " + key}}),
		"access token":      get("/search/api/proxy/usage", http.Header{"Authorization": {"Bearer " + token}}),
		"feed token":        get("/releases/api/feed.atom?token="+feed.Token, http.Header{}),
		"set-up link": func() int {
			status, _ := h.ask(http.MethodPost, "/system/api/setup/check", http.Header{}, fmt.Sprintf(`{"token":%q}`, second))
			return status
		},
	}
	h.openStream(session)
	return h
}

func (h *possessions) request(ctx context.Context, method, path string, header http.Header, body string) *http.Response {
	h.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, "http://"+h.a.Addr()+path, strings.NewReader(body))
	must(h.t, err)
	req.Header = header.Clone()
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	must(h.t, err)
	return res
}

func (h *possessions) ask(method, path string, header http.Header, body string) (int, string) {
	res := h.request(h.t.Context(), method, path, header, body)
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	must(h.t, err)
	return res.StatusCode, string(raw)
}

// openStream follows the page of jobs, which is for administrators.
func (h *possessions) openStream(session http.Header) {
	res := h.request(h.t.Context(), http.MethodGet, "/system/jobs/live", session, "")
	if res.StatusCode != http.StatusOK {
		h.t.Fatalf("the stream: %d", res.StatusCode)
	}
	go func() {
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		close(h.stream)
	}()
}

// working returns what lets somebody in, sorted.
func (h *possessions) working() (names []string) {
	for name, use := range h.by {
		if use() < 300 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// TestWhatAUserOwnsEndsWithTheUser: a reset ends one of each for good, a disabled user's are refused, and a changed role ends the streams
// and counts at once for everything else.
func TestWhatAUserOwnsEndsWithTheUser(t *testing.T) {
	a := startApp(t, nil)
	ctx := t.Context()
	_, _, err := a.users.Create(ctx, "root@example.com", "Root", auth.Admin)
	must(t, err)
	all := []string{"API key", "access token", "exchanged session", "feed token", "session", "set-up link"}
	yes, no, member := true, false, auth.Member
	change := func(c auth.UserChange) func(*possessions) {
		return func(h *possessions) {
			_, err := a.users.Change(ctx, h.user.ID, c)
			must(t, err)
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*possessions)
		want   []string
		// later is what works once the user is let in again.
		later []string
	}{
		{"reset", func(h *possessions) {
			_, err := a.users.Reset(ctx, h.user.Email)
			must(t, err)
		}, nil, nil},
		{"reset with a link", func(h *possessions) {
			_, err := a.users.Links.Reset(ctx, h.user.Email)
			must(t, err)
		}, nil, nil},
		{"disable", change(auth.UserChange{Disabled: &yes}), nil, []string{"API key", "access token", "feed token", "set-up link"}},
		{"another role", change(auth.UserChange{Role: &member}), all, all},
	} {
		h := makeOneOfEach(t, a, strings.ReplaceAll(tt.name, " ", "-")+"@example.com")
		if got := h.working(); !slices.Equal(got, all) {
			t.Fatalf("%s: before it, %v work", tt.name, got)
		}
		tt.change(h)
		if got := h.working(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v work, want %v", tt.name, got, tt.want)
		}
		<-h.stream
		change(auth.UserChange{Disabled: &no})(h)
		if got := h.working(); !slices.Equal(got, tt.later) {
			t.Errorf("%s, then enabled: %v work, want %v", tt.name, got, tt.later)
		}
	}
}

// TestEveryGrantIsKnown: a table with a user's secrets is known to the reset, in the list below with what ends its rows.
func TestEveryGrantIsKnown(t *testing.T) {
	a := startApp(t, nil)
	known := map[string]string{
		"api_keys": "core", "passkeys": "core", "sessions": "core", "setup_links": "core", "passkey_challenges": "core",
		"mail_messages": "no way in: the hash is that of the content", "search_tokens": "search.EndGrants",
		"release_feed_tokens": "account.EndGrants", "release_host_accounts": "account.EndGrants", "release_sign_ins": "account.EndGrants",
	}
	var tables []string
	must(t, a.store.DB(t.Context()).Raw(`SELECT m.name FROM sqlite_master m WHERE m.type = 'table'
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name IN ('user_id', 'owner_id'))
		AND EXISTS (SELECT 1 FROM pragma_table_info(m.name) WHERE name LIKE '%hash%' OR name LIKE '%token%' OR name LIKE '%secret%')`).Scan(&tables).Error)
	if len(tables) < 5 {
		t.Errorf("found only %v", tables)
	}
	for _, table := range tables {
		if known[table] == "" {
			t.Errorf("the table %s has secrets of users: end them in EndGrants of its service, and name it here", table)
		}
	}
}

// TestNewWaysInAskForThePasskey: whoever has a passkey must have shown it of late to make an API key or a feed for readers, by the API
// and by the forms of the console; whoever has none makes them as before.
func TestNewWaysInAskForThePasskey(t *testing.T) {
	a := startApp(t, nil)
	ctx := t.Context()
	link, err := a.users.Links.CreateFirst(ctx)
	must(t, err)
	cookie, p, err := a.users.Links.Use(ctx, link, "ann@example.com", "Ann", auth.Origin{Address: "192.0.2.1"})
	must(t, err)
	h := &possessions{t: t, a: a, user: p.User}
	session := http.Header{"Cookie": {auth.SessionCookie + "=" + cookie}}
	ways := []string{"/system/api/api-keys", "/mail/api/api-keys", "/releases/api/feed-tokens", "/system/account/keys",
		"/releases/settings/feeds"}
	write := func(sql string, args ...any) {
		t.Helper()
		must(t, a.store.Tx(ctx, "test", func(ctx context.Context) error { return a.store.Writer(ctx).Exec(sql, args...).Error }))
	}
	check := func(when string, refused bool) {
		t.Helper()
		for _, path := range ways {
			status, body := h.ask(http.MethodPost, path, session, `{"name":"one"}`)
			if status == http.StatusNotFound || (status == http.StatusForbidden) != refused {
				t.Errorf("%s: %s gives %d %s", when, path, status, body)
			}
		}
	}
	write("UPDATE sessions SET checked_at = 1")
	check("without a passkey", false)
	write(`INSERT INTO passkeys (id, user_id, name, rp_id, credential_id, record, backed_up, created_at, last_used_at, revoked_at) VALUES ('pky_1', ?, 'one', 'localhost', X'01', '{}', FALSE, 1, 0, 0)`, p.User.ID)
	check("with a passkey that was shown long ago", true)
	write("UPDATE sessions SET checked_at = ?", time.Now().UnixMilli())
	check("with a passkey that was shown of late", false)
}
