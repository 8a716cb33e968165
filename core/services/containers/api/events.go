package api

import (
	"io"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// outEvent is an event on its way to a client.
type outEvent struct {
	id   int64
	name string
	data any
	// last ends the stream.
	last bool
}

// followEvents sends first, and then what write makes of what comes; see auth.StreamEvents.
func followEvents[T any](c *gin.Context, first []outEvent, source <-chan T, write func(T) []outEvent) error {
	send := func(out *httpd.Events, all []outEvent) error {
		for _, ev := range all {
			if err := out.SendJSON(ev.id, ev.name, ev.data); err != nil {
				return err
			}
			if ev.last {
				return io.EOF
			}
		}
		return nil
	}
	begin := func(out *httpd.Events) error {
		if err := out.Beat(); err != nil {
			return err
		}
		return send(out, first)
	}
	return auth.StreamEvents(c, begin, source, func(out *httpd.Events, item T) error { return send(out, write(item)) })
}

// cursorGiven reports whether a client says where to go on.
func cursorGiven(c *gin.Context) bool {
	return c.GetHeader("Last-Event-ID") != "" || c.Query("afterId") != ""
}
