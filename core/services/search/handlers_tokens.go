package search

import (
	"context"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
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
		{"requests_hour", l.RequestsHour}, {"credits_hour", l.CreditsHour}, {"credits_day", l.CreditsDay}, {"credits_month", l.CreditsMonth}, {"requests_minute", l.RequestsMinute},
	} {
		if limit.value != nil && *limit.value < 0 {
			return invalidField("limits."+limit.field, "The limit %s must not be negative.", limit.field)
		}
	}
	return nil
}

type tokenList struct{ Body TokenPage }

// TokenPage is a page of access tokens, the newest first.
type TokenPage struct {
	Items   []AuthToken `json:"items"`
	Total   int64       `json:"total"`
	Page    int         `json:"page"`
	PerPage int         `json:"perPage"`
}

type tokenQuery struct {
	Page       int    `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	PerPage    int    `query:"per_page" minimum:"1" maximum:"200" default:"10"`
	Group      string `query:"group" maxLength:"80" doc:"Only tokens of this group."`
	NoGroup    bool   `query:"no_group" doc:"Only tokens without a group."`
	Query      string `query:"q" maxLength:"100" doc:"Looked for in ids, notes and groups, in any case."`
	Owner      string `query:"owner" maxLength:"40" doc:"bound, unbound, or the id of a user."`
	Enabled    string `query:"enabled" enum:"active,frozen"`
	QuotaState string `query:"quota_state" enum:"normal,hour,day,month"`
}

// TokenPath names an access token.
type TokenPath struct {
	ID string `path:"id" maxLength:"8" doc:"Id of the token: the part between the first two dashes."`
}

type tokenText struct {
	Body struct {
		Token string `json:"token" example:"th-a1B2-…" doc:"The whole access token."`
	}
}

// TokenBody describes an access token to make.
type TokenBody struct {
	Note      string       `json:"note" required:"false" maxLength:"500" example:"Documentation bot"`
	Group     string       `json:"group" required:"false" maxLength:"80" example:"team"`
	OwnerID   string       `json:"owner_id" required:"false" maxLength:"40" doc:"The user whom the token belongs to." example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	ExpiresAt *time.Time   `json:"expires_at" required:"false" doc:"From then on the token is refused." example:"2027-01-01T00:00:00Z"`
	Limits    *TokenLimits `json:"limits" required:"false"`
	CacheTTL  *int64       `json:"cache_ttl" required:"false" minimum:"0" maximum:"2592000" doc:"For how many seconds answers may be given again; 0 for never." example:"3600"`
}

func (s *Service) newToken(ctx context.Context, b TokenBody) (NewToken, error) {
	n := NewToken{Note: b.Note, Group: b.Group, OwnerID: b.OwnerID, CacheTTL: b.CacheTTL}
	if b.ExpiresAt != nil {
		n.ExpiresAt = *b.ExpiresAt
	}
	if l := b.Limits; l != nil {
		n.Own = *l
	}
	return n, s.checkOwner(ctx, b.OwnerID)
}

// checkOwner refuses an owner that there is not.
func (s *Service) checkOwner(ctx context.Context, id string) error {
	if id == "" {
		return nil
	}
	found, err := s.usersByID(ctx, []string{id})
	if err != nil {
		return err
	}
	if _, ok := found[id]; !ok {
		return invalidField("owner_id", "There is no such user.")
	}
	return nil
}

func (s *Service) usersByID(ctx context.Context, ids []string) (map[string]auth.User, error) {
	if s.cfg.People == nil || len(ids) == 0 {
		return nil, nil
	}
	return s.cfg.People.ByID(ctx, ids)
}

func (s *Service) listTokens(ctx context.Context, in *tokenQuery) (*tokenList, error) {
	f := TokenFilter{Query: in.Query, Owner: in.Owner, Enabled: in.Enabled, QuotaState: in.QuotaState}
	switch {
	case in.NoGroup && in.Group != "":
		return nil, invalidField("no_group", "Ask for a group or for tokens without one, not for both.")
	case in.NoGroup:
		none := ""
		f.Group = &none
	case in.Group != "":
		f.Group = &in.Group
	}
	list, err := s.Tokens(ctx, f, in.Page, in.PerPage)
	return &tokenList{list}, err
}

// Tokens lists access tokens; page counts from 1.
func (s *Service) Tokens(ctx context.Context, f TokenFilter, page, perPage int) (TokenPage, error) {
	var spent map[string]string
	if f.QuotaState != "" {
		spent = s.tokens.spentLimits()
	}
	out := TokenPage{Page: page, PerPage: perPage}
	records, total, err := s.repo.tokenPage(ctx, f, spent, page, perPage)
	if err != nil {
		return out, err
	}
	out.Total = total
	out.Items, err = s.describeTokens(ctx, records)
	return out, err
}

// Token is one access token.
func (s *Service) Token(ctx context.Context, id string) (AuthToken, error) {
	r, err := s.repo.liveToken(ctx, id)
	if err != nil {
		return AuthToken{}, err
	}
	all, err := s.describeTokens(ctx, []tokenRecord{r})
	if err != nil {
		return AuthToken{}, err
	}
	return all[0], nil
}

// describeTokens adds to tokens what they have used and whose they are.
func (s *Service) describeTokens(ctx context.Context, records []tokenRecord) ([]AuthToken, error) {
	ids, owners := make([]string, len(records)), []string{}
	for i, r := range records {
		ids[i] = r.ID
		if r.OwnerID != "" && !slices.Contains(owners, r.OwnerID) {
			owners = append(owners, r.OwnerID)
		}
	}
	people, err := s.usersByID(ctx, owners)
	if err != nil {
		return nil, err
	}
	ever, err := s.rollups.lifetimeSums(ctx, scopeToken, ids)
	if err != nil {
		return nil, err
	}
	out := make([]AuthToken, len(records))
	for i, r := range records {
		out[i] = s.describeToken(r, ever[r.ID])
		if u, ok := people[r.OwnerID]; ok {
			out[i].Owner.Of = &TokenOwner{u.ID, u.Name, u.Email}
		}
	}
	return out, nil
}

func (s *Service) describeToken(r tokenRecord, ever *tally) AuthToken {
	live := s.tokens.get(r.ID)
	if live == nil {
		// Another process has just made it.
		live = s.tokens.newToken(r)
	}
	u, l := live.counter.snapshot(s.cfg.Now()), live.limits
	return AuthToken{
		ID: r.ID, Enabled: r.Enabled, Note: r.Note, Group: r.GroupName, ExpiresAt: api.OptionalTime(r.ExpiresAt),
		Limits:    TokenLimits{r.LimitRequests, r.LimitCreditsHour, r.LimitCreditsDay, r.LimitCreditsMonth, r.LimitRequestsMinute},
		CacheTTL:  r.CacheTTL,
		CreatedAt: api.TimeOfMillis(r.CreatedAt), LastUsedAt: api.OptionalTime(ever.LastAt),
		TotalRequests: ever.Requests + ever.Refused, QuotaState: live.quotaState(s.cfg.Now()),
		MinuteUsed: u.MinuteRequests, MinuteLimit: l.RequestsMinute, MinuteResetAt: api.TimeOf(u.MinuteRequestsResetAt),
		RequestsUsed: u.HourlyRequests, RequestsLimit: l.RequestsHour, RequestsReset: api.TimeOf(u.HourlyRequestsResetAt),
		HourlyUsed: u.HourlyCredits, HourlyLimit: l.CreditsHour, HourlyResetAt: api.TimeOf(u.HourlyCreditsReset),
		DailyUsed: u.DailyCredits, DailyLimit: l.CreditsDay, DailyResetAt: api.TimeOf(u.DailyResetAt),
		MonthlyUsed: u.MonthlyCredits, MonthlyLimit: l.CreditsMonth, MonthlyResetAt: api.TimeOf(u.MonthlyResetAt),
	}
}

type tokenChange struct {
	TokenPath
	Body struct {
		Note      *string      `json:"note" required:"false" maxLength:"500" example:"Documentation bot"`
		Group     *string      `json:"group" required:"false" maxLength:"80" doc:"Empty takes the token out of its group." example:"team"`
		OwnerID   *string      `json:"owner_id" required:"false" maxLength:"40" doc:"Empty takes the owner away." example:"usr_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
		ExpiresAt *string      `json:"expires_at" required:"false" doc:"A time, or empty for none." example:"2027-01-01T00:00:00Z"`
		Enabled   *bool        `json:"enabled" required:"false" example:"false"`
		Limits    *TokenLimits `json:"limits" required:"false" doc:"Replaces all limits of the token's own; null stands for the service's default."`
		CacheTTL  *int64       `json:"cache_ttl" required:"false" minimum:"-1" maximum:"2592000" doc:"Seconds; 0 for never, -1 for the service's default." example:"3600"`
	}
}

func (s *Service) patchToken(ctx context.Context, in *tokenChange) (*struct{}, error) {
	c := TokenChange{Note: in.Body.Note, Group: in.Body.Group, OwnerID: in.Body.OwnerID, Enabled: in.Body.Enabled}
	if t := in.Body.ExpiresAt; t != nil {
		var at time.Time
		if *t != "" {
			var err error
			if at, err = time.Parse(time.RFC3339, *t); err != nil {
				return nil, invalidField("expires_at", "The time of expiry is not a time as RFC 3339 has it.")
			}
		}
		c.ExpiresAt = &at
	}
	if ttl := in.Body.CacheTTL; ttl != nil {
		c.CacheTTL = &Override{ttl}
		if *ttl < 0 {
			c.CacheTTL.Value = nil
		}
	}
	if l := in.Body.Limits; l != nil {
		c.RequestsHour, c.RequestsMinute = &Override{l.RequestsHour}, &Override{l.RequestsMinute}
		c.CreditsHour, c.CreditsDay, c.CreditsMonth = &Override{l.CreditsHour}, &Override{l.CreditsDay}, &Override{l.CreditsMonth}
	}
	return nil, s.AssignToken(ctx, in.ID, c)
}

// AssignToken changes parts of a token, and refuses an owner that there is not.
func (s *Service) AssignToken(ctx context.Context, id string, c TokenChange) error {
	if c.OwnerID != nil {
		if err := s.checkOwner(ctx, *c.OwnerID); err != nil {
			return err
		}
	}
	return s.ChangeToken(ctx, id, c)
}

func (s *Service) getToken(ctx context.Context, in *TokenPath) (*struct{ Body AuthToken }, error) {
	t, err := s.Token(ctx, in.ID)
	return &struct{ Body AuthToken }{t}, err
}

func (s *Service) postToken(ctx context.Context, in *struct{ Body TokenBody }) (*tokenText, error) {
	n, err := s.newToken(ctx, in.Body)
	if err != nil {
		return nil, err
	}
	out := &tokenText{}
	out.Body.Token, err = s.CreateToken(ctx, n)
	return out, err
}

type tokenBatch struct {
	Body struct {
		TokenBody
		Count int `json:"count" minimum:"1" maximum:"1000" example:"10"`
	}
}

type tokenTexts struct {
	Body struct {
		Tokens []string `json:"tokens"`
	}
}

func (s *Service) postTokens(ctx context.Context, in *tokenBatch) (*tokenTexts, error) {
	n, err := s.newToken(ctx, in.Body.TokenBody)
	if err != nil {
		return nil, err
	}
	if n.Group == "" {
		return nil, invalidField("group", "Tokens that are made together need a group.")
	}
	out := &tokenTexts{}
	out.Body.Tokens, err = s.CreateTokens(ctx, in.Body.Count, n)
	return out, err
}

func (s *Service) showToken(ctx context.Context, in *TokenPath) (*tokenText, error) {
	out := &tokenText{}
	var err error
	out.Body.Token, err = s.TokenText(ctx, in.ID)
	return out, err
}

func (s *Service) rotateToken(ctx context.Context, in *TokenPath) (*tokenText, error) {
	out := &tokenText{}
	var err error
	out.Body.Token, err = s.RotateToken(ctx, in.ID)
	return out, err
}
