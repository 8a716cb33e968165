// Package mailbox keeps the mailboxes: it makes, finds, extends and destroys them, and finds those that mail is for.
package mailbox

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Source tells how a mailbox came to be.
type Source string

// The sources.
const (
	Registered Source = "registered"
	CatchAll   Source = "catch_all"
)

// Status is the state of a mailbox.
type Status string

// The states. A mailbox expires when its time is over; a day later it is destroyed.
const (
	Active     Status = "active"
	Expired    Status = "expired"
	Destroying Status = "destroying"
	Destroyed  Status = "destroyed"
)

// Via tells who made a mailbox.
type Via string

// The ways: a browser session, an API key, Patchbay itself.
const (
	ViaWeb    Via = "web"
	ViaAPIKey Via = "api_key"
	ViaSystem Via = "system"
)

// The limits of lifetimes, in minutes.
const (
	MinMinutes     = 60
	MaxMinutes     = 525_600
	DefaultMinutes = 60
)

// keepExpired is how long an expired mailbox can be brought back.
const keepExpired = 24 * time.Hour

// Mailbox is a mailbox as it is stored. Times are Unix milliseconds, 0 for none.
type Mailbox struct {
	ID         string `gorm:"primaryKey"`
	DomainID   string
	OwnerID    string
	LocalPart  string
	Subdomain  string
	MailDomain string
	Address    string
	Source     Source
	// Status is Active, Destroying or Destroyed; StatusAt tells an expired one.
	Status      Status
	CreatedAt   int64 `gorm:"autoCreateTime:false"`
	ReceivedAt  int64
	ExpiresAt   int64
	DestroyedAt int64
	// RuleID is the provider's id of the routing rule for the address; "" for none that is known.
	RuleID string
	// RuleRequests is how many requests for this rule have an outcome that is not known: they go on, or the answer is lost. Each may have
	// made it.
	RuleRequests int
	CreatedVia   Via
	// KeyID, KeyName and KeyPrefix are those of the API key that made it, also after that is revoked.
	KeyID     string
	KeyName   string
	KeyPrefix string
	// CleanupAt is when destroying it is tried next, or a destroyed one is looked at again, CleanupTries how often that has failed, and
	// CleanupError why.
	CleanupAt    int64
	CleanupTries int
	CleanupError string
	// Tags are stored in a table of their own.
	Tags []string `gorm:"-"`
}

// TableName implements gorm's Tabler.
func (Mailbox) TableName() string { return "mail_mailboxes" }

// StatusAt returns the state at a time.
func (m Mailbox) StatusAt(now time.Time) Status {
	if m.Status == Active && m.ExpiresAt != 0 && m.ExpiresAt <= now.UnixMilli() {
		return Expired
	}
	return m.Status
}

// isRuleKnown reports whether RuleID tells which rule the address has, or that it has none.
func (m Mailbox) isRuleKnown() bool { return m.RuleID != "" || m.RuleRequests == 0 }

// host returns what stands behind the @ of the address.
func (m Mailbox) host() string { return m.Address[len(m.LocalPart)+1:] }

// tag is a tag of a mailbox.
type tag struct {
	MailboxID string `gorm:"primaryKey"`
	Tag       string `gorm:"primaryKey"`
	Position  int
}

// TableName implements gorm's Tabler.
func (tag) TableName() string { return "mail_tags" }

// CleanupFailure tells of the mailboxes of a domain that could not be destroyed, or may have left a rule at the provider.
type CleanupFailure struct {
	DomainID string
	// Mailboxes is how many there are, and Error what is the matter with one of them.
	Mailboxes int
	Error     string
}

// Caller is who acts on mailboxes.
type Caller struct {
	UserID string
	// Admin may see and change the mailboxes of everybody.
	Admin bool
	Via   Via
	// KeyID, KeyName and KeyPrefix are those of the API key that was shown; "" for none.
	KeyID, KeyName, KeyPrefix string
}

// sees reports whether the caller may see a mailbox.
func (c Caller) sees(m Mailbox) bool { return c.Admin || c.UserID != "" && m.OwnerID == c.UserID }

// Lifetime says when a mailbox expires.
type Lifetime struct {
	// Minutes counts from now; 0 means DefaultMinutes.
	Minutes int
	// Forever mailboxes do not expire.
	Forever bool
}

// expiry returns the end in Unix milliseconds, 0 for none.
func (l Lifetime) expiry(now time.Time) (int64, error) {
	if l.Forever {
		return 0, nil
	}
	minutes := l.Minutes
	if minutes == 0 {
		minutes = DefaultMinutes
	}
	if minutes < MinMinutes || minutes > MaxMinutes {
		return 0, fault.New(fault.InvalidArgument, "expiresInMinutes must be from %d to %d, or null.", MinMinutes, MaxMinutes).With("field",
			"expiresInMinutes")
	}
	return now.Add(time.Duration(minutes) * time.Minute).UnixMilli(), nil
}

// isLater reports whether one expiry is later than another, where 0 is never.
func isLater(a, b int64) bool { return b != 0 && (a == 0 || a > b) }
