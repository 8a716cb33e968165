package pages

import (
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	service "github.com/patchbay-dev/patchbay/core/services/mail"
	"github.com/patchbay-dev/patchbay/core/services/mail/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/authresult"
	"github.com/patchbay-dev/patchbay/core/services/mail/link"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
	"github.com/patchbay-dev/patchbay/core/texts"
)

// roleText is admin or member.
func roleText(v *ui.View) string {
	if v.Admin() {
		return "admin"
	}
	return "member"
}

// mailboxHost returns what stands behind the @ of an address.
func mailboxHost(box api.Mailbox) string {
	_, host, _ := strings.Cut(box.Address, "@")
	return host
}

// tagText returns the tags as they are filled in.
func tagText(box api.Mailbox) string { return strings.Join(box.Tags, ", ") }

// senderText returns who a message is from, in a list.
func senderText(v *ui.View, m api.MessageItem) string {
	switch {
	case m.FromName != nil:
		return *m.FromName
	case m.FromAddress != nil:
		return *m.FromAddress
	}
	return v.T("mail.from.none")
}

// fullSender returns the name and the address of who a message is from.
func fullSender(v *ui.View, m api.Message) string {
	if m.FromName != nil && m.FromAddress != nil {
		return *m.FromName + " <" + *m.FromAddress + ">"
	}
	return senderText(v, m.MessageItem)
}

// maxFollowed is how many links are shown above a message.
const maxFollowed = 3

// linksToFollow returns the links of a message that confirm something or reset a password.
func linksToFollow(m api.Message) (out []api.MessageLink) {
	for _, l := range m.Links {
		if len(out) < maxFollowed && l.Guess != nil && *l.Guess != string(link.Unsubscribe) {
			out = append(out, l)
		}
	}
	return out
}

// maxShownAddresses is how many addresses of a field are shown.
const maxShownAddresses = 50

// addressText returns addresses with their names.
func addressText(all []api.MessageAddress) string {
	shown := make([]string, len(all))
	for i, a := range all {
		switch {
		case a.Name == nil:
			shown[i] = a.Address
		case a.Address == "":
			shown[i] = *a.Name
		default:
			shown[i] = *a.Name + " <" + a.Address + ">"
		}
	}
	return texts.JoinSome(shown, maxShownAddresses)
}

// eventTime returns when an event begins and ends.
func eventTime(v *ui.View, e rfc822.Event) string {
	text := momentText(v, e.Start)
	if e.End != "" && e.End != e.Start {
		text += " – " + momentText(v, e.End)
	}
	if e.Zone != "" {
		text += " (" + e.Zone + ")"
	}
	return text
}

// momentText returns a time of an event. A day, and a time whose zone is not known, stay as they are.
func momentText(v *ui.View, moment string) string {
	if at, err := time.Parse(time.RFC3339, moment); err == nil {
		return v.Exact(at)
	}
	return strings.Replace(moment, "T", " ", 1)
}

// fileName returns the name of an attachment.
func fileName(v *ui.View, a api.MessageAttachment) string {
	if a.Filename != nil {
		return *a.Filename
	}
	return v.T("mail.attachment.unnamed")
}

// olderPlace returns the place of the next page of messages.
func (w inboxView) olderPlace() place {
	at := w.inMailbox(w.Mailbox)
	at.Search, at.Cursor = w.Search, w.Messages.Next
	return at
}

// htmlURL is the address of the HTML of a message.
func (p pages) htmlURL(w inboxView, m api.Message) string {
	images := ""
	if w.Images {
		images = "remote"
	}
	return ui.Address(p.base+"/api/messages/"+m.ID+"/html", "images", images)
}

// senderCheck is one of the checks of who has sent a message.
type senderCheck struct {
	Name string
	authresult.Check
}

// senderChecks returns the checks with their names. Of several signatures that which passes is shown, or else the first.
func senderChecks(r authresult.Result) []senderCheck {
	dkim := authresult.Check{Result: authresult.None}
	for i, c := range r.DKIM {
		if i == 0 || c.Result == authresult.Pass {
			dkim = c
		}
		if c.Result == authresult.Pass {
			break
		}
	}
	return []senderCheck{{"SPF", r.SPF}, {"DKIM", dkim}, {"DMARC", r.DMARC}}
}

// pillTone returns the colour of a check.
func (c senderCheck) pillTone() string {
	switch c.Result {
	case authresult.Pass:
		return "ok"
	case authresult.Fail, authresult.PermError:
		return "bad"
	case authresult.SoftFail, authresult.TempError:
		return "warn"
	}
	return ""
}

// downListeners returns where no mail is taken in, for those who can mend it.
func (p pages) downListeners(v *ui.View) []service.DownListener {
	if !v.Admin() {
		return nil
	}
	return p.service.DownListeners()
}

// downText returns why a listener takes no mail in, and what to do.
func downText(v *ui.View, down service.DownListener) string {
	switch {
	case !down.Taken:
		return v.T("mail.smtp.down.failed", "Reason", down.Reason, "Setting", down.Setting)
	case down.Holder == "":
		return v.T("mail.smtp.down.taken", "Setting", down.Setting)
	}
	return v.T("mail.smtp.down.holder", "Holder", down.Holder, "Setting", down.Setting)
}
