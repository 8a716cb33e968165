package api

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/containers/change"
	"github.com/patchbay-dev/patchbay/core/services/containers/lifecycle"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
)

// stackHandlers answers requests about stacks and services.
type stackHandlers struct{ s stackService }

// StackList is a list of stacks.
type StackList struct {
	Stacks []project.StackItem `json:"stacks"`
}

func (h *stackHandlers) listStacks(ctx context.Context, in *archivedQuery) (*api.Out[StackList], error) {
	list, err := h.s.Stacks(ctx, in.Archived)
	return api.AnswerWith(StackList{list}, err)
}

// noManualStacks refuses to register a stack.
func (h *stackHandlers) noManualStacks(c *gin.Context) {
	c.Header("Allow", http.MethodGet)
	httpd.WriteError(c, fault.New(fault.MethodNotAllowed, "Stacks cannot be created here: Patchbay discovers them."))
}

// StackBody is one stack.
type StackBody struct {
	Stack project.StackDetail `json:"stack"`
}

func (h *stackHandlers) getStack(ctx context.Context, in *StackPath) (*api.Out[StackBody], error) {
	st, err := h.s.Stack(ctx, in.ID)
	return api.AnswerWith(StackBody{st}, err)
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

func (h *stackHandlers) stackStatus(ctx context.Context, in *StackPath) (*api.Out[lifecycle.StackLifecycle], error) {
	return api.AnswerWith(h.s.StackLifecycle(ctx, in.ID))
}

func (h *stackHandlers) serviceStatus(ctx context.Context, in *ServicePath) (*api.Out[lifecycle.ServiceLifecycle], error) {
	return api.AnswerWith(h.s.ServiceLifecycle(ctx, in.ID))
}

// ActionBody asks for a lifecycle action.
type ActionBody struct {
	Action string `json:"action" enum:"start,stop,restart" example:"restart"`
}

func (h *stackHandlers) postStackAction(ctx context.Context, in *struct {
	StackPath
	Body ActionBody
}) (*api.Out[JobID], error) {
	return answerJob(h.s.StackAction(ctx, in.ID, in.Body.Action))
}

func (h *stackHandlers) postServiceAction(ctx context.Context, in *struct {
	ServicePath
	Body ActionBody
}) (*api.Out[JobID], error) {
	return answerJob(h.s.ServiceAction(ctx, in.ID, in.Body.Action))
}

// ServiceBody is one service with its stack.
type ServiceBody struct {
	Service project.ServiceDetail `json:"service"`
	Stack   project.StackItem     `json:"stack"`
}

func (h *stackHandlers) getService(ctx context.Context, in *ServicePath) (*api.Out[ServiceBody], error) {
	svc, st, err := h.s.Service(ctx, in.ID)
	return api.AnswerWith(ServiceBody{svc, st}, err)
}

// HistoryBody is what happened to a service.
type HistoryBody struct {
	Changes []change.Change `json:"changes"`
}

func (h *stackHandlers) getHistory(ctx context.Context, in *ServicePath) (*api.Out[HistoryBody], error) {
	list, err := h.s.History(ctx, in.ID)
	return api.AnswerWith(HistoryBody{list}, err)
}

func (h *stackHandlers) getServiceSettings(ctx context.Context, in *ServicePath) (*api.Out[project.ServiceSettings], error) {
	return api.AnswerWith(h.s.ServiceSettings(ctx, in.ID))
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
