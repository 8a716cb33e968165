package api

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/usage"
)

// settingHandlers answers requests about settings and the use of resources.
type settingHandlers struct {
	s     settingService
	usage resources
	live  *event.Bus
}

// RuleList is a list of ignore rules.
type RuleList struct {
	Rules []candidate.IgnoreRule `json:"rules"`
}

func (h *settingHandlers) listIgnores(ctx context.Context, in *struct {
	ServiceID string `query:"serviceId" maxLength:"64" doc:"Only rules of this service."`
}) (*api.Out[RuleList], error) {
	list, err := h.s.IgnoreRules(ctx, in.ServiceID)
	return api.AnswerWith(RuleList{list}, err)
}

// NewRule is an ignore rule to make.
type NewRule struct {
	Enabled *bool                 `json:"enabled" required:"false" doc:"true if it is left out."`
	Scope   candidate.IgnoreScope `json:"scope"`
	Match   candidate.RuleMatch   `json:"match"`
	Note    string                `json:"note" required:"false" maxLength:"500"`
}

// RuleID names a rule.
type RuleID struct {
	RuleID string `json:"ruleId" example:"ign_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

func (h *settingHandlers) postIgnore(ctx context.Context, in *struct{ Body NewRule }) (*api.Out[RuleID], error) {
	id, err := h.s.AddIgnoreRule(ctx, candidate.IgnoreRule{Enabled: in.Body.Enabled == nil || *in.Body.Enabled, Scope: in.Body.Scope,
		Match: in.Body.Match, Note: in.Body.Note})
	return api.AnswerWith(RuleID{id}, err)
}

// Deleted reports whether there was something to delete.
type Deleted struct {
	Deleted bool `json:"deleted"`
}

func (h *settingHandlers) deleteIgnore(ctx context.Context, in *struct{ Body RuleID }) (*api.Out[Deleted], error) {
	deleted, err := h.s.DeleteIgnoreRule(ctx, in.Body.RuleID)
	return api.AnswerWith(Deleted{deleted}, err)
}

func (h *settingHandlers) getSettings(ctx context.Context, _ *struct{}) (*api.Out[containers.SystemSettings], error) {
	return api.AnswerWith(h.s.SystemSettings(ctx))
}

func (h *settingHandlers) putSettings(ctx context.Context, in *struct{ Body containers.SettingsChange }) (*api.OKAnswer, error) {
	return api.Done(h.s.ChangeSettings(ctx, in.Body))
}

// WelcomeBody changes that.
type WelcomeBody struct {
	NeverAutoOpen bool `json:"neverAutoOpen"`
}

// WelcomeChanged is the answer to that.
type WelcomeChanged struct {
	OK bool `json:"ok"`
	containers.Welcome
}

func (h *settingHandlers) getWelcome(ctx context.Context, _ *struct{}) (*api.Out[containers.Welcome], error) {
	return api.AnswerWith(h.s.Welcome(ctx))
}

func (h *settingHandlers) putWelcome(ctx context.Context, in *struct{ Body WelcomeBody }) (*api.Out[WelcomeChanged], error) {
	if err := h.s.SetWelcome(ctx, in.Body.NeverAutoOpen); err != nil {
		return nil, err
	}
	w, err := h.s.Welcome(ctx)
	return api.AnswerWith(WelcomeChanged{OK: true, Welcome: w}, err)
}

func (h *settingHandlers) getResourceHistory(ctx context.Context, in *struct {
	ServicePath
	Window string `query:"window" enum:"3m,1h,24h,7d" default:"1h"`
}) (*api.Out[usage.ResourceHistory], error) {
	return api.AnswerWith(h.usage.History(ctx, in.ID, in.Window))
}

func (h *settingHandlers) getResourceOverview(ctx context.Context, _ *struct{}) (*api.Out[usage.ResourceOverview], error) {
	return api.AnswerWith(h.usage.Overview(ctx))
}

// handleResourceEvents sends the samples of a service: those of the last minutes at once, then each as it is taken.
func (h *settingHandlers) handleResourceEvents(c *gin.Context) error {
	ctx, id := c.Request.Context(), c.Param("service_id")
	sub := h.live.Subscribe(usage.TopicSamples + id)
	defer sub.Close()
	recent, err := h.usage.History(ctx, id, "3m")
	if err != nil {
		return err
	}
	leave := h.usage.Watch(id)
	defer leave()
	first := []outEvent{{name: "resource_usage_snapshot", data: recent}}
	return followEvents(c, first, sub.Events(), func(ev event.Event) []outEvent {
		if ev.Lagged {
			return nil
		}
		return []outEvent{{id: ev.Seq, name: ev.Type, data: ev.Data}}
	})
}
