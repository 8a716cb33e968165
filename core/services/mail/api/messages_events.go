package api

import (
	"encoding/json"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/mail/message"
)

// declareMessageEvents declares the stream of new messages.
func (h *messageHandlers) declareMessageEvents(a *api.API) {
	text := &huma.Schema{Type: huma.TypeString}
	many := func(name, about string) *huma.Param {
		return &huma.Param{Name: name, In: "query", Description: about, Schema: &huma.Schema{Type: huma.TypeArray, Items: text},
			Explode: new(true)}
	}
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/messages/events", Policy: httpd.APIKey, Handler: h.serveMessageEvents},
		huma.Operation{
			OperationID: "message-events", Tags: []string{tagMessages}, Summary: "New messages as they arrive",
			Description: "Each event has the name message and a message as in the list. A comment comes every 15 s. To go on after a cut, send the id of the last event as the header Last-Event-ID or as afterId; the larger counts.",
			Parameters: []*huma.Param{
				many("mailbox", "Addresses of mailboxes; without any, all that the caller may see."),
				many("mailboxId", "Ids of mailboxes; they count instead of mailbox."),
				{Name: "afterId", In: "query", Description: "Go on after this event.",
					Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}},
			},
			Responses: map[string]*huma.Response{"200": {Description: "The stream.",
				Content: map[string]*huma.MediaType{"text/event-stream": {Schema: text}}}},
		})
}

// maxEventPage is how many messages are sent between two looks at the connection.
const maxEventPage = 200

// serveMessageEvents sends the messages that arrive until the client goes.
func (h *messageHandlers) serveMessageEvents(c *gin.Context) {
	ctx := c.Request.Context()
	f, err := h.newFilter(ctx, MessageChoice{Mailbox: c.QueryArray("mailbox"), MailboxID: c.QueryArray("mailboxId")})
	if err == nil {
		f.AfterSeq, err = httpd.LastEventID(c)
	}
	// The subscription comes before the look at what there is: nothing is missed between them.
	sub := h.follow(f.Caller)
	defer sub.Close()
	if err == nil && c.GetHeader("Last-Event-ID") == "" && c.Query("afterId") == "" {
		f.AfterSeq, err = h.messages.LastSeq(ctx)
	}
	var release func()
	if err == nil {
		release, err = auth.AcquireStream(c)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	defer release()
	out := httpd.NewEvents(c)
	f.OldestFirst, f.Limit = true, maxEventPage
	sendNew := func(event.Event) error {
		for {
			found, err := h.messages.List(ctx, f)
			if err != nil {
				return err
			}
			if err := sendMessages(out, found); err != nil {
				return err
			}
			if len(found) == 0 {
				return nil
			}
			f.AfterSeq = found[len(found)-1].Seq
		}
	}
	if out.Beat() != nil || sendNew(event.Event{}) != nil {
		return
	}
	auth.FollowEvents(c, out, sub.Events(), sendNew)
}

// sendMessages sends an event for each message.
func sendMessages(out *httpd.Events, found []message.Summary) error {
	for _, m := range found {
		raw, err := json.Marshal(formatMessageItem(m))
		if err != nil {
			return err
		}
		if err := out.Send(m.Seq, "message", raw); err != nil {
			return err
		}
	}
	return nil
}
