package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// readHandlers answers what users read.
type readHandlers struct {
	reading    *reading.Reading
	translator *translation.Translator
}

type (
	releaseInput struct {
		ID string `path:"release_id" maxLength:"20"`
	}
)

func (h *readHandlers) listStarred(ctx context.Context, _ *struct{}) (*api.Out[[]reading.StarredRepoItem], error) {
	return api.AnswerWith(h.reading.Starred(ctx))
}

func (h *readHandlers) listReleases(ctx context.Context, _ *struct{}) (*api.Out[[]reading.ReleaseItem], error) {
	return api.AnswerWith(h.reading.LatestReleases(ctx))
}

func (h *readHandlers) listNotifications(ctx context.Context, _ *struct{}) (*api.Out[[]reading.NotificationItem], error) {
	return api.AnswerWith(h.reading.Notifications(ctx))
}

func (h *readHandlers) getRelease(ctx context.Context, in *releaseInput) (*api.Out[reading.ReleaseDetail], error) {
	return api.AnswerWith(h.reading.ReleaseByID(ctx, in.ID, reader.DefaultLanguage))
}

// Paths of a release by its tag: as the document has it, and as it is routed, since tags may have slashes.
const (
	tagPath       = "/api/repos/:owner/:repo/releases/tag/:tag/detail"
	tagRoutedPath = "/api/repos/:owner/:repo/releases/tag/*rest"
	tagSuffix     = "/detail"
)

// declareReleaseByTag declares the endpoint of a release by its repository and tag.
func (h *readHandlers) declareReleaseByTag(a *api.API) {
	path := func(name string) *huma.Param {
		return &huma.Param{Name: name, In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	}
	a.Document(httpd.Route{Method: http.MethodGet, Path: tagPath, Policy: httpd.APIKey, Handler: h.serveReleaseByTag}, huma.Operation{
		OperationID: "release-by-tag", Tags: []string{tagRead}, Summary: "A release by its repository and tag",
		Description: "The tag may have slashes.",
		Parameters:  []*huma.Param{path("owner"), path("repo"), path("tag")},
		Responses: map[string]*huma.Response{"200": {Description: "The release.", Content: api.JSON(api.Schema[reading.ReleaseDetail](a))},
			"404": a.ErrorResponse("There is no such release")},
	})
}

func (h *readHandlers) serveReleaseByTag(c *gin.Context) {
	tag, ok := strings.CutSuffix(strings.TrimPrefix(c.Param("rest"), "/"), tagSuffix)
	if !ok || tag == "" {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is nothing at this address."))
		return
	}
	out, err := h.reading.Release(c.Request.Context(), c.Param("owner")+"/"+c.Param("repo"), tag, reader.DefaultLanguage)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	c.JSON(http.StatusOK, out)
}

// readAPI declares the lists and releases.
func (h *readHandlers) readAPI(a *api.API) {
	op := func(id, path, summary string, errors ...int) api.Operation {
		return newOperation(id, http.MethodGet, path, tagRead, httpd.APIKey, summary, errors...)
	}
	api.Register(a, withText(op("starred", "/api/starred", "Starred repositories"), "At most 2000, the latest star first."), h.listStarred)
	api.Register(a, withText(op("releases", "/api/releases", "The latest releases"),
		"At most 200, of the repositories that the caller sees."), h.listReleases)
	api.Register(a, withText(op("release", "/api/releases/{release_id}/detail", "A release with its whole text", http.StatusNotFound),
		"404 for a release of a repository that the caller does not see, unless a brief of the caller names it."), h.getRelease)
	api.Register(a, withText(op("notifications", "/api/notifications", "Notifications"), "At most 200, the latest first."),
		h.listNotifications)
	h.declareReleaseByTag(a)
}
