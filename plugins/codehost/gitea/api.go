package gitea

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/jsonapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/reponame"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// apiClient returns the API with the token of a call.
func (h *host) apiClient(token schema.Secret) (*jsonapi.Client, error) {
	c := &jsonapi.Client{HTTP: h.http, Base: h.api, Secret: token, Message: errorMessage, Pause: limitedPause}
	if strings.ContainsFunc(token.Reveal(), func(r rune) bool { return r <= ' ' || r > '~' }) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the token has characters that are not allowed in a token")
	}
	if token != "" {
		c.Header = http.Header{"Authorization": {"token " + token.Reveal()}}
	}
	return c, nil
}

// errorMessage takes the message out of a refusal.
func errorMessage(body []byte) string {
	var refusal struct {
		Message string `json:"message"`
	}
	_ = json.Unmarshal(body, &refusal)
	return refusal.Message
}

// fetchJSON makes a request and decodes the answer into out.
func (h *host) fetchJSON(ctx context.Context, token schema.Secret, query url.Values, out any, path ...string) (*httpx.Response, error) {
	c, err := h.apiClient(token)
	if err != nil {
		return nil, err
	}
	return c.Fetch(ctx, jsonapi.Call{Method: http.MethodGet, Path: path, Query: query}, out)
}

const (
	// defaultPageSize is the size of a page that nobody asked for; servers give 50 items at most unless they are told otherwise.
	defaultPageSize = 50
	// maxPageNumber bounds the cursors, which are numbers of pages.
	maxPageNumber = 10_000
)

// fetchPage asks for one page of a list, and converts its items. convert leaves an item out by returning false.
//
// The API has no conditional requests: the validator is a digest of the page, which spares the core the work of comparing it.
func fetchPage[I, O any](ctx context.Context, h *host, token schema.Secret, page codehost.PageRequest, query url.Values,
	convert func(*I) (O, bool), path ...string) (*codehost.Page[O], error) {
	number, size := 1, page.Size
	if size == 0 {
		size = defaultPageSize
	}
	if page.Cursor != "" {
		var err error
		if number, err = strconv.Atoi(page.Cursor); err != nil || number < 1 || number > maxPageNumber {
			return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the cursor is not valid for this host")
		}
	}
	asked := url.Values{"page": {strconv.Itoa(number)}, "limit": {strconv.Itoa(size)}}
	for name, values := range query {
		asked[name] = values
	}
	var items []I
	res, err := h.fetchJSON(ctx, token, asked, &items, path...)
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[O]{}
	if hasNext(res.Header) {
		out.NextCursor = strconv.Itoa(number + 1)
	}
	// That the list goes on is part of the page: the body does not tell.
	sum := sha256.Sum256(append([]byte(out.NextCursor+"\n"), res.Body...))
	out.Validators.ETag = `"` + hex.EncodeToString(sum[:16]) + `"`
	if page.Validators.ETag == out.Validators.ETag {
		out.NotModified = true
		return out, nil
	}
	for i := range items {
		if item, ok := convert(&items[i]); ok {
			out.Items = append(out.Items, item)
		}
	}
	return out, nil
}

// hasNext reports whether the header of a page links to the next one. The size of a page tells nothing: the server may have a
// lower limit than was asked for.
func hasNext(header http.Header) bool {
	for _, value := range header["Link"] {
		if strings.Contains(value, `rel="next"`) {
			return true
		}
	}
	return false
}

// repoPath returns the parts of the path of a repository, owner/name, and of what lies below it.
func repoPath(repo string, below ...string) ([]string, error) {
	if !reponame.IsFullName(repo) {
		return nil, errs.BadInput(codehost.ReasonInvalidRequest, "the repository must be owner/name")
	}
	owner, name, _ := strings.Cut(repo, "/")
	return append([]string{"repos", owner, name}, below...), nil
}

// formatID returns an id; empty for 0, which is none.
func formatID(id int64) string {
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// webURL returns the page of a path.
func (h *host) webURL(path ...string) string { return h.web.JoinPath(path...).String() }

// maxSubject is how much of the subject of a commit is kept, in bytes.
const maxSubject = 300

// firstLine returns the first line of the message of a commit.
func firstLine(message string) string {
	subject, _, _ := strings.Cut(message, "\n")
	return texts.Truncate(subject, maxSubject)
}
