package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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
	f.OldestFirst, f.Limit = true, maxEventPage
	sendNew := func(out *httpd.Events, _ event.Event) error {
		for {
			found, err := h.messages.List(ctx, f)
			if err != nil || len(found) == 0 {
				return err
			}
			for _, m := range found {
				if err := out.SendJSON(m.Seq, "message", formatMessageItem(m)); err != nil {
					return err
				}
				f.AfterSeq = m.Seq
			}
		}
	}
	begin := func(out *httpd.Events) error {
		if err := out.Beat(); err != nil {
			return err
		}
		return sendNew(out, event.Event{})
	}
	if err == nil {
		err = auth.StreamEvents(c, begin, sub.Events(), sendNew)
	}
	if err != nil {
		httpd.WriteError(c, err)
	}
}
