package auth

import (
	"context"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// lookAgain is how long a stream goes on after the session or the key of its reader has ended.
const lookAgain = time.Second

// Visitor is the reader of a stream, which outlives the decision of the guard.
type Visitor struct {
	who  *Principal
	seen time.Time
}

// Visiting is the reader of a request's stream. A context without a principal is one that nobody has to be let in for.
func Visiting(ctx context.Context) *Visitor { return &Visitor{who: From(ctx), seen: time.Now()} }

// Gone reports whether the reader may read no more. It asks at most once a second.
func (v *Visitor) Gone() bool {
	if v.who == nil || time.Since(v.seen) < lookAgain {
		return false
	}
	v.seen = time.Now()
	return !v.who.Still()
}

// StreamEvents answers with the events that begin sends, and then with those that send makes of what comes from source. The stream
// ends with source, and at an error of begin or send (io.EOF after the last event). It also ends when the client leaves or may read no
// more, and when the server stops. In pauses it keeps the connection open. If the caller has too many streams, StreamEvents answers nothing and returns
// the error.
func StreamEvents[T any](c *gin.Context, begin func(*httpd.Events) error, source <-chan T, send func(*httpd.Events, T) error) error {
	release, err := AcquireStream(c)
	if err != nil {
		return err
	}
	defer release()
	ctx, out := c.Request.Context(), httpd.NewEvents(c)
	caller := Visiting(ctx)
	beat := time.NewTicker(httpd.Heartbeat)
	defer beat.Stop()
	for err = begin(out); err == nil; {
		select {
		case <-ctx.Done():
			return nil
		case <-httpd.Draining(ctx):
			return nil
		case <-beat.C:
			if caller.Gone() {
				return nil
			}
			err = out.Beat()
		case item, open := <-source:
			if !open || caller.Gone() {
				return nil
			}
			err = send(out, item)
		}
	}
	return nil
}

// OriginFrom returns where a request to sign in comes from, with the session that the browser had before, if it sent exactly one.
func OriginFrom(c *gin.Context) Origin {
	from := Origin{Address: httpd.ClientAddr(c), UserAgent: c.Request.UserAgent()}
	if cookies := c.Request.CookiesNamed(SessionCookie); len(cookies) == 1 {
		from.Former = cookies[0].Value
	}
	return from
}

// AcquireStream takes a place among the open streams for the caller of a request; see httpd.AcquireStream.
func AcquireStream(c *gin.Context) (release func(), err error) {
	caller := ""
	if who := From(c.Request.Context()); who != nil {
		caller = who.User.ID
	}
	return httpd.AcquireStream(c, caller)
}
