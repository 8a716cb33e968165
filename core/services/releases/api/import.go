package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/repolist"
)

type (
	importInput struct {
		Body struct {
			Format  string `json:"format,omitempty" enum:",auto,list,opml,go.mod,package.json" doc:"auto, or nothing, finds it by the text."`
			Content string `json:"content" doc:"At most 256 KiB that name 1000 repositories."`
		}
	}
)

// importLimit is the largest body of a request for an import: JSON may need more bytes than the text that it holds.
const importLimit = 2 * repolist.MaxSize

// importAPI declares the import of repositories.
func (h *followHandlers) importAPI(a *api.API) {
	op := withText(newOperation("import", http.MethodPost, "/api/repos/import", tagFollow, httpd.APIKey,
		"Follow the repositories that a text names", http.StatusServiceUnavailable),
		"A list of names and addresses, the OPML file of a feed reader, a go.mod, or a package.json whose dependencies are repositories. Entries of other sites than the code host are problems.")
	op.BodyLimit = importLimit
	api.Register(a, op, h.importRepos)
}

func (h *followHandlers) importRepos(ctx context.Context, in *importInput) (*api.Out[follow.ImportResult], error) {
	return api.AnswerWith(h.following.ImportRepos(ctx, in.Body.Format, in.Body.Content))
}
