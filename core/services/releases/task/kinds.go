package task

import (
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// taskPrefix begins the type of a job that is a task of a user. What follows is the type of the task, with "_" for ".".
const taskPrefix = "releases.task_"

// The types of tasks.
const (
	Starred       = "sync.starred"
	Releases      = "sync.releases"
	Notifications = "sync.notifications"
	All           = "sync.all"
	Brief         = "brief.generate"

	TranslateRelease      = "translate.release"
	TranslateDetail       = "translate.release_detail"
	TranslateNotification = "translate.notification"
)

// Payload is what a task works on.
type Payload struct {
	UserID string `json:"user_id"`
	// Date is that of a brief, "" for the latest.
	Date string `json:"date,omitempty"`
	// EntityID is what is translated: a release, or the thread of a notification.
	EntityID string `json:"entity_id,omitempty"`
}

// jobType returns the type of the job of a task.
func jobType(task string) string {
	raw := []byte(taskPrefix + task)
	for i := len(taskPrefix); i < len(raw); i++ {
		if raw[i] == '.' {
			raw[i] = '_'
		}
	}
	return string(raw)
}

// TypeOfJob returns the type of the task that a job is. It reports false for other jobs.
func TypeOfJob(job string) (string, bool) {
	for _, task := range allTasks {
		if jobType(task) == job {
			return task, true
		}
	}
	return "", false
}

// StatusName returns the status of a task whose job is in a state.
func StatusName(state queue.State) string {
	switch state {
	case queue.Success:
		return "succeeded"
	case queue.RolledBack:
		return string(queue.Failed)
	}
	return string(state)
}

// TranslatedKind returns the kind of what a task translates, "" for other tasks.
func TranslatedKind(task string) string {
	switch task {
	case TranslateRelease:
		return translation.KindSummary
	case TranslateDetail:
		return translation.KindDetail
	case TranslateNotification:
		return translation.KindNotification
	}
	return ""
}

// allTasks are the types of tasks.
var allTasks = []string{Starred, Releases, Notifications, All, Brief, TranslateRelease, TranslateDetail, TranslateNotification}
