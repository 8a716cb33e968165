// Package domain keeps the mail domains: how they are enabled with a DNS provider, routed, and given up again.
package domain

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// Status is the state of a domain.
type Status string

// The states.
const (
	Active            Status = "active"
	Disabled          Status = "disabled"
	ProvisioningError Status = "provisioning_error"
)

// Binding tells where a domain comes from.
type Binding string

// The ways in: the settings name it, an existing zone of the provider was enabled, or its zone was made here.
const (
	FromSettings Binding = "settings"
	FromCatalog  Binding = "catalog"
	FromBind     Binding = "project_bind"
)

// The operations that change a domain at the provider, as they are journaled.
const (
	opProvision       = "provision"
	opCatchAllEnable  = "catch_all_enable"
	opCatchAllDisable = "catch_all_disable"
	opDelete          = "delete"
)

// The steps of opProvision.
const (
	stepZone    = "zone"
	stepRouting = "routing"
	stepRules   = "rules"
	stepRecords = "records"
)

// Domain is a mail domain as it is stored. Times are Unix milliseconds, 0 for none.
type Domain struct {
	ID   string `gorm:"primaryKey"`
	Name string
	// ZoneID is the provider's id of the zone; "" without a zone.
	ZoneID  string
	Binding Binding
	// Provider is the reference of the DNS instance that the domain was provisioned with; "" without one.
	Provider string
	// Plugin is the name of the plugin that ZoneID, and the rules of mailboxes, are of; "" if it is not known.
	Plugin string
	// Routed domains have their mail accepted by the provider, and handed to us by rules.
	Routed bool
	Status Status
	// Operation is the change that is under way, and Step how far it has come; both "" for none. They outlive a crash.
	Operation string
	Step      string
	CatchAll  bool
	// CatchAllOwnerID is who enabled the catch-all: mailboxes that it makes are theirs.
	CatchAllOwnerID string
	// CatchAllPattern is the regular expression that local parts must match as a whole; "" for all.
	CatchAllPattern string
	// CatchAllSnapshot is what the provider needs to restore its own catch-all; nil for nothing.
	CatchAllSnapshot []byte
	// RecordsText holds the records that mail to the domain needs, as JSON.
	RecordsText string `gorm:"column:records"`
	// CheckedAt is when the records were last looked up.
	CheckedAt       int64
	NameServersText string `gorm:"column:name_servers"`
	ProvisionError  string
	// RetryAt is when recovery goes on: the provider limits requests until then, or recovery has failed before.
	RetryAt int64
	// RecoveryTries is how often recovery has failed to end Operation; ProvisionError tells why unless it is 0.
	RecoveryTries int
	CreatedAt     int64 `gorm:"autoCreateTime:false"`
	UpdatedAt     int64 `gorm:"autoUpdateTime:false"`
	ProvisionedAt int64
	DisabledAt    int64
	DeletedAt     int64
}

// TableName implements gorm's Tabler.
func (Domain) TableName() string { return "mail_domains" }

// notFinished is the error of a domain whose provisioning goes on or was interrupted.
const notFinished = "The provisioning has not finished."

// beginOperation journals a change that is under way. A limit that the provider has told of in an earlier one does not hold it up.
func (d *Domain) beginOperation(operation string) { d.Operation, d.RetryAt = operation, 0 }

// endOperation takes the operation that is under way out of the journal, and what recovery has noted about it. A domain in error goes on
// telling one.
func (d *Domain) endOperation() {
	if d.RecoveryTries > 0 {
		d.ProvisionError, d.RetryAt, d.RecoveryTries = "", 0, 0
	}
	if d.Status == ProvisioningError {
		d.ProvisionError = cmp.Or(d.ProvisionError, notFinished)
	}
	d.Operation, d.Step = "", ""
}

// isDeleted reports whether a domain is deleted, and nothing is left to do for that.
func (d Domain) isDeleted() bool { return d.DeletedAt != 0 && d.Operation == "" }

// KeepsCatchAll reports whether the catch-all is on and nobody has begun to end it: until then mail needs no rules.
func (d Domain) KeepsCatchAll() bool { return d.CatchAll && d.Operation != opCatchAllDisable }

// KeepsRulesOf reports whether the rules that mailboxes have in a former state of the domain are good in this one: they are rules of the
// same zone.
func (d Domain) KeepsRulesOf(former Domain) bool {
	return d.Provider == former.Provider && d.Plugin == former.Plugin && d.ZoneID == former.ZoneID
}

// Record is a DNS record that mail to a domain needs, and what a look-up has found.
type Record struct {
	Type string `json:"type"`
	Name string `json:"name"`
	// Value is as in a zone file, such as "10 mx.example.com".
	Value string `json:"value"`
	// TTL is in seconds.
	TTL int `json:"ttl"`
	// State is visible, missing, different, unknown or not_needed.
	State string `json:"state"`
	// Found are the values that a look-up has found.
	Found []string `json:"found"`
}

// Records returns the records that mail to the domain needs.
func (d Domain) Records() (out []Record) {
	// What is stored was encoded here.
	_ = json.Unmarshal([]byte(d.RecordsText), &out)
	return out
}

func (d *Domain) setRecords(records []Record) {
	// Records have no part that cannot be encoded.
	raw, _ := json.Marshal(records)
	d.RecordsText = string(raw)
}

// NameServers returns the name servers that the parent zone must name; none if the provider did not say.
func (d Domain) NameServers() []string { return strings.Fields(d.NameServersText) }

func (d *Domain) setNameServers(names []string) { d.NameServersText = strings.Join(names, " ") }

// useZone notes the zone of a domain, and whether it was made here.
func (d *Domain) useZone(zone *dns.Zone, created bool) {
	d.ZoneID = zone.ID
	d.setNameServers(zone.NameServers)
	if created {
		d.Binding = FromBind
	}
}

func errNoDomain() error { return fault.New(fault.NotFound, "There is no such mail domain.") }
