package channels

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// handlers answers the requests.
type handlers struct{ *Manager }

// Register declares the endpoints below /api/notifications and /api/web-push, with a tag of the document.
func (m *Manager) Register(a *api.API, tag string) {
	h := handlers{m}
	op := func(id, method, path, summary, text string) api.Operation {
		return api.Operation{ID: id, Method: method, Path: path, Policy: httpd.Forward, Tag: tag, Summary: summary, Description: text}
	}
	get, post, put, del := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	api.Register(a, op("notifications", get, "/api/notifications", "Settings of notifications", ""), h.getNotifications)
	api.Register(a, op("notifications-change", put, "/api/notifications", "Change the settings of notifications",
		"Members that are left out stay as they are, and so do secrets that are empty or masked. A channel can be switched on only if it is complete."), h.putNotifications)
	api.Register(a, op("notifications-test", post, "/api/notifications/test", "Send a test",
		"To one channel, also one that is switched off, or to all that are on: once each. The answer comes when all have ended, after 35 s at most."), h.postNotificationTest)
	api.Register(a, op("notifications-history", get, "/api/notifications/history", "What was sent, and what became of it", ""),
		h.getNotificationHistory)
	api.Register(a, op("push-subscriptions", get, "/api/web-push/subscriptions", "List the browsers that have subscribed", ""),
		h.listSubscriptions)
	api.Register(a, op("push-subscribe", post, "/api/web-push/subscriptions", "Create or update a subscription",
		"The subscription as the browser's Push API tells it; one with the same endpoint is replaced."), h.postSubscription)
	api.Register(a, op("push-unsubscribe", del, "/api/web-push/subscriptions", "Delete a subscription", ""), h.deleteSubscription)
	api.Register(a, op("push-keys", post, "/api/web-push/keys", "Make a pair of VAPID keys",
		"All subscriptions end: they are bound to the former keys."), h.postPushKeys)
}

func (h handlers) getNotifications(ctx context.Context, _ *struct{}) (*api.Out[NotificationSettings], error) {
	return api.AnswerWith(h.Settings(ctx))
}

func (h handlers) putNotifications(ctx context.Context, in *struct{ Body NotificationChange }) (*api.OKAnswer, error) {
	return api.Done(h.Change(ctx, in.Body))
}

// TestRequest asks for a test.
type TestRequest struct {
	Message string `json:"message" required:"false" doc:"At most 500 characters." example:"It works."`
	Channel string `json:"channel" required:"false" maxLength:"200" doc:"chat, email, webhook, webPush or the name of a further channel; empty for all that are switched on." example:"email"`
}

// TestAnswer tells what became of it.
type TestAnswer struct {
	OK      bool                  `json:"ok" doc:"Whether every channel has delivered it. false if there is none."`
	Results map[string]TestResult `json:"results"`
}

func (h handlers) postNotificationTest(ctx context.Context, in *struct {
	Body *TestRequest `required:"false"`
}) (*api.Out[TestAnswer], error) {
	req := TestRequest{}
	if in.Body != nil {
		req = *in.Body
	}
	got, err := h.SendTest(ctx, req.Channel, req.Message)
	out := TestAnswer{OK: len(got) > 0, Results: got}
	for _, r := range got {
		out.OK = out.OK && r.OK
	}
	return api.AnswerWith(out, err)
}

// History is a page of what was sent.
type History struct {
	Notifications []SentMessage `json:"notifications"`
	Next          string        `json:"nextBefore,omitempty" doc:"before of the next page; left out at the end."`
}

func (h handlers) getNotificationHistory(ctx context.Context, in *struct {
	Before string `query:"before" maxLength:"64" doc:"Only those before this one."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*api.Out[History], error) {
	list, err := h.History(ctx, in.Before, in.Limit+1)
	out := History{Notifications: list}
	if len(list) > in.Limit {
		out.Notifications = list[:in.Limit]
		out.Next = list[in.Limit-1].ID
	}
	return api.AnswerWith(out, err)
}

// SubscriberList is a list of subscriptions.
type SubscriberList struct {
	Subscriptions []Subscriber `json:"subscriptions"`
}

func (h handlers) listSubscriptions(ctx context.Context, _ *struct{}) (*api.Out[SubscriberList], error) {
	list, err := h.Subscribers(ctx)
	return api.AnswerWith(SubscriberList{list}, err)
}

func (h handlers) postSubscription(ctx context.Context, in *struct {
	Agent string `header:"User-Agent"`
	Body  Subscription
}) (*api.OKAnswer, error) {
	return api.Done(h.Subscribe(ctx, in.Body, in.Agent))
}

// Unsubscription names a subscription.
type Unsubscription struct {
	Endpoint string `json:"endpoint" maxLength:"2048" required:"false" example:"https://push.example.net/send/abc"`
	ID       string `json:"id" required:"false" maxLength:"64" doc:"Instead of the endpoint, which only the browser knows."`
}

func (h handlers) deleteSubscription(ctx context.Context, in *struct{ Body Unsubscription }) (*api.OKAnswer, error) {
	deleted, err := h.Unsubscribe(ctx, in.Body.Endpoint, in.Body.ID)
	return &api.OKAnswer{Body: api.OK{OK: deleted}}, err
}

// PushKey is the public one of a pair.
type PushKey struct {
	PublicKey string `json:"vapidPublicKey"`
}

func (h handlers) postPushKeys(ctx context.Context, _ *struct{}) (*api.Out[PushKey], error) {
	key, err := h.MakeVAPIDKeys(ctx)
	return api.AnswerWith(PushKey{key}, err)
}
