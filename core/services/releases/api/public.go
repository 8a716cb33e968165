package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

// publicHandlers answers everybody.
type publicHandlers struct{ reading *reading.Reading }

const (
	publicPath = "/api/public/repos/:owner/:repo/releases"
	// defaultPublicLimit is how many releases a page has.
	defaultPublicLimit = 6
	// pendingRetry is when to ask again for a repository that has not been read yet.
	pendingRetry = 30 * time.Second
	// publicMaxAge is how long an answer may be kept, in seconds.
	publicMaxAge = "60"
)

// publicAPI declares what everybody may read.
func (h *publicHandlers) publicAPI(a *api.API) {
	text := &huma.Schema{Type: huma.TypeString}
	least, most := 1.0, float64(reading.MaxPublicLimit)
	a.Document(httpd.Route{Method: http.MethodGet, Path: publicPath, Policy: httpd.Public, Handler: h.servePublic}, huma.Operation{
		OperationID: "public-releases", Tags: []string{tagRead}, Summary: "Releases of a published repository, without an account",
		Description: "404 unless public_pages is set and an administrator has published the repository. Nothing is translated for it: translated and polished are what is there already.",
		Parameters: []*huma.Param{
			{Name: "owner", In: "path", Required: true, Schema: text}, {Name: "repo", In: "path", Required: true, Schema: text},
			{Name: "content", In: "query", Description: "original if left out.",
				Schema: &huma.Schema{Type: huma.TypeString,
					Enum: []any{reading.ContentOriginal, reading.ContentTranslated, reading.ContentPolished, reading.ContentAll}}},
			{Name: "limit", In: "query", Description: "6 if left out.",
				Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: &least, Maximum: &most}},
			{Name: "cursor", In: "query", Description: "next_cursor of the page before.", Schema: text},
		},
		Responses: map[string]*huma.Response{
			"200": {Description: "A page, with ETag.", Content: api.JSON(api.Schema[reading.PublicPage](a))},
			"202": {Description: "The repository has not been read yet; Retry-After says when to ask again.",
				Content: api.JSON(api.Schema[reading.PublicPage](a))},
			"304": {Description: "Nothing has changed since If-None-Match."}, "400": a.ErrorResponse("A parameter is not valid"),
			"404": a.ErrorResponse("There is no such published repository"), "429": a.ErrorResponse("Too many requests of one address"),
		},
	})
}

func (h *publicHandlers) servePublic(c *gin.Context) {
	page, err := reading.PublicPage{}, h.reading.AllowPublic(httpd.ClientAddr(c))
	count := defaultPublicLimit
	if text := c.Query("limit"); text != "" && err == nil {
		if count, err = strconv.Atoi(text); err != nil {
			err = fault.New(fault.BadRequest, "limit must be a number.").With("field", "limit")
		}
	}
	if err == nil {
		page, err = h.reading.PublicReleases(c.Request.Context(), c.Param("owner")+"/"+c.Param("repo"),
			c.DefaultQuery("content", reading.ContentOriginal), c.Query("cursor"), count)
	}
	var body []byte
	if err == nil {
		body, err = json.Marshal(page)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	if page.Status != "ready" {
		c.Header("Cache-Control", "no-store")
		c.Header("Retry-After", strconv.FormatInt(httpd.RetrySeconds(pendingRetry), 10))
		httpd.WriteBody(c, http.StatusAccepted, "application/json", body)
		return
	}
	sum := sha256.Sum256(bytes.TrimSpace(body))
	etag := `"` + hex.EncodeToString(sum[:16]) + `"`
	c.Header("ETag", etag)
	c.Header("Cache-Control", "public, max-age="+publicMaxAge)
	if strings.Contains(c.GetHeader("If-None-Match"), etag) {
		c.Status(http.StatusNotModified)
		return
	}
	httpd.WriteBody(c, http.StatusOK, "application/json", body)
}
