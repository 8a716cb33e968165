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

// FollowEvents sends what comes from source until it ends, send fails, the client leaves or may read no more, or the server
// stops. In pauses it keeps the connection open.
func FollowEvents[T any](c *gin.Context, out *httpd.Events, source <-chan T, send func(T) error) {
	ctx := c.Request.Context()
	caller := Visiting(ctx)
	beat := time.NewTicker(httpd.Heartbeat)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-httpd.Draining(ctx):
			return
		case <-beat.C:
			if caller.Gone() || out.Beat() != nil {
				return
			}
		case item, open := <-source:
			if !open || caller.Gone() || send(item) != nil {
				return
			}
		}
	}
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
