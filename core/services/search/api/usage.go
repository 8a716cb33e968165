package api

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/store"
)

// usageBody is the answer of GET /api/proxy/usage.
type usageBody struct {
	TokenID               string `json:"tokenId"`
	DailySuccess          int64  `json:"dailySuccess"`
	DailyError            int64  `json:"dailyError"`
	MonthlySuccess        int64  `json:"monthlySuccess"`
	MonthlyQuotaExhausted int64  `json:"monthlyQuotaExhausted"`
	MinuteRequests        int64  `json:"minuteRequests"`
	MinuteRequestsLimit   int64  `json:"minuteRequestsLimit" doc:"0 where there is no such limit."`
	MinuteRequestsResetAt string `json:"minuteRequestsResetAt"`
	HourlyRequests        int64  `json:"hourlyRequests"`
	HourlyRequestsLimit   int64  `json:"hourlyRequestsLimit"`
	HourlyRequestsResetAt string `json:"hourlyRequestsResetAt"`
	HourlyCredits         int64  `json:"hourlyCredits"`
	HourlyCreditsLimit    int64  `json:"hourlyCreditsLimit"`
	HourlyCreditsResetAt  string `json:"hourlyCreditsResetAt"`
	DailyCredits          int64  `json:"dailyCredits"`
	DailyCreditsLimit     int64  `json:"dailyCreditsLimit"`
	DailyCreditsResetAt   string `json:"dailyCreditsResetAt"`
	MonthlyCredits        int64  `json:"monthlyCredits"`
	MonthlyCreditsLimit   int64  `json:"monthlyCreditsLimit"`
	MonthlyCreditsResetAt string `json:"monthlyCreditsResetAt"`
}

// handleUsage tells a token what it has used. It costs nothing and counts as no request.
func (h *proxyHandlers) handleUsage(c *gin.Context) {
	tok, err := h.headerToken(c)
	if err != nil {
		writeError(c, err)
		return
	}
	if err := h.access.RefreshUse(c.Request.Context(), tok.Id); err != nil {
		writeError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	h.rateHeaders(c, tok)
	c.JSON(http.StatusOK, newUsage(tok, h.now()))
}

func newUsage(t *access.Token, now time.Time) usageBody {
	u, l := t.Snapshot(now), t.Limits
	return usageBody{
		TokenID: t.Id, DailySuccess: u.DailySuccess, DailyError: u.DailyError,
		MonthlySuccess: u.MonthlySuccess, MonthlyQuotaExhausted: u.MonthlyRefused,
		MinuteRequests: u.MinuteRequests, MinuteRequestsLimit: l.RequestsMinute, MinuteRequestsResetAt: store.FormatTime(u.MinuteRequestsResetAt),
		HourlyRequests: u.HourlyRequests, HourlyRequestsLimit: l.RequestsHour, HourlyRequestsResetAt: store.FormatTime(u.HourlyRequestsResetAt),
		HourlyCredits: u.HourlyCredits, HourlyCreditsLimit: l.CreditsHour, HourlyCreditsResetAt: store.FormatTime(u.HourlyCreditsReset),
		DailyCredits: u.DailyCredits, DailyCreditsLimit: l.CreditsDay, DailyCreditsResetAt: store.FormatTime(u.DailyResetAt),
		MonthlyCredits: u.MonthlyCredits, MonthlyCreditsLimit: l.CreditsMonth, MonthlyCreditsResetAt: store.FormatTime(u.MonthlyResetAt),
	}
}
