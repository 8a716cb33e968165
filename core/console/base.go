package console

import (
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
)

// base is what all pages of the core are made with.
type base struct {
	cfg Config
	kit *ui.Kit
}

// setupURL is the address of a set-up link, as this browser sees the core.
func (b *base) setupURL(gc *gin.Context, token string) string {
	return b.cfg.Access.OriginOf(gc.Request) + "/system/setup?token=" + url.QueryEscape(token)
}

// listReferences returns what services name; nil if nothing can be changed here.
func (b *base) listReferences() []Reference {
	if b.cfg.Configurator == nil {
		return nil
	}
	return b.cfg.Configurator.References()
}

// formLimit is the largest body of a form, in bytes.
const formLimit = 64 << 10
