package containers

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/services/containers/news"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

// The names that the settings have for the service's events.
const (
	EventUpdate         = "update"
	EventNewVersion     = "newVersion"
	EventWebhookAnomaly = "ghcrWebhookAnomaly"
)

// NotificationEvents implements channels.Host.
func (s *Service) NotificationEvents() []channels.Event {
	return []channels.Event{
		{Name: EventUpdate, Kind: news.JobFinished}, {Name: EventNewVersion, Kind: news.NewVersionDiscovered}, {Name: EventWebhookAnomaly, Kind: news.WebhookAnomaly},
	}
}

// NotificationLocale implements channels.Host.
func (s *Service) NotificationLocale() string { return s.settings().Locale }

// WriteTest implements channels.Host.
func (s *Service) WriteTest(ctx context.Context, channel, text string) (*notify.Message, error) {
	return s.newsWriter(ctx).Test(news.TestEvent{Channel: channel, Message: text})
}

// Channels returns the settings of channels, which the service shows.
func (s *Service) Channels() *channels.Manager { return s.cfg.Channels }

// Wanted implements notify.Owner. A message about new versions is wanted as long as one of them is still a candidate.
func (s *Service) Wanted(ctx context.Context, messageID string) (bool, error) {
	if err := s.repo.dropOutdatedNotices(ctx, s.now()); err != nil {
		return false, fmt.Errorf("end old notices: %w", err)
	}
	wanted, err := s.repo.isCurrent(ctx, messageID)
	if err != nil {
		return false, fmt.Errorf("read the notices: %w", err)
	}
	return wanted, nil
}

// Ended implements notify.Owner.
func (s *Service) Ended(ctx context.Context, d notify.Delivery) error {
	all, err := s.cfg.Sender.DeliveriesOf(ctx, d.MessageID)
	if err != nil {
		return err
	}
	return s.repo.noticeEnded(ctx, d, all, s.now())
}

// PayloadFor implements notify.Owner.
func (s *Service) PayloadFor(payload json.RawMessage, channel string) (json.RawMessage, error) {
	return news.ForChannel(payload, channel, channel == sdk.RoleWebPush)
}

// ShortenPayload implements notify.Owner.
func (s *Service) ShortenPayload(payload json.RawMessage, max int64) (json.RawMessage, error) {
	return news.Shorten(payload, max)
}

// notifyAPI declares the endpoints of notifications, and the schemas of the service's payloads.
func (s *Service) notifyAPI(a *api.API) {
	s.cfg.Channels.Register(a, tagNotify)
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/schemas/:name", Policy: httpd.Public, Handler: s.handleSchema}, huma.Operation{
		OperationID: "notification-schema", Tags: []string{tagNotify}, Summary: "The JSON Schema of a payload",
		Parameters: []*huma.Param{{Name: "name", In: "path", Required: true, Description: "The payload's member schema; .schema.json may follow.", Example: news.SchemaJob, Schema: &huma.Schema{Type: huma.TypeString}}},
		Responses: map[string]*huma.Response{
			"200": {Description: "The schema.", Content: map[string]*huma.MediaType{"application/schema+json": {Schema: &huma.Schema{Type: huma.TypeObject}}}},
			"404": a.ErrorResponse("There is no such schema."),
		},
	})
}

const schemaSuffix = ".schema.json"

func (s *Service) handleSchema(c *gin.Context) {
	raw, err := fs.ReadFile(news.Schemas(), strings.TrimSuffix(c.Param("name"), schemaSuffix)+schemaSuffix)
	if err != nil {
		httpd.WriteError(c, fault.New(fault.NotFound, "There is no such schema."))
		return
	}
	c.Header("Cache-Control", "public, max-age=3600")
	c.Data(http.StatusOK, "application/schema+json", raw)
}
