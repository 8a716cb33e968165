package search

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// testGuard recognises the user that a request names in a header as id:role. What real guards check has its tests in auth.
func testGuard(c *gin.Context, _ string, r httpd.Route) error {
	id, role, ok := strings.Cut(c.GetHeader("X-Test-User"), ":")
	if !ok {
		return fault.New(fault.Unauthorized, "Nobody.")
	}
	if r.Policy == httpd.Admin && role != "admin" {
		return fault.New(fault.Forbidden, "Not for members.")
	}
	who := &auth.Principal{User: auth.User{ID: id, Name: id, Role: auth.Role(role)}, Via: auth.ViaKey}
	c.Request = c.Request.WithContext(auth.With(c.Request.Context(), who))
	return nil
}
