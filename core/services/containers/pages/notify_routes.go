package pages

import (
	"net/http"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
)

func (p notifyPages) notifyRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute(notifyPath, func(c *gin.Context) { p.showNotifications(c, http.StatusOK, nil) }), getRoute(notifyPath+"/live", p.notificationsLive),
		getRoute(notifyPath+"/preview", func(c *gin.Context) { p.kit.Redirect(c, previewURL(p.pages, notice.Kinds()[0].Name, "")) }),
		getRoute(notifyPath+"/preview/:kind", p.showPreview), getRoute(notifyPath+"/preview/:kind/mail", p.previewMail),
		getRoute(notifyPath+"/preview/:kind/card.png", p.previewCard),
		postRoute(notifyPath+"/test", p.testChannel), postRoute(notifyPath+"/switch", p.switchChannel),
		postRoute(notifyPath+"/events", p.saveEvents), postRoute(notifyPath+"/channel", p.saveChannel),
		postRoute(notifyPath+"/keys", func(c *gin.Context) {
			_, err := p.service.Channels().MakeVAPIDKeys(c.Request.Context())
			p.answerChange(c, channelForm{Channel: channels.RoleWebPush}, "containers.notify.keys.made", err)
		}),
		postRoute(notifyPath+"/subscriptions/remove", func(c *gin.Context) {
			_, err := p.service.Channels().Unsubscribe(c.Request.Context(), "", c.PostForm("id"))
			p.finishAction(c, notifyPath+"#set-"+channels.RoleWebPush, "containers.notify.subscription.removed", err)
		}),
	}
}

// notificationsLive keeps the newest part of the history current.
func (p notifyPages) notificationsLive(c *gin.Context) {
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		h, err := p.readHistory(c.Request.Context(), "")
		return historyPart(v, p.pages, h), false, err
	})
}

// testChannel sends a test and answers with what became of it: the channel's row for a page with script, else the page of all channels.
func (p notifyPages) testChannel(c *gin.Context) {
	ctx, name := c.Request.Context(), c.PostForm("channel")
	if name == "" {
		p.kit.Fail(c, fault.New(fault.InvalidArgument, "The form does not say which channel to test.").With("field", "channel"))
		return
	}
	got, err := p.service.Channels().SendTest(ctx, name, "")
	if r, ok := got[name]; ok && err == nil && c.GetHeader("HX-Request") == "" {
		// The page tells the rest as the last delivery; loading it again sends nothing.
		toast := ui.Toast{Kind: "ok", TextID: "containers.notify.answer." + r.State}
		if !r.OK {
			toast.Kind = "bad"
		}
		p.kit.Done(c, p.base+notifyPath, toast)
		return
	}
	answer := func(n *notifyView) {
		ch := n.channelNamed(name)
		if ch == nil {
			return
		}
		if r, ok := got[name]; ok {
			ch.Answer = &r
		}
		if err != nil {
			ch.Refused = fault.As(err)
		}
	}
	n, failed := p.settingsView(ctx)
	if failed == nil && n.channelNamed(name) == nil {
		failed = err
	}
	if failed != nil {
		p.kit.Fail(c, failed)
		return
	}
	if c.GetHeader("HX-Request") == "" {
		p.showNotifications(c, http.StatusOK, answer)
		return
	}
	answer(&n)
	v := p.newView(c, "")
	p.kit.Render(c, v, http.StatusOK, channelRow(v, p.pages, *n.channelNamed(name)))
}

func (p notifyPages) switchChannel(c *gin.Context) {
	name, on := c.PostForm("channel"), c.PostForm("on") != ""
	toast := "containers.notify.switched.off"
	if on {
		toast = "containers.notify.switched.on"
	}
	p.answerChange(c, channelForm{Channel: name}, toast, p.service.Channels().Change(c.Request.Context(), switchChange(name, &on)))
}

func (p notifyPages) saveEvents(c *gin.Context) {
	events := channels.EventChange{}
	for _, k := range notice.Kinds() {
		if k.Event != "" {
			events[k.Event] = new(c.PostForm(k.Switch) != "")
		}
	}
	err := p.service.Channels().Change(c.Request.Context(), channels.NotificationChange{Events: events})
	p.finishAction(c, notifyPath, "containers.notify.saved", err)
}
