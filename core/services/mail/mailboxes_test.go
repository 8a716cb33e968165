package mail_test

import (
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
)

func TestMailboxesByAPI(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		made := s.want(201, "", s.ada, "POST", "/api/mailboxes",
			dict{"localPart": "Ada", "subdomain": "Desk", "mailDomain": "mail.localhost", "tags": []string{"Signup", "b", "signup"}})
		id := text(t, made, "id")
		key, _ := made["createdByApiKey"].(dict)
		if made["address"] != "ada@desk.mail.localhost" || made["status"] != "active" || made["source"] != "registered" ||
			made["createdVia"] != "api_key" ||
			key["prefix"] != s.ada[:12] || made["expiresAt"] != "2026-03-01T13:00:00.000Z" || made["routingRuleId"] != nil ||
			len(made["tags"].([]any)) != 2 {
			t.Fatalf("got %v", made)
		}
		// An address that is taken is shown to those who may see it.
		if got := s.want(409, "mailbox_exists", s.ada, "POST", "/api/mailboxes",
			dict{"localPart": "ada", "subdomain": "desk"}); got["mailbox"].(dict)["id"] != id {
			t.Fatalf("got %v", got)
		}
		if got := s.want(409, "mailbox_exists", s.bob, "POST", "/api/mailboxes",
			dict{"localPart": "ada", "subdomain": "desk"}); got["mailbox"] != nil {
			t.Fatalf("got %v", got)
		}
		// Random names are free.
		for range 5 {
			s.want(201, "", s.ada, "POST", "/api/mailboxes", nil)
		}
		forever := s.want(201, "", s.bob, "POST", "/api/mailboxes", `{"localPart":"bob","expiresInMinutes":null}`)
		if forever["expiresAt"] != nil {
			t.Fatalf("got %v", forever)
		}
		at := "/api/mailboxes/" + id
		s.want(200, "", s.ada, "GET", at, nil)
		s.want(200, "", s.admin, "GET", at, nil)
		s.want(404, "not_found", s.bob, "GET", at, nil)
		s.want(404, "not_found", s.ada, "GET", "/api/mailboxes/mbx_none", nil)
		s.want(401, "unauthorized", "", "GET", at, nil)

		resolve := "/api/mailboxes/resolve?address=" + url.QueryEscape("ADA@desk.mail.localhost")
		if got := s.want(200, "", s.ada, "GET", resolve, nil); got["id"] != id {
			t.Fatalf("got %v", got)
		}
		s.want(404, "not_found", s.bob, "GET", resolve, nil)

		if got := s.want(200, "", s.ada, "PATCH", at+"/tags", dict{"tags": []string{"x", "y"}}); len(got["tags"].([]any)) != 2 {
			t.Fatalf("got %v", got)
		}
		s.want(404, "not_found", s.bob, "PATCH", at+"/tags", dict{"tags": []string{}})
		s.want(400, "invalid_argument", s.ada, "PATCH", at+"/tags", dict{"tags": []string{"-"}})
		s.want(404, "not_found", s.ada, "PATCH", "/api/mailboxes/mbx_none/tags", dict{"tags": []string{}})

		s.want(404, "not_found", s.bob, "DELETE", at, nil)
		for range 2 {
			if got := s.want(200, "", s.ada, "DELETE", at, nil); got["status"] != "destroyed" || got["destroyedAt"] == nil {
				t.Fatalf("got %v", got)
			}
		}
		s.want(409, "conflict", s.ada, "PATCH", at+"/tags", dict{"tags": []string{}})
		s.want(404, "not_found", s.ada, "GET", resolve, nil)
		s.want(404, "not_found", s.ada, "DELETE", "/api/mailboxes/mbx_none", nil)
		// The address is free again.
		s.want(201, "", s.bob, "POST", "/api/mailboxes", dict{"localPart": "ada", "subdomain": "desk"})
	})
}

func TestMailboxesRefused(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		for _, tt := range []struct {
			path, field string
			body        any
		}{
			{"", "localPart", dict{"localPart": "-a"}},
			{"", "localPart", dict{"localPart": "a..b"}},
			{"", "subdomain", dict{"subdomain": "a_b"}},
			{"", "mailDomain", dict{"mailDomain": "other.example"}},
			{"", "mailDomain", dict{"mailDomain": "localhost"}},
			{"", "rootDomain", dict{"mailDomain": "mail.localhost", "rootDomain": "example.com"}},
			{"", "expiresInMinutes", dict{"expiresInMinutes": 59}},
			{"", "expiresInMinutes", dict{"expiresInMinutes": 525601}},
			{"", "expiresInMinutes", dict{"expiresInMinutes": "60"}},
			{"", "tags", dict{"tags": []string{"ä"}}},
			{"", "", "{"},
			{"/ensure", "address", dict{}},
			{"/ensure", "address", dict{"address": "a"}},
			{"/ensure", "address", dict{"address": "a@other.example"}},
			{"/ensure", "address", dict{"address": "a@mail.localhost", "localPart": "a"}},
			{"/ensure", "mailDomain", dict{"localPart": "a"}},
			{"/ensure", "unknown", dict{"address": "a@mail.localhost", "unknown": 1}},
		} {
			got := s.want(400, "invalid_argument", s.ada, "POST", "/api/mailboxes"+tt.path, tt.body)
			if tt.field != "" && got["field"] != tt.field {
				t.Errorf("%v: got %v, want the field %s", tt.body, got, tt.field)
			}
		}
		for _, query := range []string{"?status=gone", "?limit=0", "?limit=201", "?cursor=x", "?scope=all", "?tag=%C3%A4", "?other=1",
			"/resolve", "/resolve?address=a"} {
			s.want(400, "invalid_argument", s.ada, "GET", "/api/mailboxes"+query, nil)
		}
		s.want(403, "forbidden", s.ada, "POST", "/api/mailboxes", dict{"localPart": "postmaster"})
		s.want(403, "forbidden", s.ada, "POST", "/api/mailboxes/ensure", dict{"address": "abuse@mail.localhost"})
		s.want(201, "", s.admin, "POST", "/api/mailboxes", dict{"localPart": "postmaster"})
	})
}

func TestMailboxLists(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		var ids []string
		for _, name := range []string{"a", "b", "c", "d"} {
			tags := []string{"all"}
			if name < "c" {
				tags = append(tags, "low")
			}
			ids = append(ids, text(t, s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": name, "tags": tags}), "id"))
		}
		s.want(201, "", s.bob, "POST", "/api/mailboxes", dict{"localPart": "e"})
		slices.Reverse(ids)
		list := func(key, query string) (out []string) {
			t.Helper()
			next := any("")
			for next != nil {
				page := s.want(200, "", key, "GET", "/api/mailboxes?"+query+"&cursor="+next.(string), nil)
				for _, m := range page["mailboxes"].([]any) {
					out = append(out, m.(dict)["id"].(string))
				}
				next = page["nextCursor"]
			}
			return out
		}
		if got := list(s.ada, "limit=3"); !slices.Equal(got, ids) {
			t.Errorf("got %q, want %q", got, ids)
		}
		if got := list(s.ada, "limit=1&tag=ALL&tag=low"); !slices.Equal(got, ids[2:]) {
			t.Errorf("got %q, want %q", got, ids[2:])
		}
		if got := list(s.admin, "limit=2"); len(got) != 5 {
			t.Errorf("an administrator sees %q", got)
		}
		s.want(200, "", s.ada, "DELETE", "/api/mailboxes/"+ids[0], nil)
		s.clock.advance(61 * time.Minute)
		fresh := text(t, s.want(201, "", s.ada, "POST", "/api/mailboxes", dict{"localPart": "f"}), "id")
		for query, want := range map[string][]string{
			"scope=default": append([]string{fresh}, ids[1:]...), "scope=workspace": {fresh}, "status=active": {fresh}, "status=expired": ids[1:],
			"status=destroyed": ids[:1], "status=active&status=destroyed": {fresh, ids[0]},
		} {
			if got := list(s.ada, query); !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		}
	})
}

// TestEnsure: a mailbox is never shortened, an expired one begins anew, and a day after its end it is gone.
func TestEnsure(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		ensure := func(status int, minutes any) dict {
			t.Helper()
			return s.want(status, "", s.ada, "POST", "/api/mailboxes/ensure", dict{"address": "ada@mail.localhost", "expiresInMinutes": minutes})
		}
		id := ensure(201, 120)["id"]
		if got := ensure(200, 60); got["id"] != id || got["expiresAt"] != "2026-03-01T14:00:00.000Z" {
			t.Fatalf("got %v", got)
		}
		s.clock.advance(3 * time.Hour)
		if got := s.want(200, "", s.ada, "GET", "/api/mailboxes/"+id.(string), nil); got["status"] != "expired" {
			t.Fatalf("got %v", got)
		}
		s.cleanUp()
		if got := ensure(200, 60); got["status"] != "active" || got["expiresAt"] != "2026-03-01T16:00:00.000Z" {
			t.Fatalf("got %v", got)
		}
		s.want(409, "mailbox_exists", s.bob, "POST", "/api/mailboxes/ensure", dict{"address": "ada@mail.localhost"})
		s.clock.advance(24 * time.Hour)
		s.cleanUp()
		if got := s.want(200, "", s.ada, "GET", "/api/mailboxes/"+id.(string), nil); got["status"] != "expired" {
			t.Fatalf("a mailbox is destroyed too early: %v", got)
		}
		s.clock.advance(time.Hour)
		s.cleanUp()
		if got := s.want(200, "", s.ada, "GET", "/api/mailboxes/"+id.(string), nil); got["status"] != "destroyed" {
			t.Fatalf("got %v", got)
		}
		if got := ensure(201, nil); got["id"] == id || got["expiresAt"] != nil {
			t.Fatalf("got %v", got)
		}
		if got := ensure(200, 60); got["expiresAt"] != nil {
			t.Fatalf("a long-term mailbox was shortened: %v", got)
		}
	})
}

// TestAccountsBelowTheService: the endpoints of accounts hold the scopes of keys.
func TestAccountsBelowTheService(t *testing.T) {
	forEach(t, client.DNSAbilities{Manual: true}, func(t *testing.T, s *server) {
		if got := s.want(200, "", s.ada, "GET", "/api/auth/session", nil); got["user"].(dict)["email"] != "ada@example.com" {
			t.Fatalf("got %v", got)
		}
		s.want(200, "", "", "POST", "/api/auth/session", dict{"apiKey": s.ada})
		s.want(403, "forbidden", s.ada, "GET", "/api/users", nil)
		s.want(403, "forbidden", s.ada, "GET", "/api/passkeys", nil)
		s.want(403, "forbidden", s.ada, "GET", "/api/domains", nil)
		s.want(200, "", s.admin, "GET", "/api/users", nil)
		s.want(200, "", s.ada, "GET", "/api/api-keys", nil)
		meta := s.want(200, "", "", "GET", "/api/meta", nil)
		if got := meta["domains"].([]any); len(got) != 1 || got[0] != "mail.localhost" || meta["defaultMailboxTtlMinutes"] != 60.0 {
			t.Fatalf("got %v", meta)
		}
	})
}
