package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestForwardedUsersOfFormerDatabase opens databases that a former version has written for people whom a proxy has signed in. They get
// their accounts, with the API keys, and the first spelling of a name keeps the account that several had.
func TestForwardedUsersOfFormerDatabase(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		loadDump(t, cfg, "testdata/forwarded/2026-11."+string(cfg.Dialect)+".sql.gz")
		f := newFormer(t, cfg)
		trusted, err := httpd.NewClients([]string{"127.0.0.0/8"})
		must(t, err)
		guard := f.users.Guard(auth.Access{Forward: auth.Forward{UserHeader: "X-Forwarded-User", GroupHeader: "Remote-Groups",
			AllowedGroup: "ops"}, Trusted: trusted})
		visit := func(name string) *auth.Principal {
			t.Helper()
			c, _ := gin.CreateTestContext(httptest.NewRecorder())
			c.Request = httptest.NewRequest(http.MethodGet, "http://localhost/system", nil)
			c.Request.RemoteAddr = "127.0.0.1:40000"
			c.Request.Header = http.Header{"X-Forwarded-User": {name}, "Remote-Groups": {"ops"}}
			must(t, guard(c, httpd.CoreService, httpd.Route{Policy: httpd.Admin}))
			return auth.From(c.Request.Context())
		}
		long := strings.Repeat("n", 260)
		former, err := f.users.List(t.Context())
		must(t, err)
		for _, who := range []struct {
			name, email string
			keys        int
		}{
			{"Anna", "anna@forwarded.invalid", 2}, {`CORP\Ben`, `corp\ben@forwarded.invalid`, 1}, {"CARL@example.org", "carl@example.org", 1},
			{long + "1", long[:254], 1},
			{"max@example.org", "max@example.org", 2},
		} {
			user := visit(who.name).User
			keys, err := f.users.Keys.List(t.Context(), user.ID)
			must(t, err)
			if user.Email != who.email || len(keys) != who.keys {
				t.Errorf("%.20q has the account %q with %d keys", who.name, user.Email, len(keys))
			}
		}
		if now, err := f.users.List(t.Context()); err != nil || len(now) != len(former) {
			t.Errorf("there are %d users instead of %d: %v", len(now), len(former), err)
		}
		for _, name := range []string{"anna", `corp\ben`, long + "2"} {
			user := visit(name).User
			keys, err := f.users.Keys.List(t.Context(), user.ID)
			must(t, err)
			if len(keys) != 0 || user.ID != visit(name).User.ID {
				t.Errorf("%.20q has the account %q with %d keys", name, user.Email, len(keys))
			}
		}
		if now, err := f.users.List(t.Context()); err != nil || len(now) != len(former)+3 {
			t.Errorf("there are %d users instead of %d: %v", len(now), len(former)+3, err)
		}
	})
}
