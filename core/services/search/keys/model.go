package keys

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

// KeyRecord is an upstream key as it is stored. Until is the end of cooling down or exhaustion, 0 otherwise.
type KeyRecord struct {
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
func (KeyRecord) TableName() string { return "search_keys" }

// keyEvent is a change of an upstream key's state, with the reason.
type keyEvent struct {
	ID        string `gorm:"primaryKey"`
	KeyID     string
	Time      int64
	Source    string
	Actor     string
	Operation string
	Before    KeyState
	After     KeyState
	Reason    string
}

// TableName implements gorm's Tabler.
func (keyEvent) TableName() string { return "search_key_events" }
