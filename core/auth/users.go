package auth

import (
	"context"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Role is what a user may do.
type Role string

// The roles.
const (
	Admin  Role = "admin"
	Member Role = "member"
)

const (
	keyPrefix      = "svc_ak_"
	keyBytes       = 32
	maxName        = 80
	maxEmail       = 254
	defaultKeyName = "API key"
	initialKeyName = "Initial API key"
)

// User is a person. Times are Unix milliseconds.
type User struct {
	ID       string `gorm:"primaryKey"`
	Email    string
	Name     string
	Role     Role
	Disabled bool
	// Forwarded is set for a user whom a proxy's header made: the role follows the header.
	Forwarded bool
	// ForwardedAs is the key of the forwarded name that has claimed the account, "" if none has.
	ForwardedAs string `json:"-"`
	CreatedAt   int64  `gorm:"autoCreateTime:false"`
	UpdatedAt   int64  `gorm:"autoUpdateTime:false"`
}

// TableName implements gorm's Tabler.
func (User) TableName() string { return "users" }

// Config is what the package needs.
type Config struct {
	Store   *store.Store
	Keyring *secret.Keyring
	// Logger may be nil.
	Logger hclog.Logger
	// Scopes are the names of the services, to which API keys can be confined.
	Scopes []string
	// Grants are what the services hand out to users.
	Grants []Grant
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Grant is what a service hands out that lets whoever holds it in as a user, such as tokens, links and accounts elsewhere. While the user
// is disabled, the service refuses it by itself.
type Grant struct {
	// Service is who hands it out.
	Service string
	// End ends in the running transaction what a user has, for good. It needs no running service.
	End func(ctx context.Context, s *store.Store, userID string, now time.Time) error
}
