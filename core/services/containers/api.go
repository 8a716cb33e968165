package containers

import (
	"cmp"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// The groups of operations in the document.
const (
	tagCore      = "Core"
	tagStacks    = "Stacks and services"
	tagDiscovery = "Discovery"
	tagWork      = "Checks and updates"
	tagJobs      = "Jobs"
	tagVersions  = "Version inference"
	tagSettings  = "Settings"
	tagResources = "Resources"
	tagHost      = "Code host packages"
	tagWebhooks  = "Webhooks"
	tagDeploy    = "Deploy check"
	tagNotify    = "Notifications"
)

// newAPI declares all JSON endpoints of the service.
func (s *Service) newAPI(base string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay containers", Version: s.coreVersion(), BaseURL: base, Invalid: fault.InvalidArgument,
		Description: "Compose projects of a host: what runs, which new versions there are, updates, rollbacks and the jobs that do them.",
		Tags: []*huma.Tag{
			{Name: tagCore}, {Name: tagStacks}, {Name: tagDiscovery}, {Name: tagWork}, {Name: tagJobs, Description: "Everything that takes long is a job."},
			{Name: tagVersions}, {Name: tagSettings}, {Name: tagResources}, {Name: tagHost}, {Name: tagWebhooks}, {Name: tagDeploy},
			{Name: tagNotify, Description: "What people and machines are told."},
		},
		Security: map[string]*huma.SecurityScheme{
			"webhookSecret": {Type: "apiKey", In: "header", Name: headerWebhookSecret, Description: "The shared secret of the generic trigger."},
		},
	})
	s.coreAPI(a)
	s.stacksAPI(a)
	s.workAPI(a)
	s.jobsAPI(a)
	s.settingsAPI(a)
	s.resourcesAPI(a)
	s.hooksAPI(a)
	s.reportAPI(a)
	s.notifyAPI(a)
	return a
}

func (s *Service) coreVersion() string { return cmp.Or(s.cfg.Version, "0.0.0-dev") }

// Mount is the service below its base URL.
func (s *Service) Mount() (httpd.Mount, error) { return s.MountAt(s.settings().BaseURL) }

// MountAt is Mount for another base URL than the one in use.
func (s *Service) MountAt(base string) (httpd.Mount, error) {
	return httpd.Mount{Service: "containers", BaseURL: base, Routes: s.newAPI(base).Routes()}, nil
}

// newOperation returns the declaration of an endpoint.
func newOperation(id, method, path, tag, summary string, errors ...int) api.Operation {
	return api.Operation{ID: id, Method: method, Path: path, Policy: httpd.Forward, Tag: tag, Summary: summary, Errors: errors}
}

func withText(o api.Operation, text string) api.Operation { o.Description = text; return o }

// withAccepted adds 202, with the same type of body: what is asked for is being made.
func withAccepted(o api.Operation) api.Operation {
	o.Also = map[int]any{http.StatusAccepted: nil}
	return o
}

func withPolicy(o api.Operation, p httpd.Policy) api.Operation { o.Policy = p; return o }

const (
	notFound = http.StatusNotFound
	conflict = http.StatusConflict
)

// declareStream declares a stream of events.
func (s *Service) declareStream(a *api.API, id, path, tag, summary, text string, handler gin.HandlerFunc) {
	a.Document(httpd.Route{Method: http.MethodGet, Path: path, Policy: httpd.Forward, Handler: handler}, huma.Operation{
		OperationID: id, Tags: []string{tag}, Summary: summary, Description: text + " A comment comes every 15 s. To go on after a cut, send the id of the last event as the header Last-Event-ID or as afterId; the larger counts.",
		Parameters: []*huma.Param{{Name: "afterId", In: "query", Description: "Go on after this event.", Schema: &huma.Schema{Type: huma.TypeInteger, Format: "int64", Minimum: new(float64)}}},
		Responses:  map[string]*huma.Response{"200": {Description: "The stream.", Content: map[string]*huma.MediaType{"text/event-stream": {Schema: &huma.Schema{Type: huma.TypeString}}}}},
	})
}

func (s *Service) coreAPI(a *api.API) {
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/health", Policy: httpd.Public, Handler: func(c *gin.Context) { c.String(http.StatusOK, "ok") }}, huma.Operation{
		OperationID: "health", Tags: []string{tagCore}, Summary: "Is it alive?",
		Responses: map[string]*huma.Response{"200": {Description: "It is.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{"ok"}}}}}},
	})
	api.Register(a, withPolicy(newOperation("version", http.MethodGet, "/api/version", tagCore, "The version in effect"), httpd.Public), s.getVersion)
}

func (s *Service) stacksAPI(a *api.API) {
	get, post := http.MethodGet, http.MethodPost
	api.Register(a, newOperation("stacks", get, "/api/stacks", tagStacks, "List stacks"), s.listStacks)
	a.Document(httpd.Route{Method: post, Path: "/api/stacks", Policy: httpd.Forward, Handler: s.noManualStacks}, huma.Operation{
		OperationID: "stack-register", Tags: []string{tagStacks}, Summary: "Always refused: stacks are discovered", Responses: map[string]*huma.Response{"405": a.ErrorResponse("Stacks are not registered by hand.")},
	})
	api.Register(a, newOperation("stack", get, "/api/stacks/{stack_id}", tagStacks, "One stack with its services", notFound), s.getStack)
	api.Register(a, newOperation("stack-archive", post, "/api/stacks/{stack_id}/archive", tagStacks, "Archive a stack", notFound), s.archiveStack)
	api.Register(a, newOperation("stack-restore", post, "/api/stacks/{stack_id}/restore", tagStacks, "Take a stack out of the archive", notFound), s.restoreStack)
	api.Register(a, newOperation("stack-lifecycle", get, "/api/stacks/{stack_id}/lifecycle-status", tagStacks, "Whether a stack runs, and what works on it", notFound), s.stackStatus)
	api.Register(a, withText(newOperation("stack-action", post, "/api/stacks/{stack_id}/lifecycle", tagStacks, "Start, stop or restart a stack", notFound, conflict),
		"Makes a job that locks all services of the stack. A conflict carries existingJobId."), s.postStackAction)
	api.Register(a, newOperation("service", get, "/api/services/{service_id}", tagStacks, "One service", notFound), s.getService)
	api.Register(a, newOperation("service-archive", post, "/api/services/{service_id}/archive", tagStacks, "Archive a service", notFound), s.archiveService)
	api.Register(a, newOperation("service-restore", post, "/api/services/{service_id}/restore", tagStacks, "Take a service out of the archive", notFound), s.restoreService)
	api.Register(a, newOperation("service-lifecycle", get, "/api/services/{service_id}/lifecycle-status", tagStacks, "Whether a service runs, and what works on it", notFound), s.serviceStatus)
	api.Register(a, withText(newOperation("service-action", post, "/api/services/{service_id}/lifecycle", tagStacks, "Start, stop or restart a service", notFound, conflict),
		"Neither pulls images, nor replaces containers, nor starts other services. A conflict carries existingJobId."), s.postServiceAction)
	api.Register(a, newOperation("service-history", get, "/api/services/{service_id}/history", tagStacks, "Updates and rollbacks of a service", notFound), s.getHistory)
	api.Register(a, newOperation("service-settings", get, "/api/services/{service_id}/settings", tagSettings, "Settings of a service", notFound), s.getServiceSettings)
	api.Register(a, withText(newOperation("service-settings-change", http.MethodPut, "/api/services/{service_id}/settings", tagSettings, "Change the settings of a service", notFound),
		"Members that are left out stay as they are."), s.putServiceSettings)
	api.Register(a, withAccepted(newOperation("digest-tags", get, "/api/services/{service_id}/digest-tags", tagVersions, "Which tags stand for a digest of the service", notFound)), s.getDigestTags)
	api.Register(a, withAccepted(newOperation("digest-tags-snapshot", get, "/api/services/{service_id}/digest-tags-snapshot", tagVersions, "The snapshot of tags for a digest", notFound)), s.getDigestTags)
	refresh := newOperation("inference-refresh", post, "/api/services/{service_id}/version-inference/refresh", tagVersions, "Look for the version behind a digest again", notFound)
	refresh.Status = http.StatusAccepted
	api.Register(a, refresh, s.refreshInference)
	api.Register(a, newOperation("inference", get, "/api/version-inference/overview", tagVersions, "What is known of the versions behind digests"), s.getInference)
	s.declareStream(a, "inference-events", "/api/version-inference/events", tagVersions, "What the search for versions does", "Events version_inference_event. A cursor that is too old gets one of the type resync_required.", s.handleInferenceEvents)
}

func (s *Service) workAPI(a *api.API) {
	get, post := http.MethodGet, http.MethodPost
	api.Register(a, newOperation("discover", post, "/api/discovery/scan", tagDiscovery, "Look for compose projects"), s.postDiscovery)
	api.Register(a, newOperation("projects", get, "/api/discovery/projects", tagDiscovery, "List compose projects"), s.listProjects)
	api.Register(a, newOperation("project-archive", post, "/api/discovery/projects/{project}/archive", tagDiscovery, "Archive a project", notFound), s.archiveProject)
	api.Register(a, newOperation("project-accept-move", post, "/api/discovery/projects/{project}/accept-move", tagDiscovery, "Take over where a project's files are now", notFound, conflict), s.acceptMove)
	api.Register(a, newOperation("project-restore", post, "/api/discovery/projects/{project}/restore", tagDiscovery, "Take a project out of the archive", notFound), s.restoreProject)
	api.Register(a, newOperation("check", post, "/api/checks", tagWork, "Look for new versions", conflict), s.postCheck)
	api.Register(a, newOperation("runtime-scan", post, "/api/runtime-scans", tagWork, "Scan containers", conflict), s.postRuntimeScan)
	api.Register(a, withText(newOperation("update", post, "/api/updates", tagWork, "Update services", conflict),
		"scope=service names one target by serviceId, targetTag, targetDigest and pullTags; scope=stack and scope=all name in targets exactly the services that can be updated. mode=dry-run makes a job that only tells what would run."), s.postUpdate)
	api.Register(a, newOperation("rollback-target", get, "/api/services/{service_id}/rollback-target", tagWork, "What a rollback would bring back", notFound), s.getRollbackTarget)
	api.Register(a, newOperation("rollback", post, "/api/services/{service_id}/rollback", tagWork, "Roll a service back", notFound, conflict), s.postRollback)
	api.Register(a, newOperation("backups", get, "/api/services/{service_id}/backups", tagWork, "Backups of a service's mounts", notFound), s.listBackups)
	api.Register(a, withText(newOperation("backup-restore", post, "/api/backups/{backup_id}/restore", tagWork, "Restore a backup", notFound, conflict),
		"Services that use the mount are stopped; its contents are replaced by those of the backup."), s.postRestore)
}

func (s *Service) jobsAPI(a *api.API) {
	api.Register(a, withText(newOperation("jobs", http.MethodGet, "/api/jobs", tagJobs, "List jobs"), "By createdAt, then id, both descending. A cursor that is not valid gives the code invalid_jobs_cursor."), s.listJobs)
	s.declareStream(a, "job-events", "/api/jobs/events", tagJobs, "Events of all jobs", "Events job_event. Without a cursor the stream begins with what comes.", s.handleAllJobEvents)
	api.Register(a, newOperation("job", http.MethodGet, "/api/jobs/{job_id}", tagJobs, "One job with its log", notFound), s.getJob)
	api.Register(a, withText(newOperation("job-cancel", http.MethodPost, "/api/jobs/{job_id}/cancel", tagJobs, "Cancel a job", notFound, conflict), "An update that has begun to change a container brings the former image back first."), s.cancelJob)
	s.declareStream(a, "one-job-events", "/api/jobs/:job_id/events", tagJobs, "Events of one job", "Events job_log, job_progress, job_status and others of the job's type. Without a cursor the stream begins at the beginning; it ends with the job.", s.handleJobEvents)
}

func (s *Service) settingsAPI(a *api.API) {
	api.Register(a, newOperation("ignores", http.MethodGet, "/api/ignores", tagSettings, "List ignore rules"), s.listIgnores)
	api.Register(a, newOperation("ignore-add", http.MethodPost, "/api/ignores", tagSettings, "Add an ignore rule"), s.postIgnore)
	api.Register(a, newOperation("ignore-delete", http.MethodDelete, "/api/ignores", tagSettings, "Delete an ignore rule"), s.deleteIgnore)
	api.Register(a, newOperation("settings", http.MethodGet, "/api/settings", tagSettings, "Settings of the service"), s.getSettings)
	api.Register(a, withText(newOperation("settings-change", http.MethodPut, "/api/settings", tagSettings, "Change the settings"), "Members that are left out, on all levels, stay as they are. While backups are on, their directory must be writable."), s.putSettings)
	api.Register(a, newOperation("welcome", http.MethodGet, "/api/deploy-welcome", tagDeploy, "Whether the deploy check opens by itself"), s.getWelcome)
	api.Register(a, newOperation("welcome-change", http.MethodPut, "/api/deploy-welcome", tagDeploy, "Say whether it does"), s.putWelcome)
}

func (s *Service) resourcesAPI(a *api.API) {
	api.Register(a, newOperation("resource-history", http.MethodGet, "/api/services/{service_id}/resource-usage/history", tagResources, "Resource usage in a window", notFound, conflict), s.getResourceHistory)
	s.declareStream(a, "resource-events", "/api/services/:service_id/resource-usage/events", tagResources, "Resource usage as it is sampled", "Events resource_usage_snapshot, then resource_usage_tick, about one a second.", s.handleResourceEvents)
	api.Register(a, newOperation("resource-overview", http.MethodGet, "/api/services/resource-usage/overview", tagResources, "Resource usage of all services"), s.getResourceOverview)
}
