package account_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
)

// TestCrossSite: a page of another site makes the browser neither sign in nor change anything.
func TestCrossSite(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		key := b.want(201, "", "POST", "/api-keys", dict{})["apiKey"].(string)
		token, err := s.users.Links.CreateForUser(t.Context(), b.want(200, "", "GET", "/auth/session", nil)["user"].(dict)["id"].(string))
		must(t, err)
		for _, h := range [][]string{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Site", "same-site"}, {"Origin", "https://evil.example"},
			{"Origin", "null"}} {
			evil := s.browser(h...)
			evil.cookie = b.cookie
			for _, r := range []struct {
				method, path string
				body         any
			}{
				{"POST", "/auth/session", dict{"apiKey": key}}, {"DELETE", "/auth/session", nil}, {"POST", "/auth/passkey/options", nil},
				{"POST", "/auth/passkey/verify", dict{"response": dict{}}}, {"POST", "/setup", dict{"token": token}},
				{"POST", "/setup/check", dict{"token": token}},
				{"POST", "/users", dict{"email": "eve@example.com", "name": "Eve", "role": "admin"}}, {"POST", "/api-keys", dict{}},
				{"POST", "/passkeys/registration/options", dict{}}, {"POST", "/sessions/revoke-others", nil},
			} {
				evil.want(403, "forbidden", r.method, r.path, r.body)
			}
		}
		// A form cannot pretend to be JSON: what is not declared as JSON is refused.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.base+"/system/api/users",
			strings.NewReader(`{"email":"eve@example.com","name":"Eve"}`))
		must(t, err)
		req.Header.Set("Content-Type", "text/plain")
		req.Header.Set("Sec-Fetch-Site", "cross-site")
		req.AddCookie(&http.Cookie{Name: auth.SessionCookie, Value: b.cookie})
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		_ = res.Body.Close()
		if res.StatusCode != http.StatusForbidden {
			t.Fatalf("got %d", res.StatusCode)
		}
		b.want(200, "", "GET", "/auth/session", nil)
	})
}

// TestFixation: a sign-in gives a new session, whatever cookie the browser had before.
func TestFixation(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		key := b.want(201, "", "POST", "/api-keys", dict{})["apiKey"].(string)
		planted := strings.Repeat("a", 44)
		victim := s.browser()
		victim.cookie = planted
		victim.want(200, "", "POST", "/auth/session", dict{"apiKey": key})
		if victim.cookie == planted {
			t.Fatal("the planted cookie was taken over")
		}
		attacker := s.browser()
		attacker.cookie = planted
		attacker.want(401, "unauthorized", "GET", "/auth/session", nil)

		// The former session of the same browser ends.
		former := s.browser()
		former.cookie = victim.cookie
		victim.want(200, "", "POST", "/auth/session", dict{"apiKey": key})
		former.want(401, "unauthorized", "GET", "/auth/session", nil)
		victim.want(200, "", "GET", "/auth/session", nil)
	})
}

func TestCookie(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		key := b.want(201, "", "POST", "/api-keys", dict{})["apiKey"].(string)
		for _, tc := range []struct {
			headers []string
			secure  bool
		}{{nil, false}, {[]string{"X-Forwarded-Proto", "https"}, true}} {
			set := s.browser(tc.headers...).call("POST", "/auth/session", dict{"apiKey": key}).header.Get("Set-Cookie")
			for _, want := range []string{"HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"} {
				if !strings.Contains(set, want) {
					t.Errorf("%s is not in %q", want, set)
				}
			}
			if strings.Contains(set, "Secure") != tc.secure || strings.Contains(set, "Domain") {
				t.Errorf("got %q", set)
			}
		}
	})
}

// TestGuessing: sign-in, exchange and set-up have one count for each client.
func TestGuessing(t *testing.T) {
	each(t, closed(), func(t *testing.T, s *server) {
		b := s.setUp()
		key := b.want(201, "", "POST", "/api-keys", dict{})["apiKey"].(string)
		attempts := []func(x *browser) answer{
			func(x *browser) answer {
				return x.call("POST", "/auth/session", dict{"apiKey": "svc_ak_" + strings.Repeat("A", 43)})
			},
			func(x *browser) answer {
				return x.call("POST", "/setup", dict{"token": strings.Repeat("A", 44), "email": "a@example.com", "name": "A"})
			},
			func(x *browser) answer { return x.call("POST", "/auth/passkey/verify", dict{"response": dict{}}) },
		}
		// The address is the one that a trusted proxy names; what a client puts before it changes nothing.
		slowed := 0
		for i := range 15 {
			x := s.browser("X-Forwarded-For", strings.Repeat("198.51.100.9, ", i)+"192.0.2.50")
			a := attempts[i%len(attempts)](x)
			if a.status == http.StatusTooManyRequests {
				slowed++
				if a.header.Get("Retry-After") == "" || a.body(t)["code"] != "rate_limited" || a.body(t)["retry_after"] == nil {
					t.Fatalf("got %s", a.raw)
				}
			}
		}
		if slowed < 4 || slowed > 5 {
			t.Fatalf("%d of 15 attempts were slowed down", slowed)
		}
		s.browser("X-Forwarded-For", "192.0.2.50").want(429, "rate_limited", "POST", "/auth/session", dict{"apiKey": key})
		s.browser("X-Forwarded-For", "192.0.2.51").want(200, "", "POST", "/auth/session", dict{"apiKey": key})
		events := b.want(200, "", "GET", "/audit?result=refused", nil)["events"].([]any)
		if len(events) < 10 || events[0].(dict)["address"] != "192.0.2.50" {
			t.Fatalf("got %v", events)
		}
	})
}

// TestHeadersAreNotWritten: what a client says does not come back as a header or as an address to go to.
func TestHeadersAreNotWritten(t *testing.T) {
	access := closed()
	access.PublicURL = "https://patchbay.example.com"
	each(t, access, func(t *testing.T, s *server) {
		b := s.setUp()
		b.header.Set("Host", "evil.example")
		b.header.Set("X-Forwarded-Host", "evil.example")
		id := b.want(200, "", "GET", "/auth/session", nil)["user"].(dict)["id"].(string)
		link := b.want(201, "", "POST", "/users/"+id+"/setup-link", nil)["url"].(string)
		if !strings.HasPrefix(link, "https://patchbay.example.com/system/setup?token=") {
			t.Fatalf("got %s", link)
		}
		for _, path := range []string{"/meta", "/auth/session", "/passkeys?next=https://evil.example", "//evil.example",
			"/%0d%0aSet-Cookie:%20a=b"} {
			a := b.call("GET", path, nil)
			if a.header.Get("Location") != "" || a.header.Get("Set-Cookie") != "" || strings.Contains(string(a.raw), "evil.example") {
				t.Errorf("%s: got %v %s", path, a.header, a.raw)
			}
		}
		b.want(400, "invalid_argument", "PATCH", "/users/"+id, dict{"name": "Ann\r\nSet-Cookie: a=b"})
	})
}

// TestDeveloperSession: the first set-up link lets a browser look around without an account. The session makes the first
// user, and is over then.
func TestDeveloperSession(t *testing.T) {
	each(t, auth.Access{}, func(t *testing.T, s *server) {
		s.browser().want(401, "unauthorized", "GET", "/users", nil)
		link, err := s.users.Links.CreateFirst(t.Context())
		must(t, err)
		b := s.browser()
		s.browser("Sec-Fetch-Site", "cross-site").want(403, "forbidden", "POST", "/setup/look-around", dict{"token": link})
		got := b.want(200, "", "POST", "/setup/look-around", dict{"token": link})
		if got["user"].(dict)["name"] != "developer" || got["via"] != "developer_session" || got["canReveal"] != false {
			t.Fatalf("got %v", got)
		}
		s.browser().want(401, "invalid_setup_link", "POST", "/setup/look-around", dict{"token": link})
		if meta := b.want(200, "", "GET", "/meta", nil); meta["anonymous"] != true {
			t.Fatalf("got %v", meta)
		}
		b.want(409, "conflict", "POST", "/api-keys", dict{})
		b.want(409, "conflict", "POST", "/passkeys/registration/options", nil)
		b.want(200, "", "GET", "/users", nil)
		other := &browser{server: s, cookie: b.cookie, header: http.Header{"Sec-Fetch-Site": {"cross-site"}}}
		other.want(403, "forbidden", "POST", "/users", dict{"email": "eve@example.com", "name": "Eve"})
		b.want(403, "forbidden", "POST", "/users", dict{"email": "ann@example.com", "name": "Ann", "role": "admin"})
		_, _, err = s.users.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
		must(t, err)
		b.want(401, "unauthorized", "GET", "/users", nil)
		if meta := b.want(200, "", "GET", "/meta", nil); meta["anonymous"] != false || meta["setupNeeded"] != false {
			t.Fatalf("got %v", meta)
		}
	})
}

// TestDeveloperSessionIsSignedOut: it ends where other sessions end.
func TestDeveloperSessionIsSignedOut(t *testing.T) {
	each(t, auth.Access{}, func(t *testing.T, s *server) {
		link, err := s.users.Links.CreateFirst(t.Context())
		must(t, err)
		b := s.browser()
		b.want(200, "", "POST", "/setup/look-around", dict{"token": link})
		kept := &browser{server: s, cookie: b.cookie, header: http.Header{}}
		b.want(204, "", "DELETE", "/auth/session", nil)
		kept.want(401, "unauthorized", "GET", "/users", nil)
	})
}

// TestLookAroundIsForTheFirstLink: a link for a user lets that user in, and nobody else.
func TestLookAroundIsForTheFirstLink(t *testing.T) {
	each(t, auth.Access{}, func(t *testing.T, s *server) {
		user, _, err := s.users.Create(t.Context(), "ann@example.com", "Ann", auth.Admin)
		must(t, err)
		link, err := s.users.Links.CreateForUser(t.Context(), user.ID)
		must(t, err)
		s.browser().want(409, "conflict", "POST", "/setup/look-around", dict{"token": link})
		s.browser().want(200, "", "POST", "/setup", dict{"token": link})
	})
}
