package audit

import (
	"time"
)

// Outcome is how a request ended.
type Outcome int

// The outcomes, as the audit stores them. Open is a request that has not ended, or, after a restart, none.
const (
	Open Outcome = iota
	Success
	Failure
	Refused
	Interrupted
)

// String is the word that APIs use.
func (o Outcome) String() string {
	return [...]string{"open", "success", "error", "refused", "interrupted"}[o]
}

// Entry is one row of the audit. Times of the parts are those of the attempt that answered; PluginUS is what the call
// to the provider took beyond the upstream's time.
type Entry struct {
	ID            int64
	Time          time.Time
	RequestID     string
	TokenID       string
	KeyID         string
	Backend       string
	Operation     string
	Outcome       Outcome
	Status        int
	Upstream      int
	Credits       int64
	Duration      time.Duration
	UpstreamTime  time.Duration
	PluginTime    time.Duration
	Attempts      int
	RequestBytes  int
	ResponseBytes int
	Client        string
	ErrorCode     string
	// Cached says that the answer was kept from an earlier request: it cost no credit, and no backend was asked.
	Cached bool
	// Detail is what the upstream said of its error, or, of a request that a limit has refused, the limit as JSON.
	Detail string
	// RequestBody and ResponseBody are nil unless bodies are logged.
	RequestBody  []byte
	ResponseBody []byte
	// endedSeq numbers the requests of a core as they end, where several cores write.
	endedSeq int64
}

// startMinute returns the bucket of the quota that the request belongs to.
func (e *Entry) startMinute() int64 { return e.Time.Unix() / 60 }

// UsageRecord counts what a token used in one minute.
type UsageRecord struct {
	TokenID   string `gorm:"primaryKey"`
	Minute    int64  `gorm:"primaryKey"`
	Requests  int64
	Credits   int64
	Successes int64
	Errors    int64
	Refused   int64
}

// TableName implements gorm's Tabler.
func (UsageRecord) TableName() string { return "quota_usage" }

// ResearchRecord remembers who may ask for a research result, where, and with which key.
type ResearchRecord struct {
	ResourceID string `gorm:"primaryKey"`
	TokenID    string
	KeyID      string
	// Backend is the one that took the research; empty in rows of a time with one backend alone.
	Backend   string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (ResearchRecord) TableName() string { return "search_research" }

// BodyRecord holds the bodies of a request where the operator wants them kept.
type BodyRecord struct {
	RequestRow int64 `gorm:"primaryKey"`
	Request    []byte
	Response   []byte
}

// TableName implements gorm's Tabler.
func (BodyRecord) TableName() string { return "search_bodies" }
