package translate

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// State is how far a work is.
type State string

// The states. Completed and Failed are final, unless the work is asked for again.
const (
	Queued    State = "queued"
	Batched   State = "batched"
	Running   State = "running"
	Completed State = "completed"
	Failed    State = "failed"
)

// Final reports whether the work has ended.
func (s State) Final() bool { return s == Completed || s == Failed }

// Outcome is what came of a work, or of a request without one.
type Outcome string

// The outcomes.
const (
	Ready        Outcome = "ready"
	Disabled     Outcome = "disabled"
	Insufficient Outcome = "insufficient"
	Missing      Outcome = "missing"
	Failure      Outcome = "error"
)

// The codes of errors, and the reasons why something is disabled.
const (
	CodeNotConfigured = "not_configured"
	CodeBudget        = "budget_reached"
	CodeStructure     = "markdown_structure_mismatch"
	CodeTooLong       = "body_too_long"
	CodeUnusable      = "unusable_answer"
	CodeRejected      = "upstream_rejected"
	CodeUnavailable   = "upstream_unavailable"
	CodeInternal      = "unknown_internal_error"
)

// Work is a text that is translated or summarised, as it is stored. Times are Unix milliseconds.
type Work struct {
	ID      string `gorm:"primaryKey"`
	WorkKey string
	Task    translator.Task
	// Language is what it is translated into. Title is plain text and Body Markdown; one of them may be empty.
	Language    string
	Title, Body string
	// ReleaseID is the release whose changes may be looked up for a summary, or 0.
	ReleaseID int64
	// Tokens is about how many tokens the text has.
	Tokens  int64
	State   State
	Outcome Outcome
	// OutTitle and OutBody are the result.
	OutTitle, OutBody      string
	ErrorCode, ErrorDetail string
	Model                  string
	// BatchID is the last batch, JobID the job that it belongs to until it ends.
	BatchID, JobID string
	// Priority 0 comes first; Deadline is when it is sent even if the batch is not full, RunAt when it is tried at the earliest.
	Priority int
	Deadline int64
	RunAt    int64
	Attempts int
	// Progress are the parts that are translated so far, by their number, as JSON.
	Progress  string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (Work) TableName() string { return "release_translations" }

// Source is a text to translate or summarise.
type Source struct {
	Task        translator.Task
	Language    string
	Title, Body string
	// ReleaseID is that of the release whose changes may be looked up for a summary, or 0.
	ReleaseID int64
}

// Priorities of demands.
const (
	// Interactive is for somebody who waits, Background for what may come later.
	Interactive = iota
	Background
)

// Demand asks for a work.
type Demand struct {
	Source
	Priority int
	// Linger is how long the work may wait for others, with which it is sent.
	Linger time.Duration
	// Retry has a work that failed tried once more.
	Retry bool
}

// keyVersion changes when the same text must be translated anew.
const keyVersion = "1"

// key returns what is the same for the same work.
func (s Source) key() string {
	// Texts and numbers can always be encoded.
	raw, _ := json.Marshal([]any{keyVersion, s.Task, strings.ToLower(s.Language), s.Title, s.Body, s.ReleaseID})
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// disabledWork returns a work that is not stored, since nothing translates it.
func (s Source) disabledWork(code string) Work {
	return Work{Task: s.Task, Language: s.Language, State: Completed, Outcome: Disabled, ErrorCode: code}
}

// retriable reports whether a work that failed is tried again without being asked to: what failed has nothing to do with its text.
func (w *Work) retriable() bool {
	return w.ErrorCode == CodeUnavailable || w.ErrorCode == CodeRejected || w.ErrorCode == CodeBudget || w.ErrorCode == CodeInternal
}
