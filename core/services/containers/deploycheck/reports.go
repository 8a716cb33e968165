package deploycheck

import (
	"context"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/notify/channels"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Settings are those of the service that the checks need.
type Settings struct {
	ComposeBin string
	// Timeout is how long each check may take.
	Timeout time.Duration
}

// Access tells how people are let in. Names are masked.
type Access struct {
	AllowedUser, AllowedGroup string
	// AnonymousInDev lets callers without an identity in while there is no allowlist.
	AnonymousInDev bool
	// OpenLoopback tells that names are believed from this machine without a secret although others reach the listener.
	OpenLoopback   bool
	TrustedProxies []string
}

// registries is what the checks need to know of registries.
type registries interface {
	// Credentials returns the hosts that there are credentials for.
	Credentials(ctx context.Context, hosts []string) ([]string, error)
	// CoolingHosts returns the hosts that limit requests, with the end of the pause.
	CoolingHosts(ctx context.Context) map[string]time.Time
}

// webhooks is what the checks need to know of package webhooks.
type webhooks interface {
	Setup(ctx context.Context) (webhook.Setup, error)
}

// Config is what reports need.
type Config struct {
	Store         *record.Store
	Jobs          *work.Queue
	Engine        func() client.Engine
	Channels      *channels.Manager
	Registries    registries
	Webhooks      webhooks
	Settings      func() Settings
	Access        func() Access
	Backups       func(ctx context.Context) (backup.BackupSettings, error)
	PublicBaseURL func(ctx context.Context) string
	ReadableRoots func() []string
	Now           func() time.Time
}

// Reports makes and keeps the reports.
type Reports struct{ cfg Config }

// New returns the reports.
func New(cfg Config) *Reports { return &Reports{cfg} }

func (r *Reports) nowMillis() int64 { return store.Millis(r.cfg.Now()) }

// Report is what the deploy check found.
type Report struct {
	Overall     ReportOverall `json:"overall"`
	GeneratedAt api.Time      `json:"generatedAt"`
	Checks      []ReportCheck `json:"checks"`
	Refreshing  bool          `json:"refreshing,omitempty" doc:"A newer report is being made."`
}

// ReportOverall sums the checks up.
type ReportOverall struct {
	Result   string   `json:"result" enum:"pass,fail"`
	Blocking []string `json:"blockingCheckIds"`
	Summary  string   `json:"summary"`
}

// ReportCheck is one check, with what to do about it.
type ReportCheck struct {
	ID             string `json:"id" example:"core.docker_engine"`
	Title          string `json:"title"`
	Group          string `json:"group" enum:"core,feature"`
	Required       bool   `json:"required"`
	Status         string `json:"status" enum:"pass,fail,na"`
	NAReason       string `json:"naReason,omitempty" enum:"disabled_by_switch,missing_prerequisite,not_applicable"`
	Summary        string `json:"summary"`
	Impact         string `json:"impact,omitempty"`
	Evidence       string `json:"evidence,omitempty"`
	Recommendation string `json:"recommendation,omitempty"`
}

// Why a check says nothing.
const (
	naSwitch = "disabled_by_switch"
	naPrereq = "missing_prerequisite"
	naNone   = "not_applicable"
)

func passCheck(summary, evidence string) ReportCheck {
	return ReportCheck{Status: "pass", Required: true, Summary: summary, Evidence: evidence}
}

func failCheck(summary, impact, evidence, remedy string) ReportCheck {
	return ReportCheck{Status: "fail", Required: true, Summary: summary, Impact: impact, Evidence: evidence, Recommendation: remedy}
}

func skipCheck(why, summary string) ReportCheck {
	return ReportCheck{Status: "na", NAReason: why, Summary: summary}
}
