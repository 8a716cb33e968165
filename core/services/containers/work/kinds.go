// Package work has what the jobs of the containers service share: their types and payloads, how they are queued and run, and what they
// report.
package work

import (
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
)

// Prefix stands before the service's types in the queue; the API shows them without.
const Prefix = "containers."

// The types of jobs that the API shows.
const (
	JobCheck            = "check"
	JobDiscovery        = "discovery"
	JobRuntimeScan      = "runtime_scan"
	JobUpdate           = "update"
	JobRollback         = "rollback"
	JobServiceLifecycle = "service_lifecycle"
	JobStackLifecycle   = "stack_lifecycle"
	JobRestore          = "backup_restore"
	JobHook             = "host_packages_webhook"
	JobHookSyncAll      = "host_packages_webhook_sync_all"
	JobHookSyncRepo     = "host_packages_webhook_sync_repo"
)

// JobTypes are all of them.
func JobTypes() []string {
	return []string{JobCheck, JobDiscovery, JobRuntimeScan, JobUpdate, JobRollback, JobServiceLifecycle, JobStackLifecycle, JobRestore,
		JobHook, JobHookSyncAll, JobHookSyncRepo}
}

// QueueType returns a type of job as the queue has it.
func QueueType(name string) string { return Prefix + name }

// QualifiedTypes are names as the queue has them.
func QualifiedTypes(types []string) []string {
	return lists.ConvertAll(types, QueueType)
}

// What a job is about.
const (
	ScopeAll     = "all"
	ScopeStack   = "stack"
	ScopeService = "service"
)

// Why a job was made.
const (
	ReasonUI       = "ui"
	ReasonManual   = "manual"
	ReasonWebhook  = "webhook"
	ReasonSchedule = "schedule"
)

// Who makes jobs without a person.
const (
	ActorSchedule = "schedule"
	ActorWebhook  = "webhook"
	ActorCodeHost = "code_host"
)

// PublicType returns a type of job as the API has it.
func PublicType(queued string) string { return strings.TrimPrefix(queued, Prefix) }

// IsShown reports whether the API shows jobs of a type.
func IsShown(queued string) bool {
	return strings.HasPrefix(queued, Prefix) && slices.Contains(JobTypes(), PublicType(queued))
}
