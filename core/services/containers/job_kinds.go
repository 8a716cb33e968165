package containers

import (
	"slices"
	"strings"
)

// jobPrefix stands before the service's types in the queue; the API shows them without.
const jobPrefix = "containers."

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
	return []string{JobCheck, JobDiscovery, JobRuntimeScan, JobUpdate, JobRollback, JobServiceLifecycle, JobStackLifecycle, JobRestore, JobHook, JobHookSyncAll, JobHookSyncRepo}
}

// QueueType returns a type of job as the queue has it.
func QueueType(name string) string { return jobPrefix + name }

// qualifiedTypes are names as the queue has them.
func qualifiedTypes(types []string) []string {
	out := make([]string, len(types))
	for i, t := range types {
		out[i] = QueueType(t)
	}
	return out
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
	actorSchedule = "schedule"
	actorWebhook  = "webhook"
	actorCodeHost = "code_host"
)

// publicType returns a type of job as the API has it.
func publicType(queued string) string { return strings.TrimPrefix(queued, jobPrefix) }

// isShown reports whether the API shows jobs of a type.
func isShown(queued string) bool {
	return strings.HasPrefix(queued, jobPrefix) && slices.Contains(JobTypes(), publicType(queued))
}
