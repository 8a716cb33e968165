package api

import (
	"encoding/json"
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

// followEvents writes what comes until the source ends, the client goes, may read no more, or the server stops.
func followEvents[T any](c *gin.Context, source <-chan T, write func(T) []outEvent) {
	release, err := auth.AcquireStream(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer release()
	out := httpd.NewEvents(c)
	if out.Beat() != nil {
		return
	}
	auth.FollowEvents(c, out, source, func(item T) error {
		for _, ev := range write(item) {
			raw, err := json.Marshal(ev.data)
			if err != nil {
				return err
			}
			if err := out.Send(ev.id, ev.name, raw); err != nil {
				return err
			}
			if ev.last {
				return io.EOF
			}
		}
		return nil
	})
}

// cursorGiven reports whether a client says where to go on.
func cursorGiven(c *gin.Context) bool {
	return c.GetHeader("Last-Event-ID") != "" || c.Query("afterId") != ""
}

func forwardEvents[T any](done <-chan struct{}, to chan<- T, item T) bool {
	select {
	case to <- item:
		return true
	case <-done:
		return false
	}
}
