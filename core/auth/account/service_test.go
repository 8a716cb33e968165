package account_test

import (
	"encoding/json"
	"testing"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/account"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/internal/testing/webtest"
)

// below mounts sets of routes below a service and returns its address.
func below(t *testing.T, users *auth.Users, service string, add func(*account.Sets, *api.API)) string {
	t.Helper()
	access := closed()
	a := api.New(api.Config{Title: "Service", Version: "1", BaseURL: "/" + service, Tags: []*huma.Tag{{Name: "Own account"}}})
	add(account.New(account.Config{Users: users, Access: access}), a)
	h := webtest.Serve(t, httpd.Options{Guard: users.Guard(access)}, httpd.Mount{Service: service, BaseURL: "/" + service, Routes: a.Routes()})
	return "http://" + h.Addr() + "/" + service
}

func ask(t *testing.T, method, url, cookie, key, body string) (int, dict) {
	t.Helper()
	header := []string{"Content-Type", "application/json"}
	if cookie != "" {
		header = append(header, "Cookie", auth.SessionCookie+"="+cookie)
	}
	if key != "" {
		header = append(header, "Authorization", "Bearer "+key)
	}
	res, raw := webtest.Send(t, method, url, body, header...)
	out := dict{}
	if len(raw) > 0 {
		must(t, json.Unmarshal(raw, &out))
	}
	return res.StatusCode, out
}

// TestSetsBelowServices: the same routes serve services, each in its own naming, and hold the scopes of keys there.
func TestSetsBelowServices(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		releases := below(t, s.users, "releases", func(sets *account.Sets, a *api.API) { sets.OwnKeys(a, "/api", "releases") })
		mail := below(t, s.users, "mail", func(sets *account.Sets, a *api.API) {
			sets.Auth(a, "/api")
			sets.Keys(a, "/api")
			sets.Passkeys(a, "/api")
			sets.Users(a, "/api")
		})

		status, made := ask(t, "POST", releases+"/api/me/api-keys", b.cookie, "", `{"name":"feed"}`)
		key, _ := made["api_key"].(string)
		item, _ := made["item"].(dict)
		if status != 200 || item["api_key"] != key || item["name"] != "feed" || item["masked_key"] != key[:12]+"…"+key[len(key)-4:] ||
			item["last_used_at"] != nil {
			t.Fatalf("got %d %v", status, made)
		}
		status, list := ask(t, "GET", releases+"/api/me/api-keys", b.cookie, "", "")
		if items := list["items"].([]any); status != 200 || len(items) != 1 || items[0].(dict)["api_key"] != key {
			t.Fatalf("got %d %v", status, list)
		}
		// An API key is not accepted there, nor is one for a service elsewhere.
		if status, got := ask(t, "GET", releases+"/api/me/api-keys", "", key, ""); status != 403 {
			t.Fatalf("got %d %v", status, got)
		}
		if status, got := ask(t, "GET", mail+"/api/api-keys", "", key, ""); status != 403 || got["scope"] != "mail" {
			t.Fatalf("got %d %v", status, got)
		}

		status, made = ask(t, "POST", mail+"/api/api-keys", b.cookie, "", `{"scopes":["mail"]}`)
		mailKey, _ := made["apiKey"].(string)
		if status != 201 {
			t.Fatalf("got %d %v", status, made)
		}
		// It makes no keys, and revokes none of other scopes.
		if status, got := ask(t, "POST", mail+"/api/api-keys", "", mailKey, `{"scopes":["mail"]}`); status != 403 {
			t.Fatalf("got %d %v", status, got)
		}
		if status, got := ask(t, "POST", mail+"/api/api-keys/"+item["id"].(string)+"/revoke", "", mailKey, ""); status != 403 {
			t.Fatalf("got %d %v", status, got)
		}
		// Users of the whole product are not for a key of one service, whoever it belongs to.
		for _, r := range [][2]string{{"GET", ""}, {"POST", `{"email":"eve@example.com","name":"Eve","role":"admin"}`}} {
			if status, got := ask(t, r[0], mail+"/api/users", "", mailKey, r[1]); status != 403 {
				t.Errorf("%s users: got %d %v", r[0], status, got)
			}
		}

		status, list = ask(t, "DELETE", releases+"/api/me/api-keys/"+item["id"].(string), b.cookie, "", "")
		for _, k := range list["items"].([]any) {
			if k.(dict)["id"] == item["id"] {
				t.Errorf("the revoked key is listed")
			}
		}
		if status != 200 {
			t.Fatalf("got %d %v", status, list)
		}
	})
}
