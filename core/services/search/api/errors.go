package api

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// writeError writes an error with the members that the upstream's own clients read.
func writeError(c *gin.Context, err error) {
	e := fault.As(err)
	if (e.Code == fault.BadRequest || e.Code == fault.InvalidArgument) && e.HTTPStatus() == http.StatusBadRequest {
		// What the listener refuses has the word that this service has for it.
		own := *e
		own.Code = fault.InvalidRequest
		e = &own
	}
	body := httpd.ErrorBody(c, e)
	body["error"] = e.Code
	body["detail"] = map[string]string{"error": e.Message}
	httpd.WriteErrorBody(c, e, body)
}
