// Package dns is what the author of a DNS provider implements, and what a caller of one uses.
//
// A provider translates between one vendor's API, or a name server, and the verbs below. It keeps nothing and never
// retries.
package dns

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Instance is what the host tells about a configured instance.
type Instance = framework.Instance

// Kind is the word for this kind in plugin.hcl; Service is its gRPC service.
const (
	Kind    = "dns"
	Service = "patchbay.dns.v1.DNS"
)

// Capabilities of a provider.
const (
	// CapCreateZones: the provider is a ZoneCreator.
	CapCreateZones = "CREATE_ZONES"
	// CapMailRouting: the provider is a MailRouter.
	CapMailRouting = "MAIL_ROUTING"
	// CapManual: a person sets the records; changes end with PendingManual.
	CapManual = "MANUAL"
)

// Limits that the SDK checks before a provider sees a request.
const (
	// MaxValues is how many values a record set may have.
	MaxValues = 100
	// MaxText is the length of the value of a TXT record in bytes.
	MaxText = 4096
	// MaxTTL is the longest time to live in seconds.
	MaxTTL = 1<<31 - 1
	// MaxChecks is how many record sets one call of CheckRecords may name.
	MaxChecks = 100
	// MaxSnapshot is the length of a snapshot in bytes.
	MaxSnapshot = 64 << 10
)

// Provider speaks to a DNS vendor or a name server. Calls come concurrently. Names are absolute, in lower case, without
// a dot at the end; the SDK has checked them and put values into their usual form. Names at localhost never reach a
// provider, save FindZone of a manual one. Every change may be repeated: setting what is there and deleting what is not
// there succeed.
//
// Errors are made with package errs: credentials that are missing, wrong or lack a permission are UNAUTHENTICATED or
// PERMISSION_DENIED, a zone that does not exist is NoZone, records that exclude each other are Conflict, a limit that is
// used up is RESOURCE_EXHAUSTED with RetryAfter, a vendor that is down, slow or answers nonsense UNAVAILABLE. All of these
// carry the source upstream and the HTTP status that came.
type Provider interface {
	// ListZones lists the zones that the credentials give access to.
	ListZones(ctx context.Context) ([]Zone, error)
	// FindZone returns the zone that name lies in: of those that equal or contain it, the one with the longest name.
	// LongestZone chooses from a list. Without one the error is NoZone.
	FindZone(ctx context.Context, name string) (*Zone, error)
	// ListRecords lists the record sets of a zone, of the five types alone. An empty name and type mean all.
	ListRecords(ctx context.Context, zoneID, name string, recordType Type) ([]RecordSet, error)
	// SetRecords replaces the record set of a name and type, or makes it. A TTL of 0 asks for the vendor's default.
	SetRecords(ctx context.Context, zoneID string, set RecordSet) (Outcome, error)
	// DeleteRecords deletes the record set of a name and type.
	DeleteRecords(ctx context.Context, zoneID, name string, recordType Type) (Outcome, error)
	// CheckRecords asks name servers whether record sets are visible, and answers one check for each, in order. A set
	// without values should not exist. Package dnscheck does the work. A server that does not answer is no error.
	CheckRecords(ctx context.Context, zoneID string, sets []RecordSet) ([]Check, error)
}

// ZoneCreator is a provider that can make zones: CapCreateZones.
type ZoneCreator interface {
	// CreateZone makes a zone, and reports whether it did not exist before. One that is there is returned.
	CreateZone(ctx context.Context, name string) (zone *Zone, created bool, err error)
	// DeleteZone deletes a zone with all its records.
	DeleteZone(ctx context.Context, zoneID string) error
}

// MailRouter is a provider whose vendor accepts mail and hands it to a worker, which the configuration names:
// CapMailRouting.
type MailRouter interface {
	// EnableRouting has the vendor accept mail for a host, which is the zone's name or one below it. The records that this
	// needs are the vendor's.
	EnableRouting(ctx context.Context, zoneID, host string) error
	// DisableRouting ends that for a host.
	DisableRouting(ctx context.Context, zoneID, host string) error
	// CreateRule hands mail to one address to the worker, and returns the id of the rule. A rule that does so is reused.
	CreateRule(ctx context.Context, zoneID, address string) (ruleID string, err error)
	// DeleteRule deletes a rule.
	DeleteRule(ctx context.Context, zoneID, ruleID string) error
	// ReadCatchAll returns what the vendor does with mail that no rule is for, in a form of the provider's own.
	ReadCatchAll(ctx context.Context, zoneID string) (snapshot []byte, err error)
	// SetCatchAll hands such mail to the worker.
	SetCatchAll(ctx context.Context, zoneID string) error
	// RestoreCatchAll makes it again exactly what ReadCatchAll returned. A snapshot that is not one of its own is
	// InvalidRequest, and nothing has changed.
	RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error
}

// Definition declares a provider whose config block is a C.
type Definition[C any] struct {
	// Build checks a configuration and returns what makes the provider. It is pure: no network, no files written. Both
	// Validate and Configure call it.
	Build func(inst Instance, cfg C) (Open, schema.Diagnostics)
	// CreateZones declares that the provider is a ZoneCreator, MailRouting that it is a MailRouter, and Manual that a
	// person sets the records.
	CreateZones, MailRouting, Manual bool
}

// Open makes a provider ready for calls. One that is an io.Closer is closed when its instance is removed.
type Open func(ctx context.Context) (Provider, error)

// Zone is a zone as the vendor has it.
type Zone struct {
	// ID is the vendor's own, or the name.
	ID, Name string
	// Status is the vendor's word, such as "active" or "pending"; empty if it has none.
	Status string
	// NameServers are those that the parent zone must name; empty if the vendor does not say.
	NameServers []string
}

// Outcome is what became of a change.
type Outcome string

// The outcomes.
const (
	// Applied: the vendor has accepted the change.
	Applied Outcome = "applied"
	// PendingManual: nothing has happened; a person has to make the change.
	PendingManual Outcome = "pending_manual"
	// NotNeeded: the name needs no records; see IsLocal.
	NotNeeded Outcome = "not_needed"
)

// Visibility is whether a record set can be seen.
type Visibility string

// The visibilities.
const (
	// Visible: every server that answered has the values and no others. Other texts beside a TXT are permitted.
	Visible Visibility = "visible"
	// Missing: a server that answered has no such records.
	Missing Visibility = "missing"
	// Different: a server that answered has other values.
	Different Visibility = "different"
	// Unknown: no server answered.
	Unknown Visibility = "unknown"
	// Unneeded: the name needs no records; nobody was asked. See IsLocal.
	Unneeded Visibility = "not_needed"
)

// Check is what servers say of one record set.
type Check struct {
	Name         string
	Type         Type
	Visibility   Visibility
	Observations []Observation
}

// Observation is the answer of one server.
type Observation struct {
	// Server is the name or address of the server that was asked.
	Server string
	Values []string
	// TTL is in seconds, 0 without values.
	TTL int
	// Problem tells why nothing is known, such as "no answer in time"; empty if the server answered.
	Problem string
}
