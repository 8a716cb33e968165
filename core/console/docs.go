package console

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/library"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

const (
	// docsPath is the address of the documents, that of their links.
	docsPath = "/system/docs"
	// docsStyle is their style.
	docsStyle = "docs.css"
	// indexWait is how long the documents wait for the search service before they are found by their words alone.
	indexWait = 3 * time.Second
)

// docsPages shows the documents.
type docsPages struct{ *base }

func (h *docsPages) listRoutes() []httpd.Route {
	get := func(path string, handler gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.APIKey, Scoped: true, Handler: handler}
	}
	return []httpd.Route{get(docsPath, h.showDocument), get(docsPath+"/*name", h.showDocument)}
}

// docsView is a page of the documents, or what a text finds in them.
type docsView struct {
	Groups []library.Group
	Page   *library.Page
	Query  string
	Found  []library.Found
}

func (h *docsPages) showDocument(gc *gin.Context) {
	docs, err := library.Open()
	if err != nil {
		h.kit.Fail(gc, err)
		return
	}
	name := strings.Trim(gc.Param("name"), "/")
	if picture, ok := strings.CutPrefix(name, "files/"); ok {
		h.sendPicture(gc, docs, picture)
		return
	}
	if name == "" {
		name = library.IndexName
	}
	d := docsView{Groups: docs.Groups(), Page: docs.Page(name), Query: strings.TrimSpace(gc.Query("q"))}
	if d.Page == nil {
		h.kit.Fail(gc, fault.New(fault.NotFound, "There is no such page."))
		return
	}
	v := h.kit.View(gc, "docs.title")
	v.Styles = append(v.Styles, docsStyle)
	switch {
	case len(d.Query) > maxFindText:
		d.Query = strings.ToValidUTF8(d.Query[:maxFindText], "")
		fallthrough
	case d.Query != "":
		d.Found = h.findDocuments(gc.Request.Context(), docs, v, d.Query)
	case name != library.IndexName:
		v.Title = d.Page.Title
	}
	h.kit.Render(gc, v, http.StatusOK, docsPage(v, d))
}

// findDocuments returns the pages that a text finds: by a search service whose index has them, then by their words.
func (h *docsPages) findDocuments(ctx context.Context, docs *library.Library, v *ui.View, query string) []library.Found {
	ctx, cancel := context.WithTimeout(ctx, indexWait)
	defer cancel()
	var out []library.Found
	seen := map[string]bool{}
	for _, s := range h.cfg.Sections {
		if s.FindIndexed == nil || !v.Principal.In(s.Service) {
			continue
		}
		for _, found := range s.FindIndexed(ctx, query) {
			name := docs.Locate(found.Address, found.Title)
			if name != "" && !seen[name] {
				seen[name] = true
				out = append(out, library.Found{Name: name, Title: docs.Page(name).Title, Excerpt: cmp.Or(docs.Excerpt(name, query), found.Excerpt)})
			}
		}
	}
	for _, found := range docs.Find(query) {
		if !seen[found.Name] {
			out = append(out, found)
		}
	}
	return out
}

func (h *docsPages) sendPicture(gc *gin.Context, docs *library.Library, name string) {
	content, mediaType, err := docs.Picture(name)
	if err != nil {
		h.kit.Fail(gc, fault.New(fault.NotFound, "There is no such picture."))
		return
	}
	gc.Header("Cache-Control", "private, max-age=3600")
	gc.Header("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; sandbox")
	gc.Data(http.StatusOK, mediaType, content)
}

// helpPages are the documents about the pages of the core, by the beginnings of their addresses.
var helpPages = []struct{ prefix, page string }{
	{docsPath, library.IndexName}, {"/system/plugins", "configuration"}, {"/system/jobs", "operations"}, {nodesPath, "operations"}, {"/system/users", "accounts"},
	{"/system/account", "accounts"}, {"/system/audit", "accounts"}, {"/system", "console"},
}

// findHelp returns the address of the document about a page.
func findHelp(service, path string) string {
	docs, err := library.Open()
	if err != nil {
		return docsPath
	}
	if service != "" && docs.Page(service) != nil {
		return docsPath + "/" + service
	}
	for _, h := range helpPages {
		if strings.HasPrefix(path, h.prefix) {
			return strings.TrimSuffix(docsPath+"/"+h.page, "/"+library.IndexName)
		}
	}
	return docsPath
}
