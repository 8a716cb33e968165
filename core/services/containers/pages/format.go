package pages

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/lists"
	service "github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/backup"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// shortDigest is a digest as people compare them: its first twelve digits.
func shortDigest(digest string) string {
	_, hex, ok := strings.Cut(digest, ":")
	if !ok || len(hex) < 12 {
		return textOrDash(digest)
	}
	return hex[:12]
}

func textOrDash(s string) string { return cmp.Or(s, "–") }

// dependentNames are the names of dependents in their order.
func dependentNames(list []change.Dependent) string {
	names := lists.ConvertAll(list, func(d change.Dependent) string { return d.Name })
	return strings.Join(names, ", ")
}

func formatNumber[N int | int64](n N) string { return strconv.FormatInt(int64(n), 10) }

// pillTone is the class of a state's pill.
func pillTone(state string) string {
	switch state {
	case "up.running", "hook.ok", "hook.created", "hook.updated", "hook.noop", "hook.removed", "pass", "created", "processed", "arch.match",
		"project.active", "inference.ready",
		"channel.on", "delivery.delivered", "severity.success":
		return "ok"
	case "updatable", "refreshing", "inference.queued", "inference.running", "updated", "hook.queued", "hook.running",
		"delivery.waiting", "delivery.sending", "severity.info":
		return "info"
	case "up.partial", "archMismatch", "waiting", "missing", "hint", "conflict", "skipped_by_size", "marked_missing",
		"arch.mismatch", "arch.unknown", "hook.missing", "hook.conflict", "project.missing", "inference.stale",
		"channel.incomplete", "channel.unreachable", "delivery.unknown", "severity.warning":
		return "warn"
	case "fail", "rejected", "hook.error", "project.invalid", "inference.all_failed", "channel.failed", "delivery.failed", "severity.error":
		return "bad"
	}
	return ui.Tone(state)
}

// stateText is the word for a state of this service.
func stateText(v *ui.View, state string) string {
	return v.Word("containers.state."+state, v.State(state))
}

// currentVersion is the version that a service runs, as people call it.
func currentVersion(d project.ServiceDetail) string { return cmp.Or(d.Image.ResolvedTag, d.Image.Tag) }

// nextVersion is the version that a service may get.
func nextVersion(d project.ServiceDetail) string {
	if d.Candidate == nil {
		return ""
	}
	return cmp.Or(d.Candidate.ResolvedTag, d.Candidate.Tag)
}

// cpuText is a share of processor time; 100 is one core.
func cpuText(percent float64) string { return strconv.FormatFloat(percent, 'f', 1, 64) + " %" }

// summarizeState sums the states of services up.
func summarizeState(services []project.ServiceDetail) string {
	n, all := map[record.LifecycleState]int{}, 0
	for _, s := range services {
		if !s.Archived {
			n[s.State]++
			all++
		}
	}
	switch {
	case all == 0 || n[record.StateUnknown] == all:
		return string(record.StateUnknown)
	case n[record.StateRunning] == all:
		return string(record.StateRunning)
	case n[record.StateStopped] == all:
		return string(record.StateStopped)
	}
	return string(record.StatePartial)
}

// jobDuration is how long a job ran, or runs.
func jobDuration(v *ui.View, j service.Job) string {
	began, ended := j.StartedAt.Time, j.FinishedAt.Time
	switch {
	case began.IsZero():
		return "–"
	case ended.IsZero():
		return v.Span(v.Now.Sub(began))
	}
	return v.Millis(max(ended.Sub(began), time.Millisecond))
}

func isFinal(status string) bool { return status != "queued" && status != "running" }

// shownStatus is the status of a job with the wish that it stop.
func shownStatus(j service.Job) string {
	if j.CancelRequested && !isFinal(j.Status) {
		return "cancel_requested"
	}
	return j.Status
}

// jobName is what a job does, in words.
func jobName(v *ui.View, j service.Job) string {
	id := "containers.job." + j.Type
	switch {
	case j.Mode == change.ModeDryRun:
		id += ".dry"
	case j.Action != "":
		id += "." + j.Action
	}
	return v.Word(id, v.Word("containers.job."+j.Type, j.Type))
}

// actorName is who made a job.
func actorName(v *ui.View, name string) string { return v.Word("containers.actor."+name, name) }

// reasonLabel is why a job was made.
func reasonLabel(v *ui.View, name string) string { return v.Word("containers.reason."+name, name) }

// secondsText is a setting in seconds in its field of the form; empty for the default.
func secondsText(n *int64) string {
	if n == nil {
		return ""
	}
	return formatNumber(*n)
}

func textOrEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// backupState is what became of a backup, also later.
func backupState(b backup.Backup) string {
	if !b.DeletedAt.IsZero() {
		return "deleted"
	}
	return b.Status
}
