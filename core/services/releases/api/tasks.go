package api

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
	"github.com/patchbay-dev/patchbay/core/services/releases/task"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
)

// taskHandlers runs tasks.
type taskHandlers struct {
	reading    *reading.Reading
	tasks      *task.Tasks
	translator *translation.Translator
	translate  *translateHandlers
}

// TaskAccepted tells of a task that was queued.
type TaskAccepted struct {
	Mode     string `json:"mode" enum:"task_id"`
	TaskID   string `json:"task_id"`
	TaskType string `json:"task_type" example:"sync.all"`
	Status   string `json:"status" enum:"queued,running"`
}

// declareTasks declares the endpoints that run tasks, and the events of one.
func (h *taskHandlers) declareTasks(a *api.API) {
	declare := func(id, path, task, summary string, result *huma.Schema, body *huma.RequestBody) {
		text := &huma.Schema{Type: huma.TypeString}
		answer := api.JSON(&huma.Schema{AnyOf: []*huma.Schema{result, api.Schema[TaskAccepted](a)}})
		answer[sseType] = &huma.MediaType{Schema: text}
		a.Document(httpd.Route{Method: http.MethodPost, Path: path, Policy: httpd.APIKey,
			Handler: func(c *gin.Context) { h.serveTask(c, task) }}, huma.Operation{
			OperationID: id, Tags: []string{tagSync}, Summary: summary, RequestBody: body,
			Parameters: []*huma.Param{returnModeParam()},
			Responses: map[string]*huma.Response{
				"200": {Description: "The result, the task, or its events.", Content: answer}, "400": a.ErrorResponse("A parameter is not valid"),
				"403": a.ErrorResponse("There is no personal access token"), "422": a.ErrorResponse("The code host refuses the token"),
			},
		})
	}
	declare("sync-starred", "/api/sync/starred", task.Starred, "Read the starred repositories", api.Schema[task.StarredResult](a), nil)
	declare("sync-releases", "/api/sync/releases", task.Releases, "Read the releases of the repositories that the caller sees",
		api.Schema[task.ReleasesResult](a), nil)
	declare("sync-notifications", "/api/sync/notifications", task.Notifications, "Read the notifications",
		api.Schema[task.NotificationsResult](a), nil)
	declare("sync-all", "/api/sync/all", task.All, "Read everything", api.Schema[task.AllResult](a), nil)
	declare("brief-generate", "/api/briefs/generate", task.Brief, "Write a brief", api.Schema[reading.BriefContent](a),
		&huma.RequestBody{Content: api.JSON(api.Schema[briefBody](a))})
	h.briefAPI(a)
	id := &huma.Param{Name: "task_id", In: "path", Required: true, Schema: &huma.Schema{Type: huma.TypeString}}
	a.Document(httpd.Route{Method: http.MethodGet, Path: "/api/tasks/:task_id/events", Policy: httpd.APIKey, Handler: h.serveTaskEvents},
		huma.Operation{
			OperationID: "task-events", Tags: []string{tagSync}, Summary: "The events of a task", Parameters: []*huma.Param{id},
			Description: "task.created, task.running, task.progress, and last task.completed with the result or the error, or task.canceled. To go on after a cut, send the id of the last event as the header Last-Event-ID.",
			Responses: map[string]*huma.Response{
				"200": {Description: "The stream.", Content: map[string]*huma.MediaType{sseType: {Schema: &huma.Schema{Type: huma.TypeString}}}},
				"404": a.ErrorResponse("There is no such task of the caller"),
			},
		})
}

// returnModeParam is the parameter that says how a task answers.
func returnModeParam() *huma.Param {
	return &huma.Param{
		Name: "return_mode", In: "query", Schema: &huma.Schema{Type: huma.TypeString, Enum: []any{"sync", "task_id", "sse"}, Default: "sync"},
		Description: "sync waits for the result; task_id answers at once with the task; sse streams the events of the task.",
	}
}

// briefBody is the body of a request for a brief.
type briefBody struct {
	Date string `json:"date,omitempty" doc:"The day of the brief; left out: the last one that has ended." example:"2026-03-29"`
}

// readBriefDate reads the body of a request for a brief, which may be left out.
func readBriefDate(c *gin.Context) (string, error) {
	raw, err := httpd.ReadBody(c)
	if err != nil || len(raw) == 0 {
		return "", err
	}
	var body *briefBody
	if err := json.Unmarshal(raw, &body); err != nil {
		return "", fault.New(fault.BadRequest, "The body must be a JSON object with the string date.").With("field", "date")
	}
	if body == nil {
		return "", nil
	}
	return body.Date, nil
}

// serveTask runs a task and answers in the way that the request asks for.
func (h *taskHandlers) serveTask(c *gin.Context, name string) {
	ctx := c.Request.Context()
	mode := c.DefaultQuery("return_mode", "sync")
	in := task.Payload{}
	userID, err := reader.OwnerID(ctx)
	in.UserID = userID
	if mode != "sync" && mode != "task_id" && mode != "sse" && err == nil {
		err = fault.New(fault.BadRequest, "return_mode must be sync, task_id or sse.").With("field", "return_mode")
	}
	kind := task.TranslatedKind(name)
	switch {
	case err != nil:
	case name == task.Brief:
		if in.Date, err = readBriefDate(c); err == nil {
			_, _, err = h.tasks.BriefWindow(ctx, userID, in.Date)
		}
	case kind != "":
		in.EntityID, err = readEntityID(c, kind)
	}
	if err == nil && kind != "" && mode == "sync" {
		h.translate.serveTranslation(c, translation.Wanted{UserID: userID, Kind: kind, EntityID: in.EntityID})
		return
	}
	var job queue.Job
	if err == nil {
		job, err = h.tasks.Submit(ctx, name, in)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	httpd.NoteObject(ctx, job.ID)
	c.Header("Cache-Control", "no-store")
	switch mode {
	case "task_id":
		c.JSON(http.StatusOK, TaskAccepted{"task_id", job.ID, name, task.StatusName(job.State)})
	case "sse":
		h.streamTask(c, job, 0)
	default:
		result, err := h.tasks.Wait(ctx, job)
		if err != nil {
			httpd.WriteError(c, err)
			return
		}
		c.Data(http.StatusOK, "application/json", result)
	}
}

func (h *taskHandlers) serveTaskEvents(c *gin.Context) {
	ctx := c.Request.Context()
	job, err := h.tasks.Find(ctx, reader.ID(ctx), c.Param("task_id"))
	after := int64(0)
	if err == nil {
		after, err = lastEventID(c)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	h.streamTask(c, job, after)
}

// streamTask sends the events of a task after a number, until it ends.
func (h *taskHandlers) streamTask(c *gin.Context, job queue.Job, after int64) {
	ctx := c.Request.Context()
	events, err := h.tasks.FollowTask(ctx, job.ID, after)
	if err == nil {
		err = auth.StreamEvents(c, (*httpd.Events).Beat, events, func(out *httpd.Events, ev queue.Event) error {
			name, data, last := taskEvent(job, ev)
			if name == "" {
				return nil
			}
			err := out.SendJSON(ev.Seq, name, data)
			if err == nil && last {
				err = io.EOF
			}
			return err
		})
	}
	if err != nil {
		httpd.WriteError(c, err)
	}
}

// taskEvent returns an event of a job as one of its task, and whether it is the last. The name is "" for one that is not sent.
func taskEvent(job queue.Job, ev queue.Event) (name string, data map[string]any, last bool) {
	kind, _ := task.TypeOfJob(job.Type)
	data = map[string]any{"task_id": job.ID}
	switch ev.Type {
	case queue.EventQueued:
		data["task_type"], data["status"], data["source"] = kind, "queued", "api"
		return "task.created", data, false
	case queue.EventRunning:
		data["status"] = "running"
		return "task.running", data, false
	case task.EventStage:
		var stage struct {
			Stage  string         `json:"stage"`
			Result map[string]any `json:"result"`
		}
		_ = json.Unmarshal(ev.Data, &stage)
		for name, value := range stage.Result {
			data[name] = value
		}
		data["task_id"], data["stage"] = job.ID, stage.Stage
		return "task.progress", data, false
	case queue.EventFinished:
		return finishedEvent(data, ev)
	}
	return "", nil, false
}

// finishedEvent returns the last event of a task.
func finishedEvent(data map[string]any, ev queue.Event) (string, map[string]any, bool) {
	var end struct {
		State         queue.State     `json:"state"`
		Result        json.RawMessage `json:"result"`
		Code, Message string
	}
	_ = json.Unmarshal(ev.Data, &end)
	data["status"] = task.StatusName(end.State)
	if end.State == queue.Canceled {
		return "task.canceled", data, true
	}
	if end.State == queue.Success {
		data["result"] = end.Result
	} else {
		data["error"], data["code"] = end.Message, end.Code
	}
	return "task.completed", data, true
}
