package account

// State is what is known of a token.
type State string

// The states.
const (
	// Valid: the code host accepted it at the last check.
	Valid State = "valid"
	// Invalid: the code host refused it.
	Invalid State = "invalid"
)

// Account is a user's account at a code host. Times are Unix milliseconds.
type Account struct {
	// ID is the user's own for the first account.
	ID     string `gorm:"primaryKey"`
	UserID string
	// Host is the reference of the code host's instance.
	Host      string
	RemoteID  string
	Login     string
	LoginKey  string
	AvatarURL string
	// Token is sealed; Masked is what of it may be shown.
	Token  string
	Masked string
	// RefreshToken is sealed; "" for a token that the user has saved. ExpiresAt is when the token ends, 0 for never.
	RefreshToken string
	ExpiresAt    int64
	// SignIn says that the user signs in with the account.
	SignIn bool
	// ReadsStars, ReadsInbox and ReadsActivity say what is read with it: stars, notifications, and who stars, follows and does what.
	ReadsStars, ReadsInbox, ReadsActivity bool

	State   State
	Message string
	// CheckedAt is when the code host was last asked about the token, DueAt when the account is read next.
	CheckedAt int64
	DueAt     int64
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (Account) TableName() string { return "release_host_accounts" }

// Preferences are what a user has chosen.
type Preferences struct {
	UserID string `gorm:"primaryKey"`
	// TimeZone is an IANA name. The day of a brief ends at BriefHour in it.
	TimeZone  string
	BriefHour int
	// BriefDaily has a brief written every day.
	BriefDaily bool
	// IncludeOwn shows the releases of the user's own repositories.
	IncludeOwn bool
	// NotifyReleases and NotifyBrief have the channels told of new releases and of the daily brief.
	NotifyReleases bool
	NotifyBrief    bool
	// Language is the one in which the user reads translations, "" for that of the settings. AutoTranslate has new releases
	// translated into it unasked.
	Language      string
	AutoTranslate bool
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (Preferences) TableName() string { return "release_preferences" }
