package pages

import (
	"slices"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
)

// listSettings are the fields of a channel, with what was sent in place of what is stored.
func listSettings(n notifyView, ch channelView) (out []setting) {
	set := n.Settings
	switch ch.Name {
	case channels.RoleChat:
		out = []setting{
			{Member: "botToken", Kind: "password", Secret: true, Set: set.Chat.BotTokenConfigured},
			{Member: "chatId", Kind: "text", Value: set.Chat.ChatID},
		}
	case channels.RoleEmail:
		out = smtpSettings(set.Email)
		if slices.Contains(ch.ReadOnly, "smtpUrl") {
			out = []setting{{Member: "smtpUrl", Secret: true, Set: true}}
		}
	case channels.RoleWebhook:
		out = []setting{
			{Member: "url", Kind: "url", Value: set.Webhook.URL},
			{Member: "secret", Kind: "password", Secret: true, Set: set.Webhook.SecretConfigured},
		}
	case channels.RoleWebPush:
		out = []setting{{Member: "vapidSubject", Kind: "text", Value: set.WebPush.Subject}}
	}
	for i := range out {
		f := &out[i]
		f.Channel = ch.Name
		f.Fixed = slices.Contains(ch.ReadOnly, f.Member)
		if n.Form.Channel != ch.Name {
			continue
		}
		if sent, ok := n.Form.Values[f.Member]; ok && !f.Secret && !f.Fixed {
			f.Value = sent
		}
		if n.Form.Err != nil && n.Form.Err.Ext["field"] == ch.Name+"."+f.Member {
			f.Err = n.Form.Err
		}
	}
	return out
}

// formError is what a refusal says that belongs to no field of the form.
func formError(n notifyView, ch channelView) *fault.Error {
	if n.Form.Channel != ch.Name {
		return nil
	}
	for _, f := range listSettings(n, ch) {
		if f.Err != nil {
			return nil
		}
	}
	return n.Form.Err
}

// saveChannel stores the fields of a channel. Secrets that are left empty stay as they are.
func (p notifyPages) saveChannel(c *gin.Context) {
	form := channelForm{Channel: c.PostForm("channel"), Values: map[string]string{}}
	field := func(name string) *string {
		text, sent := c.GetPostForm(name)
		if !sent {
			return nil
		}
		form.Values[name] = text
		return &text
	}
	hidden := func(name string) *string {
		text := field(name)
		delete(form.Values, name)
		return text
	}
	var on *bool
	if c.PostForm("on") != "" {
		yes := true
		on = &yes
	}
	change := switchChange(form.Channel, on)
	switch {
	case change.Chat != nil:
		change.Chat.BotToken, change.Chat.ChatID = hidden("botToken"), field("chatId")
	case change.Email != nil:
		var err error
		if change.Email.SMTPURL, err = p.sentSMTP(c, field, hidden); err != nil {
			p.answerChange(c, form, "", err)
			return
		}
	case change.Webhook != nil:
		change.Webhook.URL, change.Webhook.Secret = field("url"), hidden("secret")
	case change.WebPush != nil:
		change.WebPush.Subject = field("vapidSubject")
	default:
		p.finishAction(c, notifyPath, "", fault.New(fault.InvalidArgument, "The form does not say what to change."))
		return
	}
	p.answerChange(c, form, "containers.notify.saved", p.service.Channels().Change(c.Request.Context(), change))
}
