package auth_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// proxied is a guard behind a proxy that signs people in.
type proxied struct {
	t     *testing.T
	guard httpd.Guard
}

// behindProxy returns a guard that lets in the members of the group ops.
func behindProxy(t *testing.T, u *auth.Users) proxied {
	t.Helper()
	f := auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups", AllowedGroup: "ops"}
	return proxied{t, u.Guard(auth.Access{Forward: f, Trusted: clients(t, "10.0.0.0/8")})}
}

// visit returns the code of the refusal of a person in a group, or the principal.
func (p proxied) visit(name, group string) (string, *auth.Principal) {
	p.t.Helper()
	return decide(p.t, p.guard, httpd.Forward, request(from("10.1.2.3:1"), header("X-Forwarded-User", name), header("Remote-Groups", group)))
}

// account returns the id of the account of a person who is let in.
func (p proxied) account(name string) string {
	p.t.Helper()
	code, who := p.visit(name, "ops")
	if code != "" {
		p.t.Fatalf("%q: got %q", name, code)
	}
	return who.User.ID
}

// long is a name of more characters than an email address can have.
var long = strings.Repeat("n", 260)

// TestForwardedNamesOfDifferentPeople: names are told apart exactly, email addresses without regard to case.
func TestForwardedNamesOfDifferentPeople(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		p := behindProxy(t, u)
		for _, tc := range []struct {
			first, second string
			same          bool
		}{
			{"anna", "anna", true}, {"anna", "Anna", false}, {"ANNA", "Anna", false}, {`CORP\Ben`, `CORP\ben`, false}, {"Ben Bo", "ben bo", false},
			{long + "1", long + "2", false}, {long + "1", long + "1", true}, {long, strings.ToUpper(long), false},
			{strings.Repeat("n", 254) + "1", strings.Repeat("n", 254), false}, {strings.Repeat("n", 236), strings.Repeat("n", 237), false},
			{"Ann@Example.com", "ann@example.COM", true}, {"Änn@example.com", "änn@example.com", true},
			{"ann@example.com", "ann@example.org", false},
			{long + "@example.com", strings.ToUpper(long) + "@example.com", false},
			{"İvo", "ivo", false}, {"ıvo", "ivo", false}, {"IVO", "ıvo", false}, {"strauß", "strauss", false}, {"STRAUẞ", "strauß", false},
			{"\u212Aim", "kim", false}, {"kim", "Kim", false},
			{"İvo@example.com", "ivo@example.com", false}, {"\u212Aim@example.com", "kim@example.com", false},
			{"ıvo@example.com", "ivo@example.com", false},
			{"cleo\u00a0", "cleo", false}, {"dan\xff", "dan\xfe", false}, {"dan", "dan\xff", false}, {"e\u0301ve", "\u00e9ve", false},
			{"fay@example.com", "fay@example.com@forwarded", false}, {`"gus"@example.com`, "gus@example.com", false},
		} {
			if same := p.account(tc.first) == p.account(tc.second); same != tc.same {
				t.Errorf("%.40q and %.40q: one account is %v", tc.first, tc.second, same)
			}
		}
		all, err := u.List(t.Context())
		must(t, err)
		emails := map[string]bool{}
		for _, user := range all {
			if email := strings.ToLower(user.Email); emails[email] || len(email) > 254 || !strings.Contains(email, "@") {
				t.Errorf("the address %q", email)
			}
			emails[user.Email] = true
			if found, err := u.ByEmail(t.Context(), user.Email); err != nil || found.ID != user.ID {
				t.Errorf("%q is not found by its address: %v", user.Email, err)
			}
		}
	})
}

// TestReservedAddressIsNoName: an address that is made of another name lets nobody into that account.
func TestReservedAddressIsNoName(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		for _, name := range []string{"anna", "Anna"} {
			p.account(name)
		}
		all, err := u.List(t.Context())
		must(t, err)
		names := []string{"zoe@forwarded.invalid", "ANNA@Forwarded.Invalid", "42@linked.invalid", "x@y@linked.invalid"}
		for _, user := range all {
			names = append(names, user.Email)
		}
		for _, name := range names {
			// Neither may take the role of the account away, nor get it.
			for _, group := range []string{"dev", "ops"} {
				if code, _ := p.visit(name, group); code != "auth_required" {
					t.Errorf("%q in %s: got %q", name, group, code)
				}
			}
		}
		after, err := u.List(t.Context())
		must(t, err)
		if len(after) != 2 || after[0].Role != auth.Admin || after[1].Role != auth.Admin {
			t.Errorf("the users are %+v", after)
		}
	})
}

// forget makes accounts look as earlier versions left them: no name has claimed them.
func forget(t *testing.T, st *store.Store) {
	t.Helper()
	testkit.Execute(t, st, "UPDATE users SET forwarded_as = ''")
}

// makeKey returns the text of a new API key of a user whom the proxy has signed in.
func makeKey(t *testing.T, u *auth.Users, userID string) string {
	t.Helper()
	_, key, err := u.Keys.Create(t.Context(), &auth.Principal{User: auth.User{ID: userID}, Via: auth.ViaForward}, auth.NewKey{})
	must(t, err)
	return key
}

// TestFirstSpellingKeepsTheAccount: an account of an earlier version stays with the first spelling that is let in. Another one gets its
// own, and the audit tells of both.
func TestFirstSpellingKeepsTheAccount(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		was := p.account("anna")
		key := makeKey(t, u, was)
		forget(t, st)
		mayAdminister := func() bool { return decideFor(t, p.guard, "search", httpd.Admin, request(bearer(key))) == "" }
		// Until a name has claimed it, each one takes the role away, and none claims it without being let in.
		if code, _ := p.visit("aNNa", "dev"); code != "auth_required" || mayAdminister() {
			t.Fatalf("got %q, and the key may administer", code)
		}
		if got := p.account("Anna"); got != was || !mayAdminister() {
			t.Fatalf("the first spelling has %s instead of %s", got, was)
		}
		other := p.account("anna")
		if other == was || p.account("Anna") != was || p.account("anna") != other {
			t.Fatal("the second spelling should get an account of its own, and keep it")
		}
		// The role follows the header of exactly that spelling.
		if code, _ := p.visit("anna", "dev"); code != "auth_required" || !mayAdminister() {
			t.Error("another spelling took the role away")
		}
		if user, err := u.Get(t.Context(), other); err != nil || user.Role != auth.Member {
			t.Errorf("got %+v, %v", user, err)
		}
		if code, _ := p.visit("Anna", "dev"); code != "auth_required" || mayAdminister() {
			t.Error("the role stayed")
		}
		for _, want := range []struct{ user, action, detail string }{
			{was, auth.EventUserClaimed, "forwarded name: Anna"},
			{other, auth.EventUserCreated, "another spelling than the account anna@forwarded.invalid"},
		} {
			events, _, err := u.Journal.Events(t.Context(), auth.EventFilter{UserID: want.user, Action: want.action})
			must(t, err)
			if len(events) != 1 || events[0].Detail != want.detail || events[0].Via != auth.ViaForward {
				t.Errorf("%s: got %+v", want.action, events)
			}
		}
	})
}

// TestAllowedUserBeforeTheFirstVisit: what the user whom the allowlist names has made with an earlier version keeps working, until
// another spelling has the account.
func TestAllowedUserBeforeTheFirstVisit(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		id := p.account("Anna")
		key := makeKey(t, u, id)
		forget(t, st)
		allowed := u.Guard(auth.Access{Forward: auth.Forward{UserHeader: "X-Forwarded-User", AllowedUser: "Anna"},
			Trusted: clients(t, "10.0.0.0/8")})
		if code, _ := decide(t, allowed, httpd.Admin, request(bearer(key))); code != "" {
			t.Errorf("before the visit: got %q", code)
		}
		if p.account("anna") != id {
			t.Fatal("the first spelling should have the account")
		}
		if code, _ := decide(t, allowed, httpd.Admin, request(bearer(key))); code != "forbidden" {
			t.Errorf("with the account of another spelling: got %q", code)
		}
	})
}

// TestDisabledAccountKeepsItsNamesOut: nobody gets around it by another spelling before a name has claimed the account.
func TestDisabledAccountKeepsItsNamesOut(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		p.account("root")
		id := p.account("anna")
		forget(t, st)
		must(t, u.Disable(t.Context(), "anna@forwarded.invalid"))
		for _, name := range []string{"ANNA", "anna"} {
			if code, _ := p.visit(name, "ops"); code != "account_disabled" {
				t.Errorf("%s: got %q", name, code)
			}
		}
		no := false
		_, err := u.Change(t.Context(), id, auth.UserChange{Disabled: &no})
		must(t, err)
		if p.account("anna") != id {
			t.Error("the name should get its account back")
		}
	})
}

// TestInvalidAddressOfAnEarlierVersion: the address that an account has got of a name does not keep its role from being taken away.
func TestInvalidAddressOfAnEarlierVersion(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		id := p.account(`CORP\Anna`)
		testkit.Execute(t, st, `UPDATE users SET forwarded_as = '', email = 'corp\anna@forwarded.invalid'`)
		if got := p.account(`CORP\Anna`); got != id {
			t.Errorf("the account is %s instead of %s", got, id)
		}
		if code, _ := p.visit(`CORP\Anna`, "dev"); code != "auth_required" {
			t.Errorf("got %q", code)
		}
		if user, err := u.Get(t.Context(), id); err != nil || user.Role != auth.Member {
			t.Errorf("got %+v, %v", user, err)
		}
	})
}

// TestAccountsMadeHere: an account that was made for a person has that person's name, and no other.
func TestAccountsMadeHere(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, _ *store.Store) {
		p := behindProxy(t, u)
		for name, email := range map[string]string{"Max@Example.com": "max@example.com", "kim": "kim@forwarded.invalid"} {
			user, _, err := u.Create(t.Context(), email, "Made here", auth.Member)
			must(t, err)
			if p.account("\u212A"+name[1:]) == user.ID {
				t.Errorf("%s: another name has the account", email)
			}
			if p.account(name) != user.ID {
				t.Errorf("%s: the name %s has another account", email, name)
			}
		}
	})
}

// TestSpellingsAtOnce: of spellings that visit at the same time one gets the account of an earlier version, and each name has one account.
func TestSpellingsAtOnce(t *testing.T) {
	forEach(t, func(t *testing.T, u *auth.Users, st *store.Store) {
		p := behindProxy(t, u)
		was := p.account("anna")
		forget(t, st)
		names := []string{"anna", "Anna", "ANNA", "aNNa"}
		var mu sync.Mutex
		var wg sync.WaitGroup
		found := map[string]map[string]bool{}
		for _, name := range append(names, names...) {
			wg.Go(func() {
				code, who := p.visit(name, "ops")
				mu.Lock()
				defer mu.Unlock()
				if code != "" {
					t.Errorf("%s: got %q", name, code)
					return
				}
				if found[who.User.ID] == nil {
					found[who.User.ID] = map[string]bool{}
				}
				found[who.User.ID][name] = true
			})
		}
		wg.Wait()
		if len(found) != len(names) || len(found[was]) != 1 {
			t.Fatalf("got %v, and the former account is %s", found, was)
		}
		for id, spellings := range found {
			if len(spellings) != 1 {
				t.Errorf("%s has the names %v", id, spellings)
			}
		}
		// The index decides, whatever the program does.
		if err := st.Tx(t.Context(), "test", func(ctx context.Context) error {
			return st.Writer(ctx).Exec("UPDATE users SET forwarded_as = 'x'").Error
		}); err == nil {
			t.Error("two accounts have one name")
		}
	})
}
