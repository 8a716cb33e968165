package auth_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/store"
)

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, u *auth.Users, now *clock) {
		token, err := u.Links.CreateFirst(auth.Acting(t.Context(), auth.Actor{Name: "command line", Via: auth.ViaCommand}))
		must(t, err)
		cookieText, p, err := u.Links.Use(t.Context(), token, "ann@example.com", "Ann", client)
		must(t, err)
		ctx := auth.With(t.Context(), p)
		key, text, err := u.Keys.Create(ctx, p, auth.NewKey{Name: "laptop"})
		must(t, err)
		_, err = u.Keys.Reveal(ctx, p, key.ID)
		must(t, err)
		_, _, err = u.Sessions.Exchange(t.Context(), "svc_ak_wrong", client)
		wantCode(t, err, "invalid_api_key")
		must(t, u.Keys.Revoke(ctx, p, key.ID))
		// What is refused inside a transaction leaves no event behind that says it was done.
		yes := true
		_, err = u.Change(ctx, p.User.ID, auth.UserChange{Disabled: &yes})
		wantCode(t, err, "conflict")

		all, next, err := u.Journal.Events(ctx, auth.EventFilter{})
		must(t, err)
		var got []string
		for _, e := range all {
			got = append(got, fmt.Sprintf("%s %s by %q %s from %q: %q", e.Action, e.Result, e.ActorName, e.Via, e.Address, e.TargetName))
			for _, secret := range []string{text, token, cookieText} {
				if strings.Contains(fmt.Sprintf("%+v", e), secret) {
					t.Errorf("a secret stands in %+v", e)
				}
			}
		}
		want := []string{
			`api_key.revoke ok by "ann@example.com" session from "192.0.2.7": "laptop"`,
			`session.begin refused by "" api_key from "192.0.2.7": ""`,
			`api_key.reveal ok by "ann@example.com" session from "192.0.2.7": "laptop"`,
			`api_key.create ok by "ann@example.com" session from "192.0.2.7": "laptop"`,
			`session.begin ok by "ann@example.com" session from "192.0.2.7": "ann@example.com"`,
			`setup_link.use ok by "ann@example.com" session from "192.0.2.7": "ann@example.com"`,
			`user.create ok by "ann@example.com" session from "192.0.2.7": "ann@example.com"`,
			`setup_link.create ok by "command line" command_line from "": ""`,
		}
		if d := cmp.Diff(want, got); d != "" || next != "" {
			t.Fatalf("next %q, %s", next, d)
		}

		// Pages join without gap or repetition.
		var ids []string
		f := auth.EventFilter{Limit: 3}
		for {
			page, next, err := u.Journal.Events(ctx, f)
			must(t, err)
			for _, e := range page {
				ids = append(ids, e.ID)
			}
			if f.Cursor = next; next == "" {
				break
			}
		}
		if len(ids) != len(all) || ids[0] != all[0].ID || ids[len(ids)-1] != all[len(all)-1].ID {
			t.Fatalf("got the pages %v", ids)
		}
		for _, tc := range []struct {
			filter auth.EventFilter
			n      int
		}{
			{auth.EventFilter{UserID: p.User.ID}, 6}, {auth.EventFilter{Actor: p.User.ID}, 6}, {auth.EventFilter{Result: auth.ResultRefused}, 1},
			{auth.EventFilter{Action: auth.EventKeyRevoked}, 1}, {auth.EventFilter{Action: auth.EventKeyRevoked, Result: auth.ResultRefused}, 0},
		} {
			if page, _, err := u.Journal.Events(ctx, tc.filter); err != nil || len(page) != tc.n {
				t.Errorf("%+v: got %d, %v", tc.filter, len(page), err)
			}
		}
		_, _, err = u.Journal.Events(ctx, auth.EventFilter{Cursor: "x"})
		wantCode(t, err, "invalid_argument")

		now.add(400*24*time.Hour - time.Minute)
		must(t, u.Purge(ctx))
		if left, _, err := u.Journal.Events(ctx, auth.EventFilter{}); err != nil || len(left) != len(all) {
			t.Fatalf("%d are left, %v", len(left), err)
		}
		now.add(2 * time.Minute)
		if jobs, times := u.Jobs(), u.Schedules(); len(jobs) != 1 || len(times) != 1 || times[0].Type != jobs[0].Type {
			t.Fatalf("got %v and %v", jobs, times)
		}
		_, err = u.Jobs()[0].Run(ctx, nil, nil)
		must(t, err)
		if left, _, err := u.Journal.Events(ctx, auth.EventFilter{}); err != nil || len(left) != 0 {
			t.Fatalf("%d are left, %v", len(left), err)
		}
	})
}

// TestEventsAreReadWhole: each member of an event comes from the column of its own.
func TestEventsAreReadWhole(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		want := auth.Event{
			ID: "aev_1", At: 7, Action: "action", Result: "result", ActorID: "actor id", ActorName: "actor name", Via: "via", Address: "address",
			TargetID:   "target id",
			TargetName: "target name", UserID: "user id", Detail: "detail", RequestID: "request id",
		}
		must(t, st.Tx(t.Context(), "insert", func(ctx context.Context) error { return st.Writer(ctx).Create(&want).Error }))
		got, _, err := u.Journal.Events(t.Context(), auth.EventFilter{UserID: want.UserID})
		must(t, err)
		if diff := cmp.Diff([]auth.Event{want}, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestWrongKeysAreSlowedDown: after many wrong keys the client is told to wait; a right key is taken all the same.
func TestWrongKeysAreSlowedDown(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		_, key, err := u.Create(t.Context(), "a@example.com", "A", auth.Admin)
		must(t, err)
		g := u.Guard(auth.Access{})
		wrong := "svc_ak_" + strings.Repeat("A", 43)
		codes := map[string]int{}
		for range 40 {
			code, _ := decide(t, g, httpd.APIKey, request(bearer(wrong)))
			codes[code]++
		}
		if codes["invalid_api_key"] < 30 || codes["rate_limited"] < 5 {
			t.Fatalf("got %v", codes)
		}
		if code, _ := decide(t, g, httpd.APIKey, request(bearer(key))); code != "" {
			t.Fatalf("the right key: %q", code)
		}
		if code, _ := decide(t, g, httpd.APIKey, request(bearer(wrong), from("192.0.2.9:1"))); code != "invalid_api_key" {
			t.Fatalf("another client: %q", code)
		}
	})
}

// TestScopedKeysAndTheCore: a key that is for services does not administer Patchbay.
func TestScopedKeysAndTheCore(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		_, p := enter(t, u)
		_, scoped, err := u.Keys.Create(t.Context(), p, auth.NewKey{Scopes: []string{"search"}})
		must(t, err)
		g := u.Guard(auth.Access{PublicURL: publicURL})
		for policy, want := range map[httpd.Policy]string{httpd.APIKey: "forbidden", httpd.Admin: "forbidden", httpd.Session: "forbidden",
			httpd.Forward: "forbidden"} {
			if code := decideFor(t, g, httpd.CoreService, policy, request(bearer(scoped))); code != want {
				t.Errorf("%s: got %q, want %q", policy, code, want)
			}
		}
		if code := decideFor(t, g, "mail", httpd.APIKey, request(bearer(scoped))); code != "forbidden" {
			t.Errorf("another service: %q", code)
		}
		session, _, err := u.Sessions.Exchange(t.Context(), scoped, client)
		must(t, err)
		if code := decideFor(t, g, httpd.CoreService, httpd.Admin, request(cookie(session))); code != "forbidden" {
			t.Errorf("exchanged: %q", code)
		}
		// Behind a proxy that changes the host, the public address is the same site.
		if code, _ := decide(t, g, httpd.APIKey, request(cookie(session), header("Origin", publicURL))); code != "" {
			t.Errorf("from the public address: %q", code)
		}
	})
}

func TestSecure(t *testing.T) {
	for _, tc := range []struct {
		name, public, host, peer, proto string
		want                            bool
	}{
		{"plain", "", "localhost", "127.0.0.1:1", "", false},
		{"proxy with https", "", "p.example.com", "127.0.0.1:1", "https", true},
		{"proxy with http", "https://p.example.com", "p.example.com", "127.0.0.1:1", "http", false},
		{"a stranger who says so", "", "p.example.com", "192.0.2.1:1", "https", false},
		{"public address", "https://p.example.com", "p.example.com:443", "192.0.2.1:1", "", true},
		{"past the public address", "https://p.example.com", "localhost:50883", "127.0.0.1:1", "", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := request(host(tc.host), from(tc.peer))
			if tc.proto != "" {
				r.Header = http.Header{"X-Forwarded-Proto": {tc.proto}}
			}
			if got := (auth.Access{PublicURL: tc.public, Trusted: clients(t, "127.0.0.0/8")}).Secure(r); got != tc.want {
				t.Fatalf("got %v", got)
			}
		})
	}
}
