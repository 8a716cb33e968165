package pages

import (
	"net/http"

	"github.com/gin-gonic/gin"
)

const namesPath = "/names"

// showNames shows the names of the mail domains in use.
func (p pages) showNames(c *gin.Context) {
	names, err := p.service.ActiveDomains(c.Request.Context())
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	v := p.newView(c, "mail.nav.names")
	p.kit.Render(c, v, http.StatusOK, namesPage(v, names))
}
