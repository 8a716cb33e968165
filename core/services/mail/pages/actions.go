package pages

import (
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

func (p pages) createMailbox(c *gin.Context) {
	life, err := readLifetime(c)
	var box api.Mailbox
	if err == nil {
		box, err = p.service.CreateMailbox(c.Request.Context(), api.MailboxBody{
			LocalPart: strings.TrimSpace(c.PostForm("localPart")), Subdomain: strings.TrimSpace(c.PostForm("subdomain")),
			MailDomain: c.PostForm("mailDomain"), Expires: life,
		})
	}
	if err != nil {
		if form, ok := p.kit.ReadForm(c, err); ok {
			p.renderInbox(c, form)
		}
		return
	}
	p.kit.Done(c, p.inboxURL(place{Mailbox: box.ID}),
		ui.Toast{Kind: "ok", TextID: "mail.mailbox.made", Args: []string{"Address", box.Address}})
}

func (p pages) extendMailbox(c *gin.Context) {
	ctx := c.Request.Context()
	box, err := p.service.Mailbox(ctx, c.Param("id"))
	var life api.Minutes
	if err == nil {
		life, err = readLifetime(c)
	}
	if err == nil {
		box, err = p.service.ExtendMailbox(ctx, box.Address, life)
	}
	p.finishAction(c, place{Mailbox: box.ID}, "mail.mailbox.extended", err)
}

func (p pages) setTags(c *gin.Context) {
	tags := strings.FieldsFunc(c.PostForm("tags"), func(r rune) bool { return r == ',' || r == ' ' || r == '，' })
	box, err := p.service.SetMailboxTags(c.Request.Context(), c.Param("id"), tags)
	p.finishAction(c, place{Mailbox: box.ID}, "mail.mailbox.tagged", err)
}

func (p pages) deleteMailbox(c *gin.Context) {
	ctx := c.Request.Context()
	box, err := p.service.Mailbox(ctx, c.Param("id"))
	if err == nil {
		err = ui.CheckTypedName(c, box.Address)
	}
	if err == nil {
		err = p.service.DestroyMailbox(ctx, box.ID)
	}
	p.finishAction(c, place{}, "mail.mailbox.deleted", err)
}

func (p pages) markUnread(c *gin.Context) {
	err := p.service.MarkMessage(c.Request.Context(), c.Param("id"), false)
	p.finishAction(c, readPlace(c).withMessage(""), "mail.message.unread", err)
}

func (p pages) deleteMessage(c *gin.Context) {
	err := p.service.DeleteMessage(c.Request.Context(), c.Param("id"))
	p.finishAction(c, readPlace(c).withMessage(""), "mail.message.deleted", err)
}

// finishAction answers an action and goes on to the inbox.
func (p pages) finishAction(c *gin.Context, to place, toast string, err error) {
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Done(c, p.inboxURL(to), ui.Toast{Kind: "ok", TextID: toast})
}
