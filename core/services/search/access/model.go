package access

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
