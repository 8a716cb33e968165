// Package news writes the messages of the containers service: as texts for people in their language, as a payload for
// machines (schema version 2) and as what the picture says. It decides nothing about who gets them.
package news

import (
	"errors"
	"io/fs"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/docs/schemas"
)

// The kinds of events.
const (
	JobFinished          = "job_finished"
	NewVersionDiscovered = "new_version_discovered"
	WebhookAnomaly       = "ghcr_webhook_anomaly"
	NotificationTest     = "notification_test"
)

// The schemas of the payloads, by which a consumer tells them apart, and their version.
const (
	SchemaJob     = "svc.notification.job.v2"
	SchemaVersion = "svc.notification.new_version_discovered.v2"
	SchemaAnomaly = "svc.notification.ghcr_webhook_anomaly.v2"
	SchemaTest    = "svc.notification.test.v2"

	version = 2
)

// MaxEntries is how many services or repositories a payload, and a text, lists. The rest is counted.
const MaxEntries = 10

// Schemas are the JSON Schemas of the payloads, each in a file named after its schema, such as
// svc.notification.job.v2.schema.json.
func Schemas() fs.FS { return schemas.FS() }

// Writer writes events out for one instance of the product.
type Writer struct {
	// Locale is "zh", which is the default, or "en".
	Locale string
	// BaseURL is the public base URL of the pages, or empty. What is not absolute, or neither http nor https, counts as empty.
	BaseURL string
	// SitePath is where the pages are below the site, such as "/" or "/containers/". Links begin with it where there is no
	// BaseURL.
	SitePath string
	// Version and Source say who made a payload.
	Version, Source string
	// Now is when the event is written out.
	Now time.Time
}

// Service names a service and its stack.
type Service struct{ StackID, StackName, ServiceID, ServiceName string }

// JobEvent is an update job that has ended. Times may be zero.
type JobEvent struct {
	ID, Type, Scope, Status, Reason, CreatedBy string
	CreatedAt, StartedAt, FinishedAt           time.Time
	StackID, ServiceID                         string
	// Canceled tells that the job ended as it did because somebody canceled it.
	Canceled bool
	// Changed are the services that the update changed, Failed those for which it ended otherwise, Affected all that it was about.
	Changed, Failed, Affected []VersionChange
	// Failure says for people why it failed; Excerpt is the raw text of the error. Both are shortened.
	Failure, Excerpt string
}

// VersionChange is a service with the version that it had and another one. A display that is empty is not readable.
type VersionChange struct {
	Service
	CurrentTag, CandidateTag         string
	CurrentDisplay, CandidateDisplay string
}

// NewVersionsEvent is what one check found.
type NewVersionsEvent struct {
	JobID, JobStatus, Scope string
	ServicesChecked         int
	Services                []VersionChange
}

// AnomalyRepo is a repository whose webhook is not as it should be.
type AnomalyRepo struct{ FullName, State, LastError string }

// AnomalyEvent is what an audit of webhooks found.
type AnomalyEvent struct {
	JobID, Status            string
	Missing, Conflict, Error int
	Repos                    []AnomalyRepo
}

// TestEvent is a notification that somebody asked for. Channel is the one that was asked for; empty means all. Without a
// message there is one of our own.
type TestEvent struct{ Channel, Message string }

var (
	errNoJob      = errors.New("write a notification: the event names no job")
	errNoServices = errors.New("write a notification: the event names no service")
	errNoAnomaly  = errors.New("write a notification: the event names no repository and counts none")
)
