package access

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// AuthToken is an access token in lists.
type AuthToken struct {
	ID             string                   `json:"id" example:"a1B2"`
	Enabled        bool                     `json:"enabled" example:"false"`
	Note           string                   `json:"note" example:"Documentation bot"`
	Group          string                   `json:"group" doc:"Empty for tokens without a group." example:"team"`
	Owner          api.Optional[TokenOwner] `json:"owner" doc:"Null for tokens without an owner."`
	ExpiresAt      *api.Time                `json:"expires_at" nullable:"true" example:"2027-01-01T00:00:00Z"`
	Limits         TokenLimits              `json:"limits" doc:"The token's own limits; null where the service's default counts."`
	CacheTTL       *int64                   `json:"cache_ttl" doc:"For how many seconds answers may be given again; null where the service's default counts." example:"3600"`
	CreatedAt      api.Time                 `json:"created_at" example:"2026-01-31T12:00:00.000Z"`
	LastUsedAt     *api.Time                `json:"last_used_at" nullable:"true" example:"2026-01-31T12:00:00.000Z"`
	TotalRequests  int64                    `json:"total_requests" doc:"Requests since the token was made." example:"1234"`
	QuotaState     string                   `json:"quota_state" enum:"normal,hour,day,month" doc:"The widest window of the quota that is used up."`
	MinuteUsed     int64                    `json:"quota_minute_used" doc:"Requests in the rolling minute."`
	MinuteLimit    int64                    `json:"quota_minute_limit" doc:"0 where there is no such limit."`
	MinuteResetAt  api.Time                 `json:"quota_minute_reset_at"`
	RequestsUsed   int64                    `json:"quota_requests_used" doc:"Requests in the rolling hour."`
	RequestsLimit  int64                    `json:"quota_requests_limit"`
	RequestsReset  api.Time                 `json:"quota_requests_reset_at"`
	HourlyUsed     int64                    `json:"quota_hourly_used" doc:"Credits in the rolling hour."`
	HourlyLimit    int64                    `json:"quota_hourly_limit"`
	HourlyResetAt  api.Time                 `json:"quota_hourly_reset_at"`
	DailyUsed      int64                    `json:"quota_daily_used" example:"12"`
	DailyLimit     int64                    `json:"quota_daily_limit" example:"500"`
	DailyResetAt   api.Time                 `json:"quota_daily_reset_at"`
	MonthlyUsed    int64                    `json:"quota_monthly_used"`
	MonthlyLimit   int64                    `json:"quota_monthly_limit"`
	MonthlyResetAt api.Time                 `json:"quota_monthly_reset_at"`
}

// TokenOwner is the user whom a token belongs to.
type TokenOwner struct {
	UserID      string `json:"userId" example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	DisplayName string `json:"displayName" example:"Ann"`
	Username    string `json:"username" doc:"The user's email address." example:"ann@example.com"`
}

// TokenLimits are limits of a token's own.
type TokenLimits struct {
	RequestsHour   *int64 `json:"requests_hour" required:"false" minimum:"0" doc:"Requests in a rolling hour." example:"1000"`
	CreditsHour    *int64 `json:"credits_hour" required:"false" minimum:"0" doc:"Credits in a rolling hour." example:"200"`
	CreditsDay     *int64 `json:"credits_day" required:"false" minimum:"0" doc:"Credits in a UTC day." example:"1000"`
	CreditsMonth   *int64 `json:"credits_month" required:"false" minimum:"0" doc:"Credits in a UTC month." example:"10000"`
	RequestsMinute *int64 `json:"requests_minute" required:"false" minimum:"0" doc:"Requests in a rolling minute; 0 for no such limit." example:"60"`
}

// check refuses negative limits.
func (l TokenLimits) check() error {
	for _, limit := range []struct {
		field string
		value *int64
	}{
		{"requests_hour", l.RequestsHour}, {"credits_hour", l.CreditsHour}, {"credits_day", l.CreditsDay}, {"credits_month", l.CreditsMonth},
		{"requests_minute", l.RequestsMinute},
	} {
		if limit.value != nil && *limit.value < 0 {
			return fault.InvalidField("limits."+limit.field, "The limit %s must not be negative.", limit.field)
		}
	}
	return nil
}

// TokenPage is a page of access tokens, the newest first.
type TokenPage struct {
	Items   []AuthToken `json:"items"`
	Total   int64       `json:"total"`
	Page    int         `json:"page"`
	PerPage int         `json:"perPage"`
}

// FindTokens lists access tokens; page counts from 1.
func (a *Access) FindTokens(ctx context.Context, f TokenFilter, page, perPage int) (TokenPage, error) {
	var spent map[string]string
	if f.QuotaState != "" {
		if err := a.RefreshUse(ctx); err != nil {
			return TokenPage{}, err
		}
		spent = a.table.spentLimits()
	}
	out := TokenPage{Page: page, PerPage: perPage}
	records, total, err := a.Store.TokenPage(ctx, f, spent, page, perPage)
	if err != nil {
		return out, err
	}
	out.Total = total
	out.Items, err = a.describeTokens(ctx, records)
	return out, err
}

// Token is one access token.
func (a *Access) Token(ctx context.Context, id string) (AuthToken, error) {
	r, err := a.Store.liveToken(ctx, id)
	if err != nil {
		return AuthToken{}, err
	}
	all, err := a.describeTokens(ctx, []tokenRecord{r})
	if err != nil {
		return AuthToken{}, err
	}
	return all[0], nil
}

// describeTokens adds to tokens what they have used and whose they are.
func (a *Access) describeTokens(ctx context.Context, records []tokenRecord) ([]AuthToken, error) {
	ids, owners := make([]string, len(records)), []string{}
	for i, r := range records {
		ids[i] = r.ID
		if r.OwnerID != "" && !slices.Contains(owners, r.OwnerID) {
			owners = append(owners, r.OwnerID)
		}
	}
	people, err := a.usersByID(ctx, owners)
	if err != nil {
		return nil, err
	}
	ever, err := a.requests.LifetimeSums(ctx, audit.ScopeToken, ids)
	if err != nil {
		return nil, err
	}
	if len(ids) > 0 {
		if err := a.RefreshUse(ctx, ids...); err != nil {
			return nil, err
		}
	}
	out := make([]AuthToken, len(records))
	for i, r := range records {
		out[i] = a.describeToken(r, ever[r.ID])
		if u, ok := people[r.OwnerID]; ok {
			out[i].Owner.Of = &TokenOwner{u.ID, u.Name, u.Email}
		}
	}
	return out, nil
}

func (a *Access) describeToken(r tokenRecord, ever *audit.RequestSums) AuthToken {
	live := a.table.Get(r.ID)
	if live == nil {
		// Another process has just made it.
		live = a.table.newToken(r)
	}
	u, l := live.Snapshot(a.now()), live.Limits
	return AuthToken{
		ID: r.ID, Enabled: r.Enabled, Note: r.Note, Group: r.GroupName, ExpiresAt: api.OptionalTime(r.ExpiresAt),
		Limits:    TokenLimits{r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute},
		CacheTTL:  r.CacheTTL,
		CreatedAt: api.TimeOfMillis(r.CreatedAt), LastUsedAt: api.OptionalTime(ever.LastAt),
		TotalRequests: ever.Requests + ever.Refused, QuotaState: live.quotaState(a.now()),
		MinuteUsed: u.MinuteRequests, MinuteLimit: l.RequestsMinute, MinuteResetAt: api.TimeOf(u.MinuteRequestsResetAt),
		RequestsUsed: u.HourlyRequests, RequestsLimit: l.RequestsHour, RequestsReset: api.TimeOf(u.HourlyRequestsResetAt),
		HourlyUsed: u.HourlyCredits, HourlyLimit: l.CreditsHour, HourlyResetAt: api.TimeOf(u.HourlyCreditsReset),
		DailyUsed: u.DailyCredits, DailyLimit: l.CreditsDay, DailyResetAt: api.TimeOf(u.DailyResetAt),
		MonthlyUsed: u.MonthlyCredits, MonthlyLimit: l.CreditsMonth, MonthlyResetAt: api.TimeOf(u.MonthlyResetAt),
	}
}

// CheckUser refuses an owner that there is not.
func (a *Access) CheckUser(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	found, err := a.usersByID(ctx, []string{id})
	if err != nil {
		return err
	}
	if _, ok := found[id]; !ok {
		return fault.InvalidField("owner_id", "There is no such user.")
	}
	return nil
}

func (a *Access) usersByID(ctx context.Context, ids []string) (map[string]auth.User, error) {
	if a.people == nil || len(ids) == 0 {
		return nil, nil
	}
	return a.people.ByID(ctx, ids)
}

// AssignToken changes parts of a token, and refuses an owner that there is not.
func (a *Access) AssignToken(ctx context.Context, id string, c TokenChange) error {
	if c.OwnerID != nil {
		if err := a.CheckUser(ctx, *c.OwnerID); err != nil {
			return err
		}
	}
	return a.ChangeToken(ctx, id, c)
}

// TokensOf lists the access tokens of a user, the oldest first, at most 200.
func (a *Access) TokensOf(ctx context.Context, user string) (TokenPage, error) {
	out := TokenPage{Page: 1, PerPage: maxOwn}
	records, err := a.Store.TokensOf(ctx, user)
	if err != nil {
		return out, err
	}
	out.Total = int64(len(records))
	out.Items, err = a.describeTokens(ctx, records)
	return out, err
}

// maxOwn is how many tokens of one user are shown.
const maxOwn = 200

// HasTokens reports whether there is any access token yet.
func (a *Access) HasTokens(ctx context.Context) (bool, error) { return a.Store.hasTokens(ctx) }

// UsedUp returns the limits of a token that refuse requests at present, the one that lasts longest first.
func (t *AuthToken) UsedUp() (out []audit.ReachedLimit) {
	for _, l := range []audit.ReachedLimit{
		{Scope: "credits", Window: "month", Limit: t.MonthlyLimit, Used: t.MonthlyUsed, ResetAt: t.MonthlyResetAt},
		{Scope: "credits", Window: "day", Limit: t.DailyLimit, Used: t.DailyUsed, ResetAt: t.DailyResetAt},
		{Scope: "credits", Window: "hour", Limit: t.HourlyLimit, Used: t.HourlyUsed, ResetAt: t.HourlyResetAt},
		{Scope: "requests", Window: "hour", Limit: t.RequestsLimit, Used: t.RequestsUsed, ResetAt: t.RequestsReset},
	} {
		if l.Used >= l.Limit {
			out = append(out, l)
		}
	}
	if t.MinuteLimit > 0 && t.MinuteUsed >= t.MinuteLimit {
		out = append(out, audit.ReachedLimit{Scope: "requests", Window: "minute", Limit: t.MinuteLimit, Used: t.MinuteUsed,
			ResetAt: t.MinuteResetAt})
	}
	return out
}

// CheckToken returns an error for a token that there is not.
func (a *Access) CheckToken(ctx context.Context, id string) error {
	_, err := a.Store.liveToken(ctx, id)
	return err
}

// CheckOwner returns an error for a token of somebody else: it does not exist for the user.
func (a *Access) CheckOwner(ctx context.Context, id, user string) error {
	r, err := a.Store.liveToken(ctx, id)
	if err == nil && (r.OwnerID == "" || r.OwnerID != user) {
		err = fault.New(fault.NotFound, "There is no such access token.")
	}
	return err
}

// FirstTokenText shows the text of the first token of a user that can be used.
func (a *Access) FirstTokenText(ctx context.Context, user string) (string, error) {
	r, err := a.Store.FirstTokenOf(ctx, user, a.now().UnixMilli())
	if err != nil {
		return "", err
	}
	httpd.NoteObject(ctx, r.ID)
	return a.openSecret(r)
}

// TokenIDs returns the ids of the tokens of a user, the oldest first, at most 200.
func (a *Access) TokenIDs(ctx context.Context, user string) (ids []string, err error) {
	own, err := a.Store.TokensOf(ctx, user)
	for _, t := range own {
		ids = append(ids, t.ID)
	}
	return ids, err
}
