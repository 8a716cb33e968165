package webhook

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// The states of a repository's webhook.
const (
	StateUnknown  = "unknown"
	StateOK       = "ok"
	StateMissing  = "missing"
	StateConflict = "conflict"
	StateError    = "error"
	StateQueued   = "queued"
	hookRunning   = "running"
)

// What a job does with webhooks.
const (
	OpRegister     = "register"
	hookUnregister = "unregister"
	OpAuditAll     = "audit_all"
	OpSync         = "sync"
)

// targetRecord is an input that people track repositories by.
type targetRecord struct {
	Input     string `gorm:"primaryKey"`
	Kind      string
	Owner     string
	Warnings  []string `gorm:"serializer:json"`
	CreatedAt int64    `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (targetRecord) TableName() string { return "containers_targets" }

// repoRecord is a repository that is tracked.
type repoRecord struct {
	// Name is FullName in lower case.
	Name         string `gorm:"primaryKey"`
	FullName     string
	Selected     bool
	Visibility   string
	LastActivity int64
	WebhookState string
	HookID       string
	// JobID is the last job that was made for it, and the one that it waits for while its state is queued or running.
	JobID string
	// Removing: it is forgotten once its webhook is gone.
	Removing    bool
	LastOp      string
	LastError   string
	LastSyncAt  int64
	LastAuditAt int64
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (repoRecord) TableName() string { return "containers_repos" }

// ownerName returns the account that a repository belongs to, in lower case.
func (r *repoRecord) ownerName() string {
	owner, _, _ := strings.Cut(r.Name, "/")
	return owner
}

// TrackedRepo is a repository that is tracked.
type TrackedRepo struct {
	FullName     string   `json:"fullName" example:"ann/blog"`
	Selected     bool     `json:"selected" doc:"Whether its packages' webhook is kept."`
	Visibility   string   `json:"visibility,omitempty" example:"public"`
	WebhookState string   `json:"webhookState" enum:"unknown,ok,missing,conflict,error,queued,running"`
	WebhookJobID string   `json:"webhookJobId,omitempty" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	HookID       string   `json:"hookId,omitempty" example:"4711"`
	Removing     bool     `json:"removing,omitempty" doc:"It is forgotten once its webhook is gone."`
	LastActivity api.Time `json:"lastActivityAt,omitempty,omitzero"`
	LastSyncAt   api.Time `json:"lastSyncAt,omitempty,omitzero"`
	LastAuditAt  api.Time `json:"lastAuditAt,omitempty,omitzero"`
	LastOp       string   `json:"lastOp,omitempty" enum:"register,unregister,sync,audit_all"`
	LastError    string   `json:"lastError,omitempty"`
}

// settleState corrects a row whose job ended without storing a result, such as one that was canceled while it was queued.
// The open jobs are those that have not ended.
func (r *repoRecord) settleState(open map[string]string) {
	waits := r.WebhookState == StateQueued || r.WebhookState == hookRunning
	if (waits || r.Removing) && open[r.JobID] == "" {
		r.Removing = false
		if waits {
			r.WebhookState = StateUnknown
		}
	}
}

func (r *repoRecord) toTrackedRepo() TrackedRepo {
	return TrackedRepo{
		FullName: r.FullName, Selected: r.Selected, Visibility: r.Visibility, WebhookState: r.WebhookState, WebhookJobID: r.JobID,
		HookID:   r.HookID,
		Removing: r.Removing, LastActivity: api.TimeOfMillis(r.LastActivity), LastSyncAt: api.TimeOfMillis(r.LastSyncAt),
		LastAuditAt: api.TimeOfMillis(r.LastAuditAt), LastOp: r.LastOp, LastError: r.LastError,
	}
}

// HookTarget is an input that repositories are tracked by.
type HookTarget struct {
	Input    string   `json:"input" example:"ann/blog"`
	Kind     string   `json:"kind" enum:"repo,owner"`
	Owner    string   `json:"owner" example:"ann"`
	Warnings []string `json:"warnings"`
}

func (t *targetRecord) toTarget() HookTarget {
	return HookTarget{Input: t.Input, Kind: t.Kind, Owner: t.Owner, Warnings: append([]string{}, t.Warnings...)}
}

// coversRepo reports whether a target selects a repository, whose name is in lower case.
func (t *targetRecord) coversRepo(name string) bool {
	if t.Kind == "owner" {
		return strings.HasPrefix(name, strings.ToLower(t.Owner)+"/")
	}
	input := strings.TrimSuffix(strings.TrimRight(strings.ToLower(t.Input), "/"), ".git")
	return strings.HasSuffix("/"+input, "/"+name)
}

// maxRepoName bounds owner/name, in bytes.
const maxRepoName = 300

// repoName checks owner/name and gives it in lower case, as the table has it.
func repoName(full string) (string, error) {
	name := strings.ToLower(strings.TrimSpace(full))
	owner, repo, _ := strings.Cut(name, "/")
	odd := func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-'
	}
	if owner == "" || repo == "" || len(name) > maxRepoName || strings.ContainsFunc(owner+repo, odd) || isDots(owner) || isDots(repo) {
		return "", record.InvalidField("fullName", "A repository is named owner/name.")
	}
	return name, nil
}

func isDots(part string) bool { return part == "." || part == ".." }

// secrets is what people have set for the code host's webhooks.
type secrets struct {
	Enabled     bool
	CallbackURL string
	PAT, Secret schema.Secret
}

// cleanText returns a text without secrets, of limited length. A code host may repeat what it was sent.
func (c *secrets) cleanText(text string) string {
	for _, s := range []schema.Secret{c.PAT, c.Secret} {
		if s != "" {
			text = strings.ReplaceAll(text, s.Reveal(), "…")
		}
	}
	return texts.Limit(text, 500)
}

// Why the integration cannot do what is asked for.
const (
	WhyDisabled = "disabled"
	WhyNoHost   = "code_host_not_configured"
	WhyNoToken  = "token_missing"
	whyToken    = "token_invalid_or_scope_insufficient"
)

func hookFault(why string) *fault.Error {
	text := map[string]string{
		WhyDisabled: "The package webhooks are switched off.",
		WhyNoHost:   "No code host is configured: set codehost of the service in plugin.hcl.",
		WhyNoToken:  "The code host's access token is not set.",
	}[why]
	return fault.New(fault.InvalidArgument, "%s", text).With("reason", why)
}
