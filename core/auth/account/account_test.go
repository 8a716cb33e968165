package account_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/passkeytest"
)

func closed() auth.Access { return auth.Access{} }

// TestFromFirstStartToSignIn walks the way of the first administrator: link, passkey, sign-out, sign-in, revocation.
func TestFromFirstStartToSignIn(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		meta := s.browser().want(200, "", "GET", "/meta", nil)
		if meta["setupNeeded"] != true || meta["anonymous"] != false || meta["version"] != "1.2.3" ||
			meta["passkeys"].(dict)["available"] != true {
			t.Fatalf("got %v", meta)
		}
		token, err := s.users.Links.CreateFirst(t.Context())
		must(t, err)
		b := s.browser()
		if got := b.want(200, "", "POST", "/setup/check", dict{"token": token}); got["first"] != true {
			t.Fatalf("got %v", got)
		}
		b.want(400, "invalid_argument", "POST", "/setup", dict{"token": token, "email": "x", "name": "Ann"})
		session := b.want(200, "", "POST", "/setup", dict{"token": token, "email": "ann@example.com", "name": "Ann"})
		if session["canReveal"] != true || session["via"] != "session" || session["user"].(dict)["role"] != "admin" {
			t.Fatalf("got %v", session)
		}
		b.want(401, "invalid_setup_link", "POST", "/setup", dict{"token": token, "email": "eve@example.com", "name": "Eve"})

		device := passkeytest.New(t, "localhost", s.base)
		options := b.call("POST", "/passkeys/registration/options", dict{"name": "Laptop"})
		made := b.want(201, "", "POST", "/passkeys/registration/verify",
			dict{"response": json.RawMessage(device.Create(t, json.RawMessage(options.raw)))})
		if made["name"] != "Laptop" || made["deviceType"] != "singleDevice" || made["lastUsedAt"] != nil {
			t.Fatalf("got %v", made)
		}
		before := b.cookie
		if a := b.call("DELETE", "/auth/session", nil); a.status != 204 || b.cookie != "" {
			t.Fatalf("got %d %s", a.status, a.raw)
		}
		b.want(401, "unauthorized", "GET", "/auth/session", nil)
		(&browser{server: s, cookie: before, header: http.Header{}}).want(401, "unauthorized", "GET", "/auth/session", nil)

		signIn := func(status int, code string) {
			t.Helper()
			b.want(status, code, "POST", "/auth/passkey/verify",
				dict{"response": json.RawMessage(device.Get(t, json.RawMessage(b.call("POST", "/auth/passkey/options", nil).raw)))})
		}
		signIn(200, "")
		if got := b.want(200, "", "GET", "/auth/session", nil); got["user"].(dict)["email"] != "ann@example.com" {
			t.Fatalf("got %v", got)
		}
		if got := b.want(200, "", "PATCH", "/passkeys/"+made["id"].(string), dict{"name": "Key ring"}); got["name"] != "Key ring" {
			t.Fatalf("got %v", got)
		}
		b.want(409, "last_way_in", "DELETE", "/passkeys/"+made["id"].(string), nil)
		spare := passkeytest.New(t, device.RPID, device.Origin)
		options = b.call("POST", "/passkeys/registration/options", dict{"name": "Spare"})
		b.want(201, "", "POST", "/passkeys/registration/verify", dict{"response": json.RawMessage(spare.Create(t, json.RawMessage(options.raw)))})
		if a := b.call("DELETE", "/passkeys/"+made["id"].(string), nil); a.status != 204 {
			t.Fatalf("got %d %s", a.status, a.raw)
		}
		list := b.want(200, "", "GET", "/passkeys", nil)["passkeys"].([]any)
		if len(list) != 2 {
			t.Fatalf("got %v", list)
		}
		b.call("DELETE", "/auth/session", nil)
		signIn(401, "invalid_passkey")
		b.want(400, "challenge_expired", "POST", "/auth/passkey/verify", dict{"response": dict{}})
	})
}

func TestAPIKeysOverHTTP(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		made := b.want(201, "", "POST", "/api-keys", dict{"scopes": []string{"search"}, "expiresAt": time.Now().Add(time.Hour)})
		text, record := made["apiKey"].(string), made["apiKeyRecord"].(dict)
		if record["name"] != "API key" || record["maskedKey"] != text[:12]+"…"+text[len(text)-4:] || record["lastUsedAt"] != nil ||
			record["expiresAt"] == nil {
			t.Fatalf("got %v", made)
		}
		at := "/api-keys/" + record["id"].(string)
		if got := b.want(200, "", "POST", at+"/reveal", nil); got["apiKey"] != text {
			t.Fatalf("got %v", got)
		}
		if raw := b.call("GET", "/api-keys", nil).raw; strings.Contains(string(raw), text) {
			t.Fatal("the list shows a full key")
		}

		other := s.browser()
		session := other.want(200, "", "POST", "/auth/session", dict{"apiKey": text})
		if session["via"] != "exchanged_session" || session["canReveal"] != false || session["scopes"].([]any)[0] != "search" {
			t.Fatalf("got %v", session)
		}
		other.want(403, "forbidden", "POST", at+"/reveal", nil)
		other.want(403, "forbidden", "GET", "/passkeys", nil)
		other.want(403, "forbidden", "GET", "/users", nil)
		other.want(403, "forbidden", "GET", "/sessions", nil)
		other.want(403, "forbidden", "POST", "/api-keys", dict{"scopes": []string{"mail"}})
		other.want(403, "forbidden", "POST", "/api-keys", dict{"scopes": []string{"search"}})
		s.key(text).want(200, "", "GET", "/auth/session", nil)
		b.want(400, "invalid_argument", "POST", "/api-keys", dict{"scopes": []string{"root"}})
		b.want(400, "invalid_argument", "POST", "/api-keys", dict{"name": strings.Repeat("x", 81)})
		b.want(400, "invalid_argument", "POST", "/api-keys", dict{"expiresAt": "2020-01-01T00:00:00Z"})
		b.want(404, "not_found", "POST", "/api-keys/key_x/revoke", nil)
		if a := b.call("POST", at+"/revoke", nil); a.status != 204 {
			t.Fatalf("got %d %s", a.status, a.raw)
		}
		other.want(401, "unauthorized", "GET", "/auth/session", nil)
		s.key(text).want(401, "invalid_api_key", "GET", "/auth/session", nil)
		s.browser().want(401, "invalid_api_key", "POST", "/auth/session", dict{"apiKey": text})
		b.want(409, "conflict", "POST", at+"/reveal", nil)
	})
}

func TestUsersAndAuditOverHTTP(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		made := b.want(201, "", "POST", "/users", dict{"email": "bob@example.com", "name": "Bob"})
		id, key := made["user"].(dict)["id"].(string), made["initialKey"].(dict)["apiKey"].(string)
		if made["user"].(dict)["role"] != "member" || made["initialKey"].(dict)["apiKeyRecord"].(dict)["name"] != "Initial API key" {
			t.Fatalf("got %v", made)
		}
		b.want(409, "conflict", "POST", "/users", dict{"email": "bob@example.com", "name": "Bob"})
		s.key(key).want(403, "forbidden", "GET", "/users", nil)
		link := b.want(201, "", "POST", "/users/"+id+"/setup-link", nil)
		at, err := url.Parse(link["url"].(string))
		must(t, err)
		if !strings.HasPrefix(link["url"].(string), s.base+"/system/setup?token=") {
			t.Fatalf("got %v", link)
		}
		bob := s.browser()
		if got := bob.want(200, "", "POST", "/setup", dict{"token": at.Query().Get("token")}); got["user"].(dict)["email"] != "bob@example.com" {
			t.Fatalf("got %v", got)
		}
		b.want(409, "conflict", "PATCH", "/users/"+b.want(200, "", "GET", "/auth/session", nil)["user"].(dict)["id"].(string),
			dict{"disabled": true})
		if got := b.want(200, "", "PATCH", "/users/"+id, dict{"role": "admin", "name": "Robert"}); got["role"] != "admin" ||
			got["name"] != "Robert" {
			t.Fatalf("got %v", got)
		}
		s.key(key).want(200, "", "GET", "/users", nil)
		// An API key is not enough to become somebody else.
		s.key(key).want(403, "forbidden", "POST", "/users/"+id+"/setup-link", nil)
		b.want(200, "", "PATCH", "/users/"+id, dict{"disabled": true})
		bob.want(401, "unauthorized", "GET", "/auth/session", nil)
		s.key(key).want(403, "account_disabled", "GET", "/auth/session", nil)
		s.browser().want(403, "account_disabled", "POST", "/auth/session", dict{"apiKey": key})
		b.want(404, "not_found", "GET", "/users/usr_none", nil)
		b.want(400, "invalid_argument", "PATCH", "/users/"+id, dict{"role": "root"})

		page := b.want(200, "", "GET", "/audit?limit=2", nil)
		if len(page["events"].([]any)) != 2 || page["nextCursor"] == nil {
			t.Fatalf("got %v", page)
		}
		b.want(200, "", "GET", "/audit?cursor="+page["nextCursor"].(string), nil)
		b.want(400, "invalid_argument", "GET", "/audit?cursor=x", nil)
		b.want(400, "invalid_argument", "GET", "/audit?result=maybe", nil)
		got := b.want(200, "", "GET", "/audit?action=user.disable&user="+id, nil)["events"].([]any)
		if len(got) != 1 || got[0].(dict)["actorName"] != "ann@example.com" || got[0].(dict)["address"] != "127.0.0.1" ||
			got[0].(dict)["targetId"] != id {
			t.Fatalf("got %v", got)
		}
		if all := string(b.call("GET", "/audit", nil).raw); strings.Contains(all, key) || strings.Contains(all, at.Query().Get("token")) {
			t.Fatal("a secret stands in the audit")
		}
	})
}

func TestSessionsOverHTTP(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		key := b.want(201, "", "POST", "/api-keys", dict{})["apiKey"].(string)
		var others []*browser
		for range 3 {
			o := s.browser("User-Agent", "other")
			o.want(200, "", "POST", "/auth/session", dict{"apiKey": key})
			others = append(others, o)
		}
		list := b.want(200, "", "GET", "/sessions", nil)["sessions"].([]any)
		current := 0
		for _, e := range list {
			if e.(dict)["current"] == true {
				current++
			}
		}
		if len(list) != 4 || current != 1 {
			t.Fatalf("got %v", list)
		}
		id := others[0].want(200, "", "GET", "/auth/session", nil)["sessionId"].(string)
		if a := b.call("DELETE", "/sessions/"+id, nil); a.status != 204 {
			t.Fatalf("got %d", a.status)
		}
		b.want(404, "not_found", "DELETE", "/sessions/"+id, nil)
		others[0].want(401, "unauthorized", "GET", "/auth/session", nil)
		if got := b.want(200, "", "POST", "/sessions/revoke-others", nil); got["revoked"] != 2.0 {
			t.Fatalf("got %v", got)
		}
		others[1].want(401, "unauthorized", "GET", "/auth/session", nil)
		b.want(200, "", "GET", "/auth/session", nil)
	})
}

// TestDocumentIsComplete: every route is in the document, and the page needs nothing from elsewhere.
func TestDocumentIsComplete(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		res, err := http.Get(s.base + "/system/openapi.json")
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		var doc struct {
			OpenAPI string
			Servers []struct{ URL string }
			Paths   map[string]map[string]any
		}
		must(t, json.NewDecoder(res.Body).Decode(&doc))
		n := 0
		for path, item := range doc.Paths {
			if !strings.HasPrefix(path, "/api/") {
				t.Errorf("got the path %s", path)
			}
			n += len(item)
		}
		if doc.OpenAPI != "3.1.0" || doc.Servers[0].URL != "/system" || n != 30 {
			t.Fatalf("got %s %v with %d operations", doc.OpenAPI, doc.Servers, n)
		}
		page, err := http.Get(s.base + "/system/api/docs")
		must(t, err)
		_ = page.Body.Close()
		if page.StatusCode != 200 {
			t.Fatalf("got %d", page.StatusCode)
		}
	})
}
