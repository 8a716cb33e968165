package pages

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
)

const (
	inboxPath = "/inbox"
	// newMailbox is the id of the dialog that makes a mailbox.
	newMailbox = "new-mailbox"
	// shownMailboxes and shownMessages are how many stand in the lists at once.
	shownMailboxes, shownMessages = 100, 50
)

// place is what the inbox shows, as its address has it.
type place struct {
	// Mailbox and Message are ids; "" for all mailboxes and no message.
	Mailbox, Message string
	// Search is what is looked for, Boxes a text in the addresses of mailboxes.
	Search, Boxes string
	// Expired shows what has expired instead of what is active.
	Expired bool
	// Cursor is that of a page of messages.
	Cursor string
	// View is the part of the message: html, text, headers or "" for the best; Images loads those of other sites.
	View   string
	Images bool
	// Wide gives the message the width of the page.
	Wide bool
}

// readPlace reads the address of a page.
func readPlace(c *gin.Context) place {
	return place{
		Mailbox: c.Query("mailbox"), Message: c.Query("message"), Search: strings.TrimSpace(c.Query("q")),
		Boxes:   strings.TrimSpace(c.Query("boxes")),
		Expired: c.Query("show") == "expired", Cursor: c.Query("cursor"), View: c.Query("view"), Images: c.Query("images") == "remote",
		Wide: c.Query("wide") == "1",
	}
}

// inboxURL returns the address of the inbox.
func (p pages) inboxURL(at place) string { return p.placeURL(inboxPath, at) }

// placeURL returns the address of a page with a place.
func (p pages) placeURL(path string, at place) string {
	show, images, wide := "", "", ""
	if at.Expired {
		show = "expired"
	}
	if at.Images {
		images = "remote"
	}
	if at.Wide {
		wide = "1"
	}
	return ui.Address(p.base+path, "mailbox", at.Mailbox, "message", at.Message, "q", at.Search, "boxes", at.Boxes, "show", show, "cursor",
		at.Cursor, "view", at.View, "images", images, "wide", wide)
}

// inboxView is what the inbox shows.
type inboxView struct {
	place
	Boxes    api.MailboxPage
	Messages api.MessagePage
	// Box is the chosen mailbox, Open the message that is read; nil for none.
	Box  *api.Mailbox
	Read *api.Message
	// Domains are those in which mailboxes can be made.
	Domains []string
	// SearchError says what is wrong with the search.
	SearchError string
	// Form makes a mailbox; Open shows it at once.
	Form ui.Form
	Open bool
}

// mailboxStatuses are the states of the mailboxes that are shown.
func (at place) mailboxStatuses() []string {
	if at.Expired {
		return []string{"expired"}
	}
	return []string{"active"}
}

// readLists reads the mailboxes and the messages.
func (p pages) readLists(ctx context.Context, v *ui.View, at place) (w inboxView, err error) {
	w.place = at
	if w.Domains, err = p.service.ActiveDomains(ctx); err != nil {
		return w, err
	}
	if w.Boxes, err = p.service.Mailboxes(ctx, at.mailboxStatuses(), at.Boxes, shownMailboxes, ""); err != nil {
		return w, err
	}
	choice := api.MessageChoice{MailboxStatus: at.mailboxStatuses()}
	if at.Mailbox != "" {
		box, err := p.service.Mailbox(ctx, at.Mailbox)
		if err != nil {
			return w, err
		}
		w.Box, choice = &box, api.MessageChoice{MailboxID: []string{box.ID}}
	}
	w.Messages, err = p.service.Messages(ctx, choice, at.Search, shownMessages, at.Cursor)
	if f := fault.As(err); err != nil && f.Code == fault.InvalidArgument {
		w.SearchError, err = v.Fault(f), nil
	}
	return w, err
}

func (p pages) showInbox(c *gin.Context) { p.renderInbox(c, ui.Form{}) }

// renderInbox shows the inbox with the form that makes a mailbox.
func (p pages) renderInbox(c *gin.Context, form ui.Form) {
	ctx := c.Request.Context()
	v := p.newView(c, "mail.nav.inbox")
	v.Path = p.base + inboxPath
	w, err := p.readLists(ctx, v, readPlace(c))
	if err == nil && w.Message != "" {
		err = p.openMessage(c, &w)
	}
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	w.Form, w.Open = form, form.Refused() || ui.Opens(c, newMailbox)
	v.Frames = w.Read != nil
	p.kit.Render(c, v, form.Status(), inboxPage(v, p, w))
}

// openMessage reads the message of the address, which is then no longer new.
func (p pages) openMessage(c *gin.Context, w *inboxView) error {
	ctx := c.Request.Context()
	m, err := p.service.Message(ctx, w.Message)
	if err != nil {
		return err
	}
	w.Read = &m
	if m.Read || c.Request.Method != http.MethodGet {
		return nil
	}
	for i := range w.Messages.Items {
		if w.Messages.Items[i].ID == m.ID {
			w.Messages.Items[i].Read = true
		}
	}
	return p.service.MarkMessage(ctx, m.ID, true)
}

// inboxLive keeps the lists current. Mail that comes wakes it.
func (p pages) inboxLive(c *gin.Context) {
	ctx := c.Request.Context()
	at := readPlace(c)
	sub := p.service.FollowMessages(ctx)
	defer sub.Close()
	p.kit.Stream(c, lookEvery, ui.Wake(ctx, sub.Events(), nil), func(v *ui.View) (templ.Component, bool, error) {
		w, err := p.readLists(ctx, v, at)
		return lists(v, p, w), false, err
	})
}

// messagePart returns the part of the message that is shown: html, text or headers.
func (w inboxView) messagePart() string {
	switch {
	case w.View == "headers", w.View == "text", w.View == "html" && w.Read.HTML != nil:
		return w.View
	case w.Read.HTML != nil:
		return "html"
	}
	return "text"
}

// withMessage returns the place with another message.
func (at place) withMessage(message string) place {
	at.Message, at.View, at.Images, at.Wide = message, "", false, false
	return at
}

// asWide returns the place with the message at the width of the page, or beside the lists.
func (at place) asWide(wide bool) place {
	at.Wide = wide
	return at
}

// inMailbox returns the place with another mailbox and no message.
func (at place) inMailbox(mailbox string) place {
	return place{Mailbox: mailbox, Boxes: at.Boxes, Expired: at.Expired}
}

// activeFilter is what keeps messages out of the list: the search, and, while no mailbox is chosen, that messages of expired mailboxes
// have a list of their own.
func (at place) activeFilter(v *ui.View, p pages) ui.Filter {
	f := ui.Filter{Path: p.base + inboxPath, Hidden: []string{"mailbox", at.Mailbox},
		Fields: []ui.FilterField{{Name: "q", Label: v.T("mail.search"), Value: at.Search}}}
	show := ui.FilterField{Name: "show", Label: v.T("mail.mailboxes"),
		Options: []ui.Option{{Label: v.T("mail.expired")}, {Value: "active", Label: v.T("mail.active")},
			{Value: "expired", Label: v.T("mail.expired")}}}
	if at.Expired {
		show.Value = "expired"
	}
	switch {
	case at.Mailbox != "":
		f.Hidden = append(f.Hidden, "show", show.Value)
		return f
	case at.Search != "":
		// The search is cleared, and the mailboxes stay those that are looked through.
		f.Hidden, f.ShowAll = append(f.Hidden, "show", show.Value), v.T("list.clear")
		show.Value = cmp.Or(show.Value, "active")
	case at.Expired:
		f.ShowAll = v.T("mail.active.show")
	default:
		show.Wider, f.ShowAll = []string{"expired"}, v.T("mail.expired.show")
	}
	f.Fields = append(f.Fields, show)
	return f
}

// showingPart returns the place with another part of the message.
func (at place) showingPart(view string, images bool) place {
	at.View, at.Images = view, images
	return at
}

// lifetimeChoices are the choices of how long a mailbox lives, in minutes; 0 is for ever.
func lifetimeChoices() []int {
	return []int{60, 6 * 60, 24 * 60, 7 * 24 * 60, 30 * 24 * 60, 365 * 24 * 60, 0}
}

// readLifetime reads the choice of a form.
func readLifetime(c *gin.Context) (api.Minutes, error) {
	text := c.PostForm("lifetime")
	n, err := strconv.Atoi(text)
	if err != nil || n < 0 {
		return api.Minutes{}, fault.New(fault.InvalidArgument, "The lifetime must be a number of minutes, or 0 for no end.").With("field",
			"lifetime")
	}
	return api.NewMinutes(n), nil
}
