package ui

import (
	"bytes"
	"context"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

// beatEvent tells the script that a stream lives though nothing has changed.
const beatEvent = "beat"

// Part makes a part of a page anew. Done ends the stream after it.
type Part func(v *View) (part templ.Component, done bool, err error)

// Stream keeps a part of a page current: it sends it at the beginning and, looking every so often and at each wake, when it
// has changed. wake may be nil. In the page an element asks for it with Live. It ends with the caller's session, and when other
// pages have come into use.
func (k *Kit) Stream(c *gin.Context, every time.Duration, wake <-chan struct{}, part Part) {
	release, err := auth.AcquireStream(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer release()
	c.Header("Vary", "Cookie, Accept-Language")
	events := httpd.NewEvents(c)
	ctx := c.Request.Context()
	tick := time.NewTicker(every)
	defer tick.Stop()
	beat := time.NewTicker(httpd.Heartbeat)
	defer beat.Stop()
	var last []byte
	for k.stillAuthorized(c) {
		var b bytes.Buffer
		comp, done, err := part(k.View(c, ""))
		if err != nil {
			return
		}
		if err := comp.Render(ctx, &b); err != nil {
			return
		}
		if !bytes.Equal(b.Bytes(), last) {
			last = b.Bytes()
			if events.Send(0, "", last) != nil {
				return
			}
		}
		if done {
			_ = events.Send(0, "done", []byte("done"))
			return
		}
		if !waitForChange(ctx.Done(), httpd.Draining(ctx), tick.C, beat.C, wake, events) {
			return
		}
	}
}

// stillAuthorized reports whether the pages are in use, and the caller is who the guard has let in, with the same role: a session may end
// while its streams go on.
func (k *Kit) stillAuthorized(c *gin.Context) bool {
	was := auth.From(c.Request.Context())
	if k.cfg.Current != nil && !k.cfg.Current() {
		return false
	}
	if was == nil || k.cfg.Recognise == nil {
		return was == nil
	}
	now := k.cfg.Recognise(c.Request)
	return now != nil && now.User.ID == was.User.ID && now.User.Role == was.User.Role
}

// waitForChange returns true when the part is to be looked at again.
func waitForChange(gone, draining <-chan struct{}, tick, beat <-chan time.Time, wake <-chan struct{}, events *httpd.Events) bool {
	for {
		select {
		case <-gone:
			return false
		case <-draining:
			return false
		case <-tick:
			return true
		case _, ok := <-wake:
			if !ok {
				wake = nil
				continue
			}
			return true
		case <-beat:
			if events.Send(0, beatEvent, []byte(beatEvent)) != nil {
				return false
			}
		}
	}
}

// Live are the attributes of an element whose content Stream keeps current.
func Live(url string) templ.Attributes {
	return templ.Attributes{"hx-sse:connect": url, "hx-swap": "innerMorph", "hx-sse:close": "done", "data-live": true}
}

// wakePause is the least time between two looks, however much happens.
const wakePause = 250 * time.Millisecond

// Wake tells Stream that there is news, at most once in wakePause: an event that match is true for, or any with a nil match.
// It ends with ctx or the events.
func Wake[T any](ctx context.Context, events <-chan T, match func(T) bool) <-chan struct{} {
	out := make(chan struct{})
	go func() {
		defer close(out)
		for {
			select {
			case <-ctx.Done():
				return
			case ev, ok := <-events:
				if !ok {
					return
				}
				if match != nil && !match(ev) {
					continue
				}
			}
			select {
			case <-ctx.Done():
				return
			case out <- struct{}{}:
			}
			if event.Sleep(ctx, wakePause) != nil {
				return
			}
		}
	}()
	return out
}
