package search

import "time"

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

// tokenRecord is an access token as it is stored: its hash to compare, a sealed copy to show again.
type tokenRecord struct {
	ID                string `gorm:"primaryKey"`
	Hash              []byte
	Sealed            string
	Enabled           bool
	Note              string
	GroupName         string
	OwnerID           string
	ExpiresAt         int64
	LimitRequests     *int64
	LimitCreditsHour  *int64
	LimitCreditsDay   *int64
	LimitCreditsMonth *int64
	// LimitRequestsMinute is 0 where the token has no such limit.
	LimitRequestsMinute *int64
	// CacheTTL is for how many seconds the token may be given kept answers; nil takes the default.
	CacheTTL  *int64
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
	DeletedAt int64
}

// TableName implements gorm's Tabler.
func (tokenRecord) TableName() string { return "search_tokens" }

// KeyState is the state of an upstream key in the pool.
type KeyState string

// The states. A cooling or exhausted key comes back by itself at its time; an invalid or disabled one does not.
const (
	KeyActive    KeyState = "active"
	KeyCooling   KeyState = "cooling_down"
	KeyExhausted KeyState = "exhausted"
	KeyInvalid   KeyState = "invalid"
	KeyDisabled  KeyState = "disabled"
)

// keyRecord is an upstream key as it is stored. Until is the end of cooling down or exhaustion, 0 otherwise.
type keyRecord struct {
	ID        string `gorm:"primaryKey"`
	Hash      []byte
	Sealed    string
	GroupName string
	State     KeyState
	Reason    string
	Until     int64
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
	DeletedAt int64
	// QuotaLimit and QuotaUsed are what the upstream said at QuotaSyncedAt; QuotaError is why it said nothing.
	QuotaLimit     int64
	QuotaUsed      int64
	QuotaSyncedAt  int64
	QuotaError     string
	StateChangedAt int64
}

// TableName implements gorm's Tabler.
func (keyRecord) TableName() string { return "search_keys" }

// entry is one row of the audit. Times of the parts are those of the attempt that answered; PluginUS is what the call
// to the provider took beyond the upstream's time.
type entry struct {
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
}

// minute returns the bucket of the quota that the request belongs to.
func (e *entry) minute() int64 { return e.Time.Unix() / 60 }

// usageRecord counts what a token used in one minute.
type usageRecord struct {
	TokenID   string `gorm:"primaryKey"`
	Minute    int64  `gorm:"primaryKey"`
	Requests  int64
	Credits   int64
	Successes int64
	Errors    int64
	Refused   int64
}

// TableName implements gorm's Tabler.
func (usageRecord) TableName() string { return "quota_usage" }

// researchRecord remembers who may ask for a research result, where, and with which key.
type researchRecord struct {
	ResourceID string `gorm:"primaryKey"`
	TokenID    string
	KeyID      string
	// Backend is the one that took the research; empty in rows of a time with one backend alone.
	Backend   string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (researchRecord) TableName() string { return "search_research" }
