package api

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/mail/code"
	"github.com/patchbay-dev/patchbay/core/services/mail/link"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
	"github.com/patchbay-dev/patchbay/core/services/mail/rfc822"
)

// CodeCandidate is what may be a verification code.
type CodeCandidate struct {
	Value      string      `json:"value" minLength:"4" maxLength:"9" doc:"4 to 8 letters and digits, with a hyphen where the mail has one; no spaces." example:"482913"`
	Place      code.Source `json:"place" enum:"subject,text,html"`
	Around     string      `json:"around" doc:"The words around it, as one line." example:"Your verification code is 482913. It expires in 10 minutes."`
	Confidence float64     `json:"confidence" minimum:"0" maximum:"1" doc:"How sure it is. From 0.6 on, the most likely one is the code of the message, unless another is as likely." example:"0.97"`
}

// MessageLink is a link of a message.
type MessageLink struct {
	Text       string     `json:"text" doc:"Its label, or the words beside it; empty for none." example:"Confirm your address"`
	Target     string     `json:"target" doc:"An address of http, https or mailto." example:"https://example.com/confirm?token=1"`
	Place      link.Place `json:"place" enum:"text,html,header"`
	Guess      *string    `json:"guess" enum:"confirm,reset,unsubscribe" doc:"What it is for; null if that is not known."`
	Confidence float64    `json:"confidence" minimum:"0" maximum:"1" doc:"How sure the guess is; 0 without one." example:"0.95"`
}

// ListedMessage is a message in the list. One that was waited for has its codes and links.
type ListedMessage struct {
	MessageItem
	Codes []CodeCandidate `json:"codes,omitempty" doc:"With wait: as in the message by its id."`
	Links []MessageLink   `json:"links,omitempty" doc:"With wait: as in the message by its id."`
}

// codeHandlers answers what is asked about verification codes.
type codeHandlers struct{ *messageHandlers }

// codeAPI declares the endpoint of verification codes.
func (h *codeHandlers) codeAPI(a *api.API) {
	api.Register(a, withText(messageOperation("message-code", http.MethodGet, "/api/messages/code",
		"The newest verification code of a mailbox, or wait for it", http.StatusNotFound),
		"404 if none has come in time. With pattern, messages without a code that it matches are passed over; the newest 20 are looked at, and those that come."), h.getCode)
}

// maxWaitedFinds is in how many messages of a list codes and links are looked for, and maxPatternFinds in how many that came before the
// wait.
const maxWaitedFinds, maxPatternFinds = 20, 20

// formatCandidates returns candidates as the API has them.
func formatCandidates(found []code.Code) []CodeCandidate {
	return lists.ConvertAll(found, func(c code.Code) CodeCandidate { return CodeCandidate{c.Value, c.Source, c.Around, c.Confidence} })
}

// findLinks returns the links of a message as the API has them.
func findLinks(p *rfc822.Parsed) []MessageLink {
	return lists.ConvertAll(link.Find(p), func(l link.Link) MessageLink {
		return MessageLink{l.Text, l.Target, l.Place, optionalText(string(l.Guess)), l.Confidence}
	})
}

// compilePattern returns a regular expression that matches whole codes, nil for no pattern.
func compilePattern(pattern string) (*regexp.Regexp, error) {
	if pattern == "" {
		return nil, nil
	}
	p, err := regexp.Compile("^(?:" + pattern + ")$")
	if err != nil {
		return nil, fault.New(fault.InvalidArgument, "pattern must be a regular expression such as [0-9]{6}.").With("field", "pattern")
	}
	return p, nil
}

// narrowCodes returns the candidates that a pattern matches, all of them without one.
func narrowCodes(found []code.Code, pattern *regexp.Regexp) []code.Code {
	if pattern == nil {
		return found
	}
	return slices.DeleteFunc(found, func(c code.Code) bool { return !pattern.MatchString(c.Value) })
}

// laterTime returns the later of two times.
func laterTime(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// parseByID parses a stored message. It returns nil for one that is gone.
func (h *messageHandlers) parseByID(ctx context.Context, id string) (*rfc822.Parsed, error) {
	m, err := h.messages.Find(ctx, id)
	if err == nil {
		var parsed *rfc822.Parsed
		if parsed, err = h.parseStored(ctx, m); err == nil {
			return parsed, nil
		}
	}
	if fault.CodeOf(err) == fault.NotFound {
		return nil, nil
	}
	return nil, err
}

// addFinds adds codes and links to a message of the list.
func (h *messageHandlers) addFinds(ctx context.Context, m *ListedMessage, pattern *regexp.Regexp) error {
	parsed, err := h.parseByID(ctx, m.ID)
	if err != nil || parsed == nil {
		return err
	}
	m.Codes, m.Links = formatCandidates(narrowCodes(code.FindIn(parsed), pattern)), findLinks(parsed)
	return nil
}

type (
	codeQuery struct {
		Mailbox   string    `query:"mailbox" maxLength:"320" doc:"Address of the mailbox."`
		MailboxID string    `query:"mailboxId" maxLength:"64" doc:"Id of the mailbox; it counts instead of mailbox."`
		After     time.Time `query:"after" doc:"Only codes in messages received later."`
		Since     time.Time `query:"since" doc:"The same as after; the later of both counts."`
		Pattern   string    `query:"pattern" maxLength:"200" doc:"Only codes that this regular expression (RE2) matches as a whole, such as [0-9]{6}."`
		Wait      int       `query:"wait" minimum:"0" maximum:"60" doc:"Wait for a code, for so many seconds."`
	}
)

// MessageCode is a verification code with the message in which it stands.
type MessageCode struct {
	Code           string          `json:"code" example:"482913"`
	Source         string          `json:"source" enum:"subject,body"`
	MessageID      string          `json:"messageId" example:"msg_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	MailboxAddress string          `json:"mailboxAddress" example:"calm-otter42@example.com"`
	ReceivedAt     api.Time        `json:"receivedAt"`
	Codes          []CodeCandidate `json:"codes" nullable:"false" doc:"As in the message by its id; with pattern, those that it matches."`
	Links          []MessageLink   `json:"links" nullable:"false" doc:"As in the message by its id."`
}

func (h *codeHandlers) getCode(ctx context.Context, in *codeQuery) (*api.Out[MessageCode], error) {
	if in.Mailbox == "" && in.MailboxID == "" {
		return nil, fault.New(fault.InvalidArgument, "mailbox is missing: set it to the address of the mailbox.").With("field", "mailbox")
	}
	var choice MessageChoice
	if in.MailboxID != "" {
		choice.MailboxID = []string{in.MailboxID}
	} else {
		choice.Mailbox = []string{in.Mailbox}
	}
	f, err := h.newFilter(ctx, choice)
	if err != nil {
		return nil, err
	}
	pattern, err := compilePattern(in.Pattern)
	if err != nil {
		return nil, err
	}
	if err := h.checkWait(ctx, f, choice, in.Wait); err != nil {
		return nil, err
	}
	f.After = laterTime(in.After, in.Since)
	if pattern != nil {
		return h.findCodeLike(ctx, f, pattern, in.Wait)
	}
	f.WithCode, f.Limit = true, 1
	found, err := h.listWaiting(ctx, f, in.Wait)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, errNoCode()
	}
	out := &api.Out[MessageCode]{Body: newMessageCode(found[0], found[0].Code, found[0].CodeSource)}
	parsed, err := h.parseByID(ctx, found[0].ID)
	if err != nil {
		return nil, err
	}
	if parsed != nil {
		out.Body.Codes, out.Body.Links = formatCandidates(code.FindIn(parsed)), findLinks(parsed)
	}
	return out, nil
}

func errNoCode() error { return fault.New(fault.NotFound, "No verification code has arrived.") }

// newMessageCode returns a code of a message, without its candidates and links.
func newMessageCode(m message.Summary, value, source string) MessageCode {
	return MessageCode{value, source, m.ID, m.MailboxAddress, api.TimeOfMillis(m.ReceivedAt), []CodeCandidate{}, []MessageLink{}}
}

// findCodeLike returns the newest code that a pattern matches, or waits for it.
func (h *codeHandlers) findCodeLike(ctx context.Context, f message.Filter, pattern *regexp.Regexp,
	wait int) (out *api.Out[MessageCode], err error) {
	f.Limit = maxPatternFinds
	err = h.waitForRequest(ctx, wait, func() (bool, error) {
		for {
			found, err := h.messages.List(ctx, f)
			if err != nil || len(found) == 0 {
				return false, err
			}
			for _, m := range found {
				f.AfterSeq = max(f.AfterSeq, m.Seq)
				if out, err = h.matchCode(ctx, m, pattern); err != nil || out != nil {
					return out != nil, err
				}
			}
			// What comes later is looked at in order, page by page.
			f.OldestFirst = true
		}
	})
	if err == nil && out == nil {
		err = errNoCode()
	}
	return out, err
}

// matchCode returns the code of a message among those that a pattern matches, nil for none.
func (h *codeHandlers) matchCode(ctx context.Context, m message.Summary, pattern *regexp.Regexp) (*api.Out[MessageCode], error) {
	parsed, err := h.parseByID(ctx, m.ID)
	if err != nil || parsed == nil {
		return nil, err
	}
	codes := narrowCodes(code.FindIn(parsed), pattern)
	best, ok := code.Best(codes)
	if !ok {
		return nil, nil
	}
	out := &api.Out[MessageCode]{Body: newMessageCode(m, best.Value, best.Source.Place())}
	out.Body.Codes, out.Body.Links = formatCandidates(codes), findLinks(parsed)
	return out, nil
}
