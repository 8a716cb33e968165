package search

import (
	"context"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// maxOwn is how many tokens of one user are shown.
const maxOwn = 200

// tokensOf returns the tokens of a user, the oldest first.
func (r *repository) tokensOf(ctx context.Context, user string) (out []tokenRecord, err error) {
	err = r.db(ctx).Where("owner_id = ? AND owner_id > '' AND deleted_at = 0", user).Order("created_at, id").Limit(maxOwn).Find(&out).Error
	return out, err
}

// ownToken returns a token of the caller. That of somebody else does not exist for it.
func (s *Service) ownToken(ctx context.Context, id string) (tokenRecord, error) {
	r, err := s.repo.liveToken(ctx, id)
	if err == nil && (r.OwnerID == "" || r.OwnerID != auth.From(ctx).User.ID) {
		err = fault.New(fault.NotFound, "There is no such access token.")
	}
	return r, err
}

func (s *Service) userToken(ctx context.Context, _ *struct{}) (*tokenText, error) {
	r, err := s.repo.firstTokenOf(ctx, auth.From(ctx).User.ID, s.cfg.Now().UnixMilli())
	if err != nil {
		return nil, err
	}
	httpd.NoteObject(ctx, r.ID)
	out := &tokenText{}
	out.Body.Token, err = s.openSecret(r)
	return out, err
}

func (s *Service) userTokens(ctx context.Context, _ *struct{}) (*tokenList, error) {
	list, err := s.TokensOf(ctx, auth.From(ctx).User.ID)
	return &tokenList{list}, err
}

// TokensOf lists the access tokens of a user, the oldest first, at most 200.
func (s *Service) TokensOf(ctx context.Context, user string) (TokenPage, error) {
	out := TokenPage{Page: 1, PerPage: maxOwn}
	records, err := s.repo.tokensOf(ctx, user)
	if err != nil {
		return out, err
	}
	out.Total = int64(len(records))
	out.Items, err = s.describeTokens(ctx, records)
	return out, err
}

func (s *Service) userShow(ctx context.Context, in *TokenPath) (*tokenText, error) {
	if _, err := s.ownToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.showToken(ctx, in)
}

func (s *Service) userRotate(ctx context.Context, in *TokenPath) (*tokenText, error) {
	if _, err := s.ownToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.rotateToken(ctx, in)
}

func (s *Service) userGet(ctx context.Context, in *TokenPath) (*struct{ Body AuthToken }, error) {
	if _, err := s.ownToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.getToken(ctx, in)
}

// ChartQuery says which stretch of time a chart shows.
type ChartQuery struct {
	Window string `query:"window" enum:"1h,24h,30d" default:"24h"`
}

type tokenChart struct {
	TokenPath
	ChartQuery
}

func (s *Service) userChart(ctx context.Context, in *tokenChart) (*struct{ Body Chart }, error) {
	if _, err := s.ownToken(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.tokenChart(ctx, in)
}

// ownLogs confines filters to the caller's tokens; found is false where there are none.
func (s *Service) ownLogs(ctx context.Context, in *LogQuery) (f LogFilter, found bool, err error) {
	f = in.toFilter()
	// Which upstream key it was is none of a user's business.
	f.KeyID = ""
	if in.TokenID != "" {
		_, err := s.ownToken(ctx, in.TokenID)
		return f, true, err
	}
	own, err := s.repo.tokensOf(ctx, auth.From(ctx).User.ID)
	for _, t := range own {
		f.TokenIDs = append(f.TokenIDs, t.ID)
	}
	return f, len(own) > 0, err
}

func hideKey(r *RequestLog) { r.KeyID = "" }

// userLogs returns the requests of the caller's tokens.
func (s *Service) userLogs(ctx context.Context, in *logQuery) (*logList, error) {
	f, found, err := s.ownLogs(ctx, &in.LogQuery)
	if err != nil || !found {
		return &logList{LogPage{Items: []RequestLog{}, PageSize: in.Limit}}, err
	}
	out, err := s.Requests(ctx, f, in.Cursor, in.Limit)
	for i := range out.Items {
		hideKey(&out.Items[i])
	}
	return &logList{out}, err
}

// Dashboard is what the tokens of a user have used together.
type Dashboard struct {
	Tokens              int         `json:"tokens" doc:"How many tokens the user has."`
	RequestRate         RequestRate `json:"requestRate"`
	HourlyCreditsUsed   int64       `json:"hourlyCreditsUsed"`
	HourlyCreditsLimit  int64       `json:"hourlyCreditsLimit"`
	DailyCreditsUsed    int64       `json:"dailyCreditsUsed"`
	DailyCreditsLimit   int64       `json:"dailyCreditsLimit"`
	MonthlyCreditsUsed  int64       `json:"monthlyCreditsUsed"`
	MonthlyCreditsLimit int64       `json:"monthlyCreditsLimit"`
	DailySuccess        int64       `json:"dailySuccess"`
	DailyFailure        int64       `json:"dailyFailure"`
	MonthlySuccess      int64       `json:"monthlySuccess"`
	LastActivity        *api.Time   `json:"lastActivity" nullable:"true"`
}

// RequestRate is the rolling window of requests.
type RequestRate struct {
	Used          int64  `json:"used"`
	Limit         int64  `json:"limit"`
	WindowMinutes int64  `json:"windowMinutes"`
	Scope         string `json:"scope" enum:"user"`
}

func (s *Service) showDashboard(ctx context.Context, _ *struct{}) (*struct{ Body Dashboard }, error) {
	d, err := s.DashboardOf(ctx, auth.From(ctx).User.ID)
	return &struct{ Body Dashboard }{d}, err
}

// DashboardOf is what the tokens of a user have used together.
func (s *Service) DashboardOf(ctx context.Context, user string) (Dashboard, error) {
	records, err := s.repo.tokensOf(ctx, user)
	if err != nil {
		return Dashboard{}, err
	}
	ids := make([]string, len(records))
	for i, r := range records {
		ids[i] = r.ID
	}
	ever, err := s.rollups.lifetimeSums(ctx, scopeToken, ids)
	if err != nil {
		return Dashboard{}, err
	}
	out := Dashboard{Tokens: len(records), RequestRate: RequestRate{WindowMinutes: ringMinutes, Scope: "user"}}
	var last int64
	for _, r := range records {
		t := s.tokens.get(r.ID)
		if t == nil {
			t = s.tokens.newToken(r)
		}
		u, l := t.counter.snapshot(s.cfg.Now()), t.limits
		out.RequestRate.Used += u.HourlyRequests
		out.RequestRate.Limit += l.RequestsHour
		out.HourlyCreditsUsed, out.HourlyCreditsLimit = out.HourlyCreditsUsed+u.HourlyCredits, out.HourlyCreditsLimit+l.CreditsHour
		out.DailyCreditsUsed, out.DailyCreditsLimit = out.DailyCreditsUsed+u.DailyCredits, out.DailyCreditsLimit+l.CreditsDay
		out.MonthlyCreditsUsed, out.MonthlyCreditsLimit = out.MonthlyCreditsUsed+u.MonthlyCredits, out.MonthlyCreditsLimit+l.CreditsMonth
		out.DailySuccess, out.DailyFailure, out.MonthlySuccess = out.DailySuccess+u.DailySuccess, out.DailyFailure+u.DailyError, out.MonthlySuccess+u.MonthlySuccess
		last = max(last, ever[r.ID].LastAt)
	}
	out.LastActivity = api.OptionalTime(last)
	return out, nil
}

type logoutAnswer struct {
	SetCookie http.Cookie `header:"Set-Cookie"`
}

// endSession ends the session of the request. With an API key there is none to end.
func (s *Service) endSession(ctx context.Context, _ *struct{}) (*logoutAnswer, error) {
	if p := auth.From(ctx); p.SessionID != "" && s.cfg.Sessions != nil {
		if err := s.cfg.Sessions.EndSession(ctx, p.SessionID); err != nil {
			return nil, err
		}
	}
	return &logoutAnswer{*auth.Cookie("", false)}, nil
}

// Summary is what everybody may know about the service.
type Summary struct {
	TotalRequests         int64     `json:"total_requests" example:"1234"`
	SuccessCount          int64     `json:"success_count"`
	ErrorCount            int64     `json:"error_count"`
	QuotaExhaustedCount   int64     `json:"quota_exhausted_count" doc:"Requests that a limit has turned away."`
	ActiveKeys            int       `json:"active_keys" doc:"Keys that rest for a moment included."`
	ExhaustedKeys         int       `json:"exhausted_keys"`
	QuarantinedKeys       int       `json:"quarantined_keys" doc:"Always 0: for administrators the list of keys tells."`
	TemporaryIsolatedKeys int       `json:"temporary_isolated_keys" doc:"Always 0, as above."`
	LastActivity          *api.Time `json:"last_activity" nullable:"true"`
	TotalQuotaLimit       int64     `json:"total_quota_limit"`
	TotalQuotaRemaining   int64     `json:"total_quota_remaining"`
}

func (s *Service) showSummary(ctx context.Context, _ *struct{}) (*struct{ Body Summary }, error) {
	sum, err := s.Summary(ctx)
	return &struct{ Body Summary }{sum}, err
}

// Summary adds up all requests, and tells about the key pool what everybody may know.
func (s *Service) Summary(ctx context.Context) (Summary, error) {
	ever, err := s.rollups.lifetimeSums(ctx, scopeAll, []string{""})
	if err != nil {
		return Summary{}, err
	}
	limit, left, err := s.repo.quotaTotals(ctx)
	if err != nil {
		return Summary{}, err
	}
	t, keys := ever[""], s.pool.countStates()
	return Summary{
		TotalRequests: t.Requests + t.Refused, SuccessCount: t.Successes, ErrorCount: t.Errors, QuotaExhaustedCount: t.Refused,
		ActiveKeys: keys[KeyActive] + keys[KeyCooling], ExhaustedKeys: keys[KeyExhausted], LastActivity: api.OptionalTime(t.LastAt),
		TotalQuotaLimit: limit, TotalQuotaRemaining: left,
	}, nil
}

func (r *repository) quotaTotals(ctx context.Context) (limit, left int64, err error) {
	var row struct{ Granted, Remaining int64 }
	err = r.db(ctx).Raw("SELECT COALESCE(SUM(quota_limit), 0) AS granted, COALESCE(SUM(CASE WHEN quota_used < quota_limit THEN quota_limit - quota_used ELSE 0 END), 0) AS remaining " +
		"FROM search_keys WHERE deleted_at = 0 AND quota_limit > 0").Scan(&row).Error
	return row.Granted, row.Remaining, err
}

// Windows are the sums of calendar stretches in UTC.
type Windows struct {
	Today     ChartSums `json:"today"`
	Yesterday ChartSums `json:"yesterday"`
	Month     ChartSums `json:"month"`
}

func (s *Service) showWindows(ctx context.Context, _ *struct{}) (*struct{ Body Windows }, error) {
	now := s.cfg.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
	from := earlierOf(month, today.Add(-24*time.Hour))
	days, err := s.pointsOf(ctx, scopeAll, "", stepHour, int64(24*time.Hour/time.Second), from.Unix(), now.Unix()+1)
	if err != nil {
		return nil, err
	}
	var sums [3]tally
	for i := range days {
		d := &days[i]
		if d.Start >= today.Unix() {
			sums[0].addScaled(&d.tally, 1)
		} else if d.Start >= today.Add(-24*time.Hour).Unix() {
			sums[1].addScaled(&d.tally, 1)
		}
		if d.Start >= month.Unix() {
			sums[2].addScaled(&d.tally, 1)
		}
	}
	return &struct{ Body Windows }{Windows{sums[0].chartSums(), sums[1].chartSums(), sums[2].chartSums()}}, nil
}
