package ui

import (
	"bytes"
	"strconv"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// clearEvent tells the script to empty the element: a stream that is taken up again begins anew.
const clearEvent = "clear"

// stillEvery is how often Tail looks whether its caller may go on.
const stillEvery = 5 * time.Second

// Growing are the attributes of an element to which Tail adds lines. The script keeps the newest ones, at most keep of them.
func Growing(url string, keep int) templ.Attributes {
	return templ.Attributes{"hx-sse:connect": url, "hx-swap": "beforeend", "hx-sse:close": "done", "data-live": true, "data-tail": true,
		"data-keep": strconv.Itoa(keep)}
}

// Tail adds what comes to an element with the attributes of Growing. It ends when more is closed, with the caller's session, and
// when other pages have come into use.
func (k *Kit) Tail(c *gin.Context, more <-chan templ.Component) {
	release, err := auth.AcquireStream(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer release()
	c.Header("Vary", "Cookie, Accept-Language")
	events := httpd.NewEvents(c)
	ctx := c.Request.Context()
	look, beat := time.NewTicker(stillEvery), time.NewTicker(httpd.Heartbeat)
	defer look.Stop()
	defer beat.Stop()
	for err = events.Send(0, clearEvent, []byte(clearEvent)); err == nil; {
		select {
		case <-ctx.Done():
			return
		case <-httpd.Draining(ctx):
			return
		case <-look.C:
			if !k.stillAuthorized(c) {
				return
			}
		case <-beat.C:
			err = events.Send(0, beatEvent, []byte(beatEvent))
		case part, ok := <-more:
			if !ok {
				return
			}
			var b bytes.Buffer
			if err = part.Render(ctx, &b); err == nil {
				err = events.Send(0, "", b.Bytes())
			}
		}
	}
}
