package api

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/deploycheck"
)

// Mount returns the API of a service below a base URL.
func Mount(s *containers.Service, base string) httpd.Mount {
	h := &handlers{config{s, s.Queue(), s.Inbox, s.Live(), s.Channels(), s.Logger(), s.Now, s.Version()},
		stackHandlers{s}, workHandlers{s}, settingHandlers{s, s.Usage, s.Live()}, hookHandlers{s.Webhooks, s.Inbox}}
	return httpd.Mount{Service: containers.ServiceName, BaseURL: base, Routes: h.newAPI(base).Routes()}
}

// newAPI declares all JSON endpoints of the service.
func (h *handlers) newAPI(base string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay containers", Version: h.cfg.version, BaseURL: base, Invalid: fault.InvalidArgument,
		Description: "Compose projects of a host: what runs, which new versions there are, updates, rollbacks and the jobs that do them.",
		Tags: []*huma.Tag{
			{Name: tagCore}, {Name: tagStacks}, {Name: tagDiscovery}, {Name: tagWork},
			{Name: tagJobs, Description: "Everything that takes long is a job."},
			{Name: tagVersions}, {Name: tagSettings}, {Name: tagResources}, {Name: tagHost}, {Name: tagWebhooks}, {Name: tagDeploy},
			{Name: tagNotify, Description: "What people and machines are told."},
		},
		Security: map[string]*huma.SecurityScheme{
			"webhookSecret": {Type: "apiKey", In: "header", Name: headerWebhookSecret, Description: "The shared secret of the generic trigger."},
		},
	})
	h.coreAPI(a)
	h.stacksAPI(a)
	h.workAPI(a)
	h.jobsAPI(a)
	h.settingsAPI(a)
	h.resourcesAPI(a)
	h.hooksAPI(a)
	h.reportAPI(a)
	h.notifyAPI(a)
	return a
}

func (h *handlers) coreAPI(a *api.API) {
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/health", Policy: httpd.Public,
		Handler: func(c *gin.Context) { c.String(http.StatusOK, "ok") }}, huma.Operation{
		OperationID: "health", Tags: []string{tagCore}, Summary: "Is it alive?",
		Responses: map[string]*huma.Response{"200": {Description: "It is.",
			Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{"ok"}}}}}},
	})
	api.Register(a, withPolicy(newOperation("version", http.MethodGet, "/api/version", tagCore, "The version in effect"), httpd.Public),
		h.getVersion)
}

func (h *handlers) stacksAPI(a *api.API) {
	get, post := http.MethodGet, http.MethodPost
	api.Register(a, newOperation("stacks", get, "/api/stacks", tagStacks, "List stacks"), h.listStacks)
	a.Document(httpd.Route{Method: post, Path: "/api/stacks", Policy: httpd.Forward, Handler: h.noManualStacks}, huma.Operation{
		OperationID: "stack-register", Tags: []string{tagStacks}, Summary: "Always refused: stacks are discovered",
		Responses: map[string]*huma.Response{"405": a.ErrorResponse("Stacks are not registered by hand.")},
	})
	api.Register(a, newOperation("stack", get, "/api/stacks/{stack_id}", tagStacks, "One stack with its services", notFound), h.getStack)
	api.Register(a, newOperation("stack-archive", post, "/api/stacks/{stack_id}/archive", tagStacks, "Archive a stack", notFound),
		h.archiveStack)
	api.Register(a, newOperation("stack-restore", post, "/api/stacks/{stack_id}/restore", tagStacks, "Take a stack out of the archive",
		notFound), h.restoreStack)
	api.Register(a, newOperation("stack-lifecycle", get, "/api/stacks/{stack_id}/lifecycle-status", tagStacks,
		"Whether a stack runs, and what works on it", notFound), h.stackStatus)
	api.Register(a, withText(newOperation("stack-action", post, "/api/stacks/{stack_id}/lifecycle", tagStacks,
		"Start, stop or restart a stack", notFound, conflict),
		"Makes a job that locks all services of the stack. A conflict carries existingJobId."), h.postStackAction)
	api.Register(a, newOperation("service", get, "/api/services/{service_id}", tagStacks, "One service", notFound), h.getService)
	api.Register(a, newOperation("service-archive", post, "/api/services/{service_id}/archive", tagStacks, "Archive a service", notFound),
		h.archiveService)
	api.Register(a, newOperation("service-restore", post, "/api/services/{service_id}/restore", tagStacks,
		"Take a service out of the archive", notFound), h.restoreService)
	api.Register(a, newOperation("service-lifecycle", get, "/api/services/{service_id}/lifecycle-status", tagStacks,
		"Whether a service runs, and what works on it", notFound), h.serviceStatus)
	api.Register(a, withText(newOperation("service-action", post, "/api/services/{service_id}/lifecycle", tagStacks,
		"Start, stop or restart a service", notFound, conflict),
		"Neither pulls images, nor replaces containers, nor starts other services. A conflict carries existingJobId."), h.postServiceAction)
	api.Register(a, newOperation("service-history", get, "/api/services/{service_id}/history", tagStacks,
		"Updates and rollbacks of a service", notFound), h.getHistory)
	api.Register(a, newOperation("service-settings", get, "/api/services/{service_id}/settings", tagSettings, "Settings of a service",
		notFound), h.getServiceSettings)
	api.Register(a, withText(newOperation("service-settings-change", http.MethodPut, "/api/services/{service_id}/settings", tagSettings,
		"Change the settings of a service", notFound),
		"Members that are left out stay as they are."), h.putServiceSettings)
	api.Register(a, withAccepted(newOperation("digest-tags", get, "/api/services/{service_id}/digest-tags", tagVersions,
		"Which tags stand for a digest of the service", notFound)), h.getDigestTags)
	api.Register(a, withAccepted(newOperation("digest-tags-snapshot", get, "/api/services/{service_id}/digest-tags-snapshot", tagVersions,
		"The snapshot of tags for a digest", notFound)), h.getDigestTags)
	refresh := newOperation("inference-refresh", post, "/api/services/{service_id}/version-inference/refresh", tagVersions,
		"Look for the version behind a digest again", notFound)
	refresh.Status = http.StatusAccepted
	api.Register(a, refresh, h.refreshInference)
	api.Register(a, newOperation("inference", get, "/api/version-inference/overview", tagVersions,
		"What is known of the versions behind digests"), h.getInference)
	h.declareStream(a, "inference-events", "/api/version-inference/events", tagVersions, "What the search for versions does",
		"Events version_inference_event. A cursor that is too old gets one of the type resync_required.", h.handleInferenceEvents)
}

func (h *handlers) workAPI(a *api.API) {
	get, post := http.MethodGet, http.MethodPost
	api.Register(a, newOperation("discover", post, "/api/discovery/scan", tagDiscovery, "Look for compose projects"), h.postDiscovery)
	api.Register(a, newOperation("projects", get, "/api/discovery/projects", tagDiscovery, "List compose projects"), h.listProjects)
	api.Register(a, newOperation("project-archive", post, "/api/discovery/projects/{project}/archive", tagDiscovery, "Archive a project",
		notFound), h.archiveProject)
	api.Register(a, newOperation("project-accept-move", post, "/api/discovery/projects/{project}/accept-move", tagDiscovery,
		"Take over where a project's files are now", notFound, conflict), h.acceptMove)
	api.Register(a, newOperation("project-restore", post, "/api/discovery/projects/{project}/restore", tagDiscovery,
		"Take a project out of the archive", notFound), h.restoreProject)
	api.Register(a, newOperation("check", post, "/api/checks", tagWork, "Look for new versions", conflict), h.postCheck)
	api.Register(a, newOperation("runtime-scan", post, "/api/runtime-scans", tagWork, "Scan containers", conflict), h.postRuntimeScan)
	api.Register(a, withText(newOperation("update", post, "/api/updates", tagWork, "Update services", conflict),
		"scope=service names one target by serviceId, targetTag, targetDigest and pullTags; scope=stack and scope=all name in targets exactly the services that can be updated. mode=dry-run makes a job that only tells what would run."), h.postUpdate)
	api.Register(a, newOperation("rollback-target", get, "/api/services/{service_id}/rollback-target", tagWork,
		"What a rollback would bring back", notFound), h.getRollbackTarget)
	api.Register(a, newOperation("rollback", post, "/api/services/{service_id}/rollback", tagWork, "Roll a service back", notFound, conflict),
		h.postRollback)
	api.Register(a, newOperation("backups", get, "/api/services/{service_id}/backups", tagWork, "Backups of a service's mounts", notFound),
		h.listBackups)
	api.Register(a, withText(newOperation("backup-restore", post, "/api/backups/{backup_id}/restore", tagWork, "Restore a backup", notFound,
		conflict),
		"Services that use the mount are stopped; its contents are replaced by those of the backup."), h.postRestore)
}

func (h *handlers) jobsAPI(a *api.API) {
	api.Register(a, withText(newOperation("jobs", http.MethodGet, "/api/jobs", tagJobs, "List jobs"),
		"By createdAt, then id, both descending. A cursor that is not valid gives the code invalid_jobs_cursor."), h.listJobs)
	h.declareStream(a, "job-events", "/api/jobs/events", tagJobs, "Events of all jobs",
		"Events job_event. Without a cursor the stream begins with what comes.", h.handleAllJobEvents)
	api.Register(a, newOperation("job", http.MethodGet, "/api/jobs/{job_id}", tagJobs, "One job with its log", notFound), h.getJob)
	api.Register(a, withText(newOperation("job-cancel", http.MethodPost, "/api/jobs/{job_id}/cancel", tagJobs, "Cancel a job", notFound,
		conflict), "An update that has begun to change a container brings the former image back first."), h.cancelJob)
	h.declareStream(a, "one-job-events", "/api/jobs/:job_id/events", tagJobs, "Events of one job",
		"Events job_log, job_progress, job_status and others of the job's type. Without a cursor the stream begins at the beginning; it ends with the job.", h.handleJobEvents)
}

func (h *handlers) settingsAPI(a *api.API) {
	api.Register(a, newOperation("ignores", http.MethodGet, "/api/ignores", tagSettings, "List ignore rules"), h.listIgnores)
	api.Register(a, newOperation("ignore-add", http.MethodPost, "/api/ignores", tagSettings, "Add an ignore rule"), h.postIgnore)
	api.Register(a, newOperation("ignore-delete", http.MethodDelete, "/api/ignores", tagSettings, "Delete an ignore rule"), h.deleteIgnore)
	api.Register(a, newOperation("settings", http.MethodGet, "/api/settings", tagSettings, "Settings of the service"), h.getSettings)
	api.Register(a, withText(newOperation("settings-change", http.MethodPut, "/api/settings", tagSettings, "Change the settings"),
		"Members that are left out, on all levels, stay as they are. While backups are on, their directory must be writable."), h.putSettings)
	api.Register(a, newOperation("welcome", http.MethodGet, "/api/deploy-welcome", tagDeploy, "Whether the deploy check opens by itself"),
		h.getWelcome)
	api.Register(a, newOperation("welcome-change", http.MethodPut, "/api/deploy-welcome", tagDeploy, "Say whether it does"), h.putWelcome)
}

func (h *handlers) resourcesAPI(a *api.API) {
	api.Register(a, newOperation("resource-history", http.MethodGet, "/api/services/{service_id}/resource-usage/history", tagResources,
		"Resource usage in a window", notFound, conflict), h.getResourceHistory)
	h.declareStream(a, "resource-events", "/api/services/:service_id/resource-usage/events", tagResources, "Resource usage as it is sampled",
		"Events resource_usage_snapshot, then resource_usage_tick, about one a second.", h.handleResourceEvents)
	api.Register(a, newOperation("resource-overview", http.MethodGet, "/api/services/resource-usage/overview", tagResources,
		"Resource usage of all services"), h.getResourceOverview)
}

// reportAPI declares the endpoints of the deploy check.
func (h *handlers) reportAPI(a *api.API) {
	last := newOperation("deploy-report", http.MethodGet, "/api/deploy-check/report", tagDeploy, "The last report of the deploy check")
	last.Also = map[int]any{http.StatusOK: deploycheck.Report{}, http.StatusAccepted: PendingReport{}}
	api.Register(a, last, h.getReport)
	refresh := newOperation("deploy-report-refresh", http.MethodPost, "/api/deploy-check/report/refresh", tagDeploy, "Have a report made")
	refresh.Status = http.StatusAccepted
	api.Register(a, refresh, h.postReport)
}
