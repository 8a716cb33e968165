package extract

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/pagehead"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const accept = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1"

// maxRefreshes is how many times in a row a page may send its readers on.
const maxRefreshes = 5

var errRefreshes = errors.New("page sends its readers on too many times")

// Fetch gets a page and extracts it. The client decides what may be reached: give it a guard. A page that sends its readers
// on by itself (meta refresh) is left for where it leads. Every error has a text that may be shown to whoever named the
// address.
func Fetch(ctx context.Context, client *httpx.Client, address string, format Format) (*Page, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, errs.BadInput("INVALID_ADDRESS", "address cannot be parsed")
	}
	u.Fragment = ""
	for range maxRefreshes + 1 {
		res, err := client.Do(ctx, &httpx.Request{Method: http.MethodGet, URL: u, Header: http.Header{"Accept": {accept}}})
		if err != nil {
			return nil, err
		}
		if res.Status < 200 || res.Status > 299 {
			return nil, fmt.Errorf("page answered with status %d", res.Status)
		}
		to := pagehead.Read(res.Body, res.Header, res.URL, "").RefreshFrom(res.URL)
		if to == nil {
			return Decode(res.Body, res.Header.Get("Content-Type"), res.URL, format)
		}
		u = to
	}
	return nil, errRefreshes
}

// Decode extracts a body of any text type.
func Decode(body []byte, contentType string, address *url.URL, format Format) (*Page, error) {
	if contentType == "" {
		contentType = http.DetectContentType(body)
	}
	switch media := pagehead.MediaType(contentType); {
	case media == "text/html" || media == "application/xhtml+xml":
		return HTML(body, contentType, address, format)
	case strings.HasPrefix(media, "text/"), strings.HasSuffix(media, "json"), strings.HasSuffix(media, "xml"),
		strings.HasSuffix(media, "yaml"):
		return readPlainText(body, contentType)
	default:
		return nil, fmt.Errorf("content of type %.60q is no text", media)
	}
}
