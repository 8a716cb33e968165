package containers

import (
	"context"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/notify/kinds"
)

func (s *Service) notifyAPI(a *api.API) {
	get, post, put, del := http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete
	api.Register(a, op("notifications", get, "/api/notifications", tagNotify, "Settings of notifications"), s.getNotifications)
	api.Register(a, withText(op("notifications-change", put, "/api/notifications", tagNotify, "Change the settings of notifications"),
		"Members that are left out stay as they are, and so do secrets that are empty or masked. A channel can be switched on only if it is complete."), s.putNotifications)
	api.Register(a, withText(op("notifications-test", post, "/api/notifications/test", tagNotify, "Send a test"),
		"To one channel, also one that is switched off, or to all that are on: once each. The answer comes when all have ended, after 35 s at most."), s.postNotificationTest)
	api.Register(a, op("notifications-history", get, "/api/notifications/history", tagNotify, "What was sent, and what became of it"), s.getNotificationHistory)
	api.Register(a, op("push-subscriptions", get, "/api/web-push/subscriptions", tagNotify, "List the browsers that have subscribed"), s.listSubscriptions)
	api.Register(a, withText(op("push-subscribe", post, "/api/web-push/subscriptions", tagNotify, "Create or update a subscription"),
		"The subscription as the browser's Push API tells it; one with the same endpoint is replaced."), s.postSubscription)
	api.Register(a, op("push-unsubscribe", del, "/api/web-push/subscriptions", tagNotify, "Delete a subscription"), s.deleteSubscription)
	api.Register(a, withText(op("push-keys", post, "/api/web-push/keys", tagNotify, "Make a pair of VAPID keys"), "All subscriptions end: they are bound to the former keys."), s.postPushKeys)
	a.Document(httpd.Route{Method: get, Path: "/schemas/:name", Policy: httpd.Public, Handler: s.handleSchema}, huma.Operation{
		OperationID: "notification-schema", Tags: []string{tagNotify}, Summary: "The JSON Schema of a payload",
		Parameters: []*huma.Param{{Name: "name", In: "path", Required: true, Description: "The payload's member schema; .schema.json may follow.", Example: kinds.SchemaJob, Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The schema.", Content: map[string]*huma.MediaType{"application/schema+json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
			"404": a.ErrorResponse("There is no such schema."),
		},
	})
}

const schemaSuffix = ".schema.json"

func (s *Service) handleSchema(c *gin.Context) {
	raw, err := fs.ReadFile(kinds.Schemas(), strings.TrimSuffix(c.Param("name"), schemaSuffix)+schemaSuffix)
	if err != nil {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is no such schema."))
		return
	}
	c.Header("Cache-Control", "public, max-age=3600")
	c.Data(http.StatusOK, "application/schema+json", raw)
}

func (s *Service) getNotifications(ctx context.Context, _ *struct{}) (*struct{ Body NotificationSettings }, error) {
	set, err := s.NotificationSettings(ctx)
	return &struct{ Body NotificationSettings }{set}, err
}

func (s *Service) putNotifications(ctx context.Context, in *struct{ Body NotificationChange }) (*okAnswer, error) {
	return done(s.ChangeNotifications(ctx, in.Body))
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

func (s *Service) postNotificationTest(ctx context.Context, in *struct {
	Body *TestRequest `required:"false"`
}) (*struct{ Body TestAnswer }, error) {
	req := TestRequest{}
	if in.Body != nil {
		req = *in.Body
	}
	got, err := s.TestNotification(ctx, req.Channel, req.Message)
	out := TestAnswer{OK: len(got) > 0, Results: got}
	for _, r := range got {
		out.OK = out.OK && r.OK
	}
	return &struct{ Body TestAnswer }{out}, err
}

// History is a page of what was sent.
type History struct {
	Notifications []SentMessage `json:"notifications"`
	Next          string        `json:"nextBefore,omitempty" doc:"before of the next page; left out at the end."`
}

func (s *Service) getNotificationHistory(ctx context.Context, in *struct {
	Before string `query:"before" maxLength:"64" doc:"Only those before this one."`
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
}) (*struct{ Body History }, error) {
	list, err := s.NotificationHistory(ctx, in.Before, in.Limit+1)
	out := History{Notifications: list}
	if len(list) > in.Limit {
		out.Notifications = list[:in.Limit]
		out.Next = list[in.Limit-1].ID
	}
	return &struct{ Body History }{out}, err
}

// SubscriberList is a list of subscriptions.
type SubscriberList struct {
	Subscriptions []Subscriber `json:"subscriptions"`
}

func (s *Service) listSubscriptions(ctx context.Context, _ *struct{}) (*struct{ Body SubscriberList }, error) {
	list, err := s.Subscribers(ctx)
	return &struct{ Body SubscriberList }{SubscriberList{list}}, err
}

func (s *Service) postSubscription(ctx context.Context, in *struct {
	Agent string `header:"User-Agent"`
	Body  Subscription
}) (*okAnswer, error) {
	return done(s.Subscribe(ctx, in.Body, in.Agent))
}

// Unsubscription names a subscription.
type Unsubscription struct {
	Endpoint string `json:"endpoint" maxLength:"2048" required:"false" example:"https://push.example.net/send/abc"`
	ID       string `json:"id" required:"false" maxLength:"64" doc:"Instead of the endpoint, which only the browser knows."`
}

func (s *Service) deleteSubscription(ctx context.Context, in *struct{ Body Unsubscription }) (*okAnswer, error) {
	deleted, err := s.Unsubscribe(ctx, in.Body.Endpoint, in.Body.ID)
	return &okAnswer{OK{deleted}}, err
}

// PushKey is the public one of a pair.
type PushKey struct {
	PublicKey string `json:"vapidPublicKey"`
}

func (s *Service) postPushKeys(ctx context.Context, _ *struct{}) (*struct{ Body PushKey }, error) {
	key, err := s.MakeVAPIDKeys(ctx)
	return &struct{ Body PushKey }{PushKey{key}}, err
}
