// Package oneway sends HTTP requests of which the status is all that counts, to receivers that know a repetition.
package oneway

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

// maxBody is how much of an answer's body is read, so that its connection can be used again.
const maxBody = 64 << 10

// Do sends a request and returns status and header of the answer.
func Do(ctx context.Context, c *httpx.Client, req *httpx.Request) (int, http.Header, error) {
	st, err := c.Stream(ctx, req, 0)
	if err != nil {
		return 0, nil, err
	}
	defer st.Close()
	_, _ = io.CopyN(io.Discard, st, maxBody)
	return st.Status, st.Header, nil
}

// Unanswered is what became of a request without an answer: it may be repeated, although it may have arrived, unless the
// call itself has ended. Messages name the host alone: the path may be a secret.
func Unanswered(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return notify.Unknown("%s: the call ended before the answer came", u.Host)
	}
	e := errs.From(err)
	if e.Source != errs.Upstream {
		return e
	}
	return notify.Temporary(0, e.Reason, "%s", strings.Replace(e.Message, u.Host+u.EscapedPath(), u.Host, 1))
}
