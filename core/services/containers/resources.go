package containers

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// ResourceOverview is the newest sample of each service.
type ResourceOverview struct {
	Enabled           bool            `json:"enabled"`
	Window            string          `json:"window" enum:"3m"`
	GeneratedAt       api.Time        `json:"generatedAt"`
	StaleAfterSeconds int             `json:"staleAfterSeconds"`
	Services          []ResourceUsage `json:"services"`
}

// ResourceUsage is what a service uses.
type ResourceUsage struct {
	ServiceID     string   `json:"serviceId"`
	SampledAt     api.Time `json:"sampledAt"`
	CPUPercent    float64  `json:"cpuPercent"`
	MemUsedBytes  int64    `json:"memUsedBytes"`
	MemLimitBytes int64    `json:"memLimitBytes"`
	NetRxRate     float64  `json:"netRxRateBps" doc:"Bytes per second."`
	NetTxRate     float64  `json:"netTxRateBps" doc:"Bytes per second."`
	Stale         bool     `json:"stale"`
	SampleCount   int      `json:"sampleCount"`
}

const overviewSpan = 3 * time.Minute

// ResourceOverview reads what all services use.
func (s *Service) ResourceOverview(ctx context.Context) (ResourceOverview, error) {
	set, err := s.systemSettings(ctx)
	out := ResourceOverview{
		Enabled: set.Monitor.Enabled, Window: "3m", GeneratedAt: api.TimeOf(s.cfg.Now()), StaleAfterSeconds: max(30, 3*set.Monitor.SampleInterval), Services: []ResourceUsage{},
	}
	if err != nil || !out.Enabled {
		return out, err
	}
	// In the order of the time: in that of the services SQLite would read all samples.
	var rows []sampleRecord
	if err := s.repo.DB(ctx).Where("at >= ?", s.cfg.Now().Add(-overviewSpan).UnixMilli()).Order("at").Find(&rows).Error; err != nil {
		return out, fmt.Errorf("read the samples: %w", err)
	}
	slices.SortStableFunc(rows, func(a, b sampleRecord) int { return cmp.Compare(a.ServiceID, b.ServiceID) })
	for from := 0; from < len(rows); {
		to := from
		for to < len(rows) && rows[to].ServiceID == rows[from].ServiceID {
			to++
		}
		out.Services = append(out.Services, sumUsage(rows[from:to], s.now(), out.StaleAfterSeconds))
		from = to
	}
	return out, nil
}

// sumUsage returns the usage of one service, from its samples.
func sumUsage(rows []sampleRecord, now int64, stale int) ResourceUsage {
	first, last := rows[0], rows[len(rows)-1]
	out := ResourceUsage{
		ServiceID: last.ServiceID, SampledAt: api.TimeOfMillis(last.At), CPUPercent: last.CPU, MemUsedBytes: last.MemUsed, MemLimitBytes: last.MemLimit,
		Stale: now-last.At > int64(stale)*1000, SampleCount: len(rows),
	}
	if span := float64(last.At-first.At) / 1000; span > 0 {
		// A container that was replaced counts from zero again.
		out.NetRxRate, out.NetTxRate = max(0, float64(last.NetRx-first.NetRx)/span), max(0, float64(last.NetTx-first.NetTx)/span)
	}
	return out
}

// SystemSettings reads the settings, with how the caller was let in.
func (s *Service) SystemSettings(ctx context.Context) (SystemSettings, error) {
	set, err := s.systemSettings(ctx)
	out := SystemSettings{Backup: set.Backup, Monitor: set.Monitor, Schedules: set.Schedules, Instance: set.Instance}
	a := s.access.Load()
	out.Auth = AuthSettings{
		ForwardHeaderName: a.UserHeader, GroupHeaderName: a.GroupHeader, AllowAnonymousInDev: a.AnonymousInDev, AuthorizationMode: a.describeMode(),
		AllowedUserMasked: maskName(a.AllowedUser), AllowedGroupMasked: maskName(a.AllowedGroup), CurrentGroups: []string{},
	}
	if p := auth.From(ctx); p != nil {
		out.Auth.CurrentUser = cmp.Or(p.User.Email, p.User.Name)
		out.Auth.MatchedBy = matchedBy(p)
	}
	return out, err
}

// describeMode returns how people sign in, in words.
func (a AccessInfo) describeMode() string {
	switch {
	case a.AllowedUser != "" && a.AllowedGroup != "":
		return "user_or_group"
	case a.AllowedUser != "":
		return "user"
	case a.AllowedGroup != "":
		return "group"
	case a.AnonymousInDev:
		return "anonymous_dev"
	}
	return "none"
}

func matchedBy(p *auth.Principal) string {
	switch {
	case p.Via == auth.ViaForward:
		return "user"
	case !p.HasAccount():
		return "anonymous_dev"
	}
	return "session"
}

// maskName shows the first letter of a name.
func maskName(name string) string {
	for _, r := range name {
		return string(r) + "***"
	}
	return ""
}
