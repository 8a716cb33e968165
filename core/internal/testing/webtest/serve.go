// Package webtest serves mounts in tests and asks them: as a program that uses an API, and as a browser without script.
package webtest

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// Serve serves mounts on loopback until the test ends. Without a logger in opts nothing is logged.
func Serve(t testing.TB, opts httpd.Options, mounts ...httpd.Mount) *httpd.Server {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = hclog.NewNullLogger()
	}
	server, err := httpd.Listen("127.0.0.1:0", "test", opts.Logger)
	testkit.Must(t, err)
	testkit.Must(t, server.Mount(mounts, opts))
	server.Serve()
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		_ = server.Shutdown(ctx)
		http.DefaultClient.CloseIdleConnections()
	})
	return server
}

// UserHeader is the header in which a request to NamedUserGuard names its user as id:role.
const UserHeader = "X-Test-User"

// NamedUserGuard recognises the user that UserHeader names, who came via. What real guards check has its tests in auth.
func NamedUserGuard(via auth.Via) func(*gin.Context, string, httpd.Route) error {
	return func(c *gin.Context, _ string, r httpd.Route) error {
		id, role, ok := strings.Cut(c.GetHeader(UserHeader), ":")
		if !ok {
			return fault.New(fault.Unauthorized, "Nobody.")
		}
		if r.Policy == httpd.Admin && role != "admin" {
			return fault.New(fault.Forbidden, "Not for members.")
		}
		who := &auth.Principal{User: auth.User{ID: id, Name: id, Role: auth.Role(role)}, Via: via}
		c.Request = c.Request.WithContext(auth.With(c.Request.Context(), who))
		return nil
	}
}
