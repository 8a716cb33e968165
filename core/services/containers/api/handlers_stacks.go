package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// stackHandlers answers requests about stacks and services.
type stackHandlers struct{ s *containers.Service }

// StackPath names a stack.
type StackPath struct {
	ID string `path:"stack_id" maxLength:"64" example:"stk_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// ServicePath names a service.
type ServicePath struct {
	ID string `path:"service_id" maxLength:"64" example:"svc_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// ProjectPath names a project.
type ProjectPath struct {
	Project string `path:"project" maxLength:"200" example:"blog"`
}

type archivedQuery struct {
	Archived string `query:"archived" enum:"exclude,include,only" default:"exclude" doc:"Which of the archived to show."`
}

// JobID names the job that was made.
type JobID struct {
	JobID string `json:"jobId" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

type jobAnswer struct{ Body JobID }

func answerJob(id string, err error) (*jobAnswer, error) {
	if err != nil {
		return nil, err
	}
	return &jobAnswer{JobID{id}}, nil
}

// VersionInfo is the version in effect.
type VersionInfo struct {
	Version string `json:"version" example:"1.4.0"`
}

func (h *stackHandlers) getVersion(context.Context, *struct{}) (*struct{ Body VersionInfo }, error) {
	return &struct{ Body VersionInfo }{VersionInfo{h.s.Version()}}, nil
}

// StackList is a list of stacks.
type StackList struct {
	Stacks []project.StackItem `json:"stacks"`
}

func (h *stackHandlers) listStacks(ctx context.Context, in *archivedQuery) (*struct{ Body StackList }, error) {
	list, err := h.s.Stacks(ctx, in.Archived)
	return &struct{ Body StackList }{StackList{list}}, err
}

// noManualStacks refuses to register a stack.
func (h *stackHandlers) noManualStacks(c *gin.Context) {
	c.Header("Allow", http.MethodGet)
	httpd.WriteError(c, fault.New(fault.MethodNotAllowed, "Stacks are not registered by hand: they are discovered."))
}

// StackBody is one stack.
type StackBody struct {
	Stack project.StackDetail `json:"stack"`
}

func (h *stackHandlers) getStack(ctx context.Context, in *StackPath) (*struct{ Body StackBody }, error) {
	st, err := h.s.Stack(ctx, in.ID)
	return &struct{ Body StackBody }{StackBody{st}}, err
}

func (h *stackHandlers) archiveStack(ctx context.Context, in *StackPath) (*api.OKAnswer, error) {
	return api.Done(h.s.ArchiveStack(ctx, in.ID))
}

func (h *stackHandlers) restoreStack(ctx context.Context, in *StackPath) (*api.OKAnswer, error) {
	return api.Done(h.s.RestoreStack(ctx, in.ID))
}

func (h *stackHandlers) archiveService(ctx context.Context, in *ServicePath) (*api.OKAnswer, error) {
	return api.Done(h.s.ArchiveService(ctx, in.ID))
}

func (h *stackHandlers) restoreService(ctx context.Context, in *ServicePath) (*api.OKAnswer, error) {
	return api.Done(h.s.RestoreService(ctx, in.ID))
}

func (h *stackHandlers) stackStatus(ctx context.Context, in *StackPath) (*struct{ Body lifecycle.StackLifecycle }, error) {
	st, err := h.s.StackLifecycle(ctx, in.ID)
	return &struct{ Body lifecycle.StackLifecycle }{st}, err
}

func (h *stackHandlers) serviceStatus(ctx context.Context, in *ServicePath) (*struct{ Body lifecycle.ServiceLifecycle }, error) {
	st, err := h.s.ServiceLifecycle(ctx, in.ID)
	return &struct{ Body lifecycle.ServiceLifecycle }{st}, err
}

// ActionBody asks for a lifecycle action.
type ActionBody struct {
	Action string `json:"action" enum:"start,stop,restart" example:"restart"`
}

func (h *stackHandlers) postStackAction(ctx context.Context, in *struct {
	StackPath
	Body ActionBody
}) (*jobAnswer, error) {
	return answerJob(h.s.StackAction(ctx, in.ID, in.Body.Action))
}

func (h *stackHandlers) postServiceAction(ctx context.Context, in *struct {
	ServicePath
	Body ActionBody
}) (*jobAnswer, error) {
	return answerJob(h.s.ServiceAction(ctx, in.ID, in.Body.Action))
}

// ServiceBody is one service with its stack.
type ServiceBody struct {
	Service project.ServiceDetail `json:"service"`
	Stack   project.StackItem     `json:"stack"`
}

func (h *stackHandlers) getService(ctx context.Context, in *ServicePath) (*struct{ Body ServiceBody }, error) {
	svc, st, err := h.s.Service(ctx, in.ID)
	return &struct{ Body ServiceBody }{ServiceBody{svc, st}}, err
}

// HistoryBody is what happened to a service.
type HistoryBody struct {
	Changes []change.Change `json:"changes"`
}

func (h *stackHandlers) getHistory(ctx context.Context, in *ServicePath) (*struct{ Body HistoryBody }, error) {
	list, err := h.s.History(ctx, in.ID)
	return &struct{ Body HistoryBody }{HistoryBody{list}}, err
}

func (h *stackHandlers) getServiceSettings(ctx context.Context, in *ServicePath) (*struct{ Body project.ServiceSettings }, error) {
	set, err := h.s.ServiceSettings(ctx, in.ID)
	return &struct{ Body project.ServiceSettings }{set}, err
}

// ServiceSettingsBody changes the settings of a service. Members that are left out stay as they are.
type ServiceSettingsBody struct {
	AutoRollback  *bool                 `json:"autoRollback" required:"false" doc:"Whether the former image comes back when an update fails."`
	BackupTargets *record.BackupTargets `json:"backupTargets" required:"false"`
	RepoURL       api.OptionalText      `json:"repoUrl" required:"false" maxLength:"1024" example:"https://code.example/acme/web" doc:"Where the service is developed; null clears it."`
	HealthTimeout api.OptionalNumber    `json:"healthTimeoutSeconds" required:"false" example:"60" doc:"1 to 3600; null for the default."`
	MinAge        api.OptionalNumber    `json:"minimumAgeSeconds" required:"false" example:"60" doc:"0 to 31536000; null for the default."`
}

func (h *stackHandlers) putServiceSettings(ctx context.Context, in *struct {
	ServicePath
	Body ServiceSettingsBody
}) (*api.OKAnswer, error) {
	return api.Done(h.s.ChangeService(ctx, in.ID, project.ServiceChange(in.Body)))
}
