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

// Gone tells whether the reader may read no more. It asks at most once a second.
func (v *Visitor) Gone() bool {
	if v.who == nil || time.Since(v.seen) < lookAgain {
		return false
	}
	v.seen = time.Now()
	return !v.who.Still()
}

// AcquireStream takes a place among the open streams for the caller of a request; see httpd.AcquireStream.
func AcquireStream(c *gin.Context) (release func(), err error) {
	caller := ""
	if who := From(c.Request.Context()); who != nil {
		caller = who.User.ID
	}
	return httpd.AcquireStream(c, caller)
}
