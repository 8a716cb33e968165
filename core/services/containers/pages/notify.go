package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
)

const (
	notifyPath = "/notifications"
	// messagesShown is how many notifications of the history a page shows.
	messagesShown = 50
)

func (p pages) notifyRoutes() []httpd.Route {
	return []httpd.Route{
		getRoute(notifyPath, p.showChannels), getRoute(notifyPath+"/live", p.notificationsLive),
		getRoute(notifyPath+"/preview", func(c *gin.Context) { p.kit.Redirect(c, previewURL(p, notice.PreviewKinds()[0], "")) }),
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

// channelForm is what was sent to change a channel, without secrets, and why it was refused.
type channelForm struct {
	Channel string
	Values  map[string]string
	Err     *fault.Error
}

// notifyView is what the page shows.
type notifyView struct {
	Settings channels.NotificationSettings
	Channels []channelView
	Browsers []channels.Subscriber
	Form     channelForm
	History  historyView
}

// channelView is one channel, also one that no instance plays.
type channelView struct {
	Name string
	channels.ChannelState
	// Gap is why it cannot be used; nil if it can.
	Gap *fault.Error
	// Last is its newest delivery; nil if there was none.
	Last *channels.MessageDelivery
	// Answer is what became of a test, Refused why it or a change was refused. They are nil unless that is what the page answers.
	Answer  *channels.TestResult
	Refused *fault.Error
	// Refs are the instances that the settings name already.
	Refs []string
}

// hasRole reports whether its recipient is set in the console.
func (ch channelView) hasRole() bool { return slices.Contains(channels.Roles(), ch.Name) }

// stateName is what a person wants to know of it first.
func (ch channelView) stateName() string {
	switch {
	case !ch.Available:
		return "absent"
	case ch.Gap != nil && ch.Gap.Code != fault.InvalidArgument:
		return "unreachable"
	case ch.Gap != nil:
		return "incomplete"
	case !ch.Enabled:
		return "off"
	case ch.Last != nil && ch.Last.State == "failed":
		return "failed"
	}
	return "on"
}

// settingsView is the page without its history.
func (p pages) settingsView(ctx context.Context) (out notifyView, err error) {
	if out.Settings, err = p.service.Channels().Settings(ctx); err != nil {
		return out, err
	}
	gaps, err := p.service.Channels().Gaps(ctx)
	if err != nil {
		return out, err
	}
	last, err := p.service.Channels().LastDeliveries(ctx)
	if err != nil {
		return out, err
	}
	out.Channels = channelViews(out.Settings)
	for i := range out.Channels {
		ch := &out.Channels[i]
		if err, ok := gaps[ch.Name]; ok {
			ch.Gap = fault.As(err)
		}
		if d, ok := last[ch.Name]; ok {
			ch.Last = &d
		}
	}
	out.Browsers, err = p.service.Channels().Subscribers(ctx)
	return out, err
}

// channelViews are all channels: those that can be used in the order of the roles, the others by name, and at the end the
// roles that no instance plays.
func channelViews(set channels.NotificationSettings) []channelView {
	var here, absent []channelView
	for _, one := range []channelView{
		{Name: channels.RoleChat, ChannelState: set.Chat.ChannelState}, {Name: channels.RoleEmail, ChannelState: set.Email.ChannelState},
		{Name: channels.RoleWebhook, ChannelState: set.Webhook.ChannelState},
		{Name: channels.RoleWebPush, ChannelState: set.WebPush.ChannelState},
	} {
		if one.Available {
			here = append(here, one)
		} else {
			absent = append(absent, one)
		}
	}
	roles := len(here)
	for name, other := range set.Channels {
		here = append(here, channelView{Name: name, ChannelState: other.ChannelState})
	}
	slices.SortFunc(here[roles:], func(a, b channelView) int { return cmp.Compare(a.Name, b.Name) })
	var refs []string
	for _, ch := range here {
		refs = append(refs, ch.Instance)
	}
	for _, ch := range absent {
		ch.Refs = refs
		here = append(here, ch)
	}
	return here
}

// channelNamed is the one with a name; nil if there is none.
func (n *notifyView) channelNamed(name string) *channelView {
	i := slices.IndexFunc(n.Channels, func(ch channelView) bool { return ch.Name == name })
	if i < 0 {
		return nil
	}
	return &n.Channels[i]
}

func (p pages) showChannels(c *gin.Context) { p.showNotifications(c, http.StatusOK, nil) }

// showNotifications answers with the page; more puts into it what an action has to say.
func (p pages) showNotifications(c *gin.Context, status int, more func(*notifyView)) {
	ctx := c.Request.Context()
	n, err := p.settingsView(ctx)
	if err == nil {
		n.History, err = p.readHistory(ctx, c.Query("before"))
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	if more != nil {
		more(&n)
	}
	v := p.newView(c, "containers.notify.title")
	v.Scripts = append(v.Scripts, "push.js")
	p.kit.Render(c, v, status, notifyPage(v, p, n))
}

// notificationsLive keeps the newest part of the history current.
func (p pages) notificationsLive(c *gin.Context) {
	p.serveLive(c, func(v *ui.View) (templ.Component, bool, error) {
		h, err := p.readHistory(c.Request.Context(), "")
		return historyPart(v, p, h), false, err
	})
}

// testChannel sends a test and answers with what became of it: the channel's row for a page with script, else the page of all channels.
func (p pages) testChannel(c *gin.Context) {
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
	p.kit.Render(c, v, http.StatusOK, channelRow(v, p, *n.channelNamed(name)))
}

func (p pages) switchChannel(c *gin.Context) {
	name, on := c.PostForm("channel"), c.PostForm("on") != ""
	toast := "containers.notify.switched.off"
	if on {
		toast = "containers.notify.switched.on"
	}
	p.answerChange(c, channelForm{Channel: name}, toast, p.service.Channels().Change(c.Request.Context(), switchChange(name, &on)))
}

// switchChange is the change that switches a channel.
func switchChange(name string, on *bool) (out channels.NotificationChange) {
	switch name {
	case channels.RoleChat:
		out.Chat = &channels.ChatChange{Enabled: on}
	case channels.RoleEmail:
		out.Email = &channels.EmailChange{Enabled: on}
	case channels.RoleWebhook:
		out.Webhook = &channels.WebhookChange{Enabled: on}
	case channels.RoleWebPush:
		out.WebPush = &channels.PushChange{Enabled: on}
	default:
		out.Channels = map[string]channels.OtherChange{name: {Enabled: on}}
	}
	return out
}

func (p pages) saveEvents(c *gin.Context) {
	on := func(field string) *bool {
		is := c.PostForm(field) != ""
		return &is
	}
	err := p.service.Channels().Change(c.Request.Context(), channels.NotificationChange{
		Events: channels.EventChange{notice.EventUpdate: on("update"), notice.EventNewVersion: on("version"),
			notice.EventWebhookAnomaly: on("anomaly")},
	})
	p.finishAction(c, notifyPath, "containers.notify.saved", err)
}

// answerChange answers a change of a channel. What the channel says against it appears in the page, at the field.
func (p pages) answerChange(c *gin.Context, form channelForm, toast string, err error) {
	var f *fault.Error
	if errors.As(err, &f) && f.Code == fault.InvalidArgument {
		if field, _ := f.Ext["field"].(string); strings.HasPrefix(field, form.Channel+".") {
			form.Err = f
			p.showNotifications(c, http.StatusBadRequest, func(n *notifyView) {
				n.Form = form
				if ch := n.channelNamed(form.Channel); ch != nil {
					ch.Refused = f
				}
			})
			return
		}
	}
	to := notifyPath
	if len(form.Values) > 0 || form.Channel == channels.RoleWebPush {
		to += "#set-" + form.Channel
	}
	p.finishAction(c, to, toast, err)
}
