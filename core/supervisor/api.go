package supervisor

import (
	"context"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// About is what the supervisor says of itself.
type About struct {
	Version       string `json:"version" example:"1.4.0"`
	Repository    string `json:"repository" example:"https://github.com/patchbay-dev/patchbay"`
	DeveloperName string `json:"developerName" example:"The Patchbay developers"`
	DeveloperURL  string `json:"developerUrl" example:"https://github.com/patchbay-dev"`
}

// newAbout returns what a supervisor of a version says.
func newAbout(version string) About {
	return About{
		Version: version, Repository: "https://github.com/patchbay-dev/patchbay", DeveloperName: "The Patchbay developers",
		DeveloperURL: "https://github.com/patchbay-dev",
	}
}

// StateView is the state of self-upgrade.
type StateView struct {
	State     Status          `json:"state" enum:"idle,running,succeeded,failed,rolled_back" doc:"That of the last operation."`
	OpID      string          `json:"opId" doc:"Empty while there was none."`
	Request   *RequestView    `json:"request,omitempty" doc:"While an operation runs."`
	Target    TargetView      `json:"target"`
	Previous  ImageView       `json:"previous"`
	StartedAt *time.Time      `json:"startedAt"`
	UpdatedAt *time.Time      `json:"updatedAt"`
	Progress  ProgressView    `json:"progress"`
	Logs      []LogLine       `json:"logs"`
	Earlier   []OperationView `json:"operations" doc:"All that are kept, the newest first."`
}

// RequestView is what the operation that runs was asked for.
type RequestView struct {
	Mode              Mode `json:"mode" enum:"apply,dry-run"`
	RollbackOnFailure bool `json:"rollbackOnFailure"`
}

// ImageView is an image by its names in the repository.
type ImageView struct {
	Tag     string  `json:"tag"`
	Digest  *string `json:"digest"`
	Version string  `json:"version,omitempty"`
}

// TargetView is the image that is, or was, wanted.
type TargetView struct {
	Image string `json:"image" doc:"The repository."`
	ImageView
}

// ProgressView tells what is being done.
type ProgressView struct {
	Step    Step   `json:"step" enum:"precheck,pull,check_image,wait_turn,wait_jobs,apply,wait_healthy,rollback,rollback_wait_healthy,done"`
	Message string `json:"message"`
}

// OperationView is one operation.
type OperationView struct {
	OpID      string    `json:"opId"`
	State     Status    `json:"state" enum:"running,succeeded,failed,rolled_back"`
	Mode      Mode      `json:"mode" enum:"apply,dry-run"`
	Target    ImageView `json:"target"`
	Previous  ImageView `json:"previous"`
	Message   string    `json:"message"`
	StartedAt time.Time `json:"startedAt"`
	UpdatedAt time.Time `json:"updatedAt"`
	Logs      []LogLine `json:"logs"`
}

// UpgradeBody asks for an upgrade.
type UpgradeBody struct {
	Target            *TargetBody `json:"target" required:"false" doc:"The tag latest if it is left out."`
	Mode              Mode        `json:"mode" enum:"apply,dry-run"`
	RollbackOnFailure *bool       `json:"rollbackOnFailure" required:"false" doc:"Bring the former image back when the new one does not answer as it should; true if it is left out."`
}

// TargetBody names the wanted image. With both, the digest is pulled and gets the tag.
type TargetBody struct {
	Tag    string  `json:"tag" required:"false" maxLength:"128"`
	Digest *string `json:"digest" required:"false" maxLength:"71" nullable:"true"`
}

// OperationID names an operation.
type OperationID struct {
	OpID string `json:"opId" example:"sup_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
}

// RollbackBody says which upgrade to take back.
type RollbackBody struct {
	OpID string `json:"opId" required:"false" maxLength:"64" example:"sup_01K9ZS5T9W1V6Q0P9A8E7C6B5D" doc:"The last upgrade that was not taken back, if it is left out."`
}

// Done answers what has begun.
type Done struct {
	OK bool `json:"ok"`
}

type (
	nothing        struct{}
	operationsHTTP struct {
		s     *Supervisor
		about About
	}
)

// The groups of the endpoints.
const (
	tagAbout   = "Supervisor"
	tagUpgrade = "Self-upgrade"
)

// newAPI returns the endpoints of the supervisor below a path. identity is the header in which the proxy tells who calls.
func newAPI(s *Supervisor, base, version, identity string) *api.API {
	a := api.New(api.Config{
		Title: "Patchbay supervisor", Version: version, BaseURL: base, Invalid: fault.InvalidArgument, ForwardHeader: identity,
		Description: "Upgrades the core and brings the former one back. It runs beside the core, and answers while the core is down.",
		Tags: []*huma.Tag{
			{Name: tagAbout, Description: "Whether the supervisor is alive, and which one it is."},
			{Name: tagUpgrade, Description: "One operation at a time: a dry run, an upgrade or a rollback. It goes on after its request is answered; its state tells how."},
		},
	})
	h := operationsHTTP{s, newAbout(version)}
	operation := func(id, method, path, tag, summary, text string, errors ...int) api.Operation {
		return api.Operation{ID: id, Method: method, Path: path, Policy: httpd.Forward, Tag: tag, Summary: summary, Description: text,
			Errors: errors}
	}
	api.Register(a, operation("health", http.MethodGet, "/health", tagAbout, "Is the supervisor alive?", "Says nothing about the core."),
		h.getHealth)
	api.Register(a, operation("version", http.MethodGet, "/version", tagAbout, "What the supervisor is",
		"Its own version, which may differ from the core's."), h.getAbout)
	api.Register(a, operation("self-upgrade", http.MethodGet, "/self-upgrade", tagUpgrade, "The state of self-upgrade",
		"The operation that changed last, with its progress and log, and the earlier ones."), h.getState)
	api.Register(a, operation("begin-self-upgrade", http.MethodPost, "/self-upgrade", tagUpgrade,
		"Upgrade the core, or tell what that would do",
		"Answers as soon as the operation has begun. The same request while it runs gets the same opId; another one is refused with 409 and the opId of the one that runs.", http.StatusConflict), h.postUpgrade)
	api.Register(a, operation("rollback", http.MethodPost, "/self-upgrade/rollback", tagUpgrade, "Bring the former core back",
		"Takes back the last upgrade. Where that is not possible the answer is 400, with a reason that programs can tell apart."), h.postRollback)
	return a
}

func (h operationsHTTP) getHealth(context.Context, *nothing) (*api.Out[Done], error) {
	return api.AnswerWith(Done{true}, nil)
}

func (h operationsHTTP) getAbout(context.Context, *nothing) (*api.Out[About], error) {
	return api.AnswerWith(h.about, nil)
}

func (h operationsHTTP) getState(context.Context, *nothing) (*api.Out[StateView], error) {
	return api.AnswerWith(h.s.stateView(), nil)
}

func (h operationsHTTP) postUpgrade(_ context.Context, in *struct{ Body UpgradeBody }) (*api.Out[OperationID], error) {
	r := Request{Mode: in.Body.Mode, RollbackOnFailure: in.Body.RollbackOnFailure == nil || *in.Body.RollbackOnFailure}
	if t := in.Body.Target; t != nil {
		if r.Target.Tag = t.Tag; t.Digest != nil {
			r.Target.Digest = *t.Digest
		}
		if r.Target.Tag == "" && r.Target.Digest == "" {
			return nil, fault.New(fault.InvalidArgument, "target.tag must not be empty without a digest.")
		}
	}
	id, err := h.s.Begin(r)
	return api.AnswerWith(OperationID{id}, err)
}

func (h operationsHTTP) postRollback(ctx context.Context, in *struct{ Body RollbackBody }) (*api.Out[Done], error) {
	return api.AnswerWith(Done{true}, h.s.BeginRollback(ctx, in.Body.OpID))
}

// stateView returns the state for programs.
func (s *Supervisor) stateView() StateView {
	all := s.Operations()
	out := StateView{
		State: Idle, Target: TargetView{s.deployment.sourceName(), ImageView{Tag: "latest"}}, Previous: ImageView{Tag: "unknown"},
		Progress: ProgressView{StepDone, "idle"},
		Logs:     []LogLine{}, Earlier: make([]OperationView, 0, len(all)),
	}
	for _, o := range all {
		out.Earlier = append(out.Earlier, OperationView{
			OpID: o.ID, State: o.Status, Mode: o.Request.Mode, Target: viewImage(o.Target), Previous: viewImage(o.Previous), Message: o.Message,
			StartedAt: o.Started, UpdatedAt: o.Updated, Logs: o.Logs,
		})
	}
	o := lastChanged(all)
	if o == nil {
		return out
	}
	out.State, out.OpID, out.StartedAt, out.UpdatedAt = o.Status, o.ID, &o.Started, &o.Updated
	out.Target.ImageView, out.Previous, out.Progress, out.Logs = viewImage(o.Target), viewImage(o.Previous), ProgressView{o.Step, o.Message},
		o.Logs
	if o.Status == Running {
		out.Request = &RequestView{o.Request.Mode, o.Request.RollbackOnFailure}
	}
	return out
}

// lastChanged returns the operation that changed last: the one that runs, or the one that ended last.
func lastChanged(all []Operation) (last *Operation) {
	for i := range all {
		if last == nil || all[i].Updated.After(last.Updated) {
			last = &all[i]
		}
	}
	return last
}

func viewImage(i Image) ImageView {
	out := ImageView{Tag: i.Tag, Version: i.Version}
	if i.Digest != "" {
		out.Digest = &i.Digest
	}
	return out
}
