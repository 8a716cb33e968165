package httpd

import (
	"net/http"
	"path"
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/store"
)

// essentialVerbs are the last words of paths that delete something, end an access or sign somebody in.
var essentialVerbs = []string{
	"delete", "remove", "destroy", "revoke", "revoke-others", "end", "end-others", "disable", "cancel",
	"session", "sign-in", "sign-out", "logout", "options", "verify",
}

// markEssential lets the writes of a request that deletes something, or signs somebody in who wants to, go on while the disk is full.
func markEssential(c *gin.Context) {
	r := c.Request
	if r.Method == http.MethodDelete || r.Method == http.MethodPost && slices.Contains(essentialVerbs, path.Base(r.URL.Path)) {
		c.Request = r.WithContext(store.Essential(r.Context()))
	}
}
