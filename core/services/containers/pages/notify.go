package pages

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
)

// settingsView is the page without its history.
func (p notifyPages) settingsView(ctx context.Context) (out notifyView, err error) {
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

// showNotifications answers with the page; more puts into it what an action has to say.
func (p notifyPages) showNotifications(c *gin.Context, status int, more func(*notifyView)) {
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
	p.kit.Render(c, v, status, notifyPage(v, p.pages, n))
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

// answerChange answers a change of a channel. What the channel says against it appears in the page, at the field.
func (p notifyPages) answerChange(c *gin.Context, form channelForm, toast string, err error) {
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
