package api

import (
	"encoding/json"
	"maps"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers"
	"github.com/patchbay-dev/patchbay/core/services/containers/candidate"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// eventBody is the data of an event: what was stored, with the job, the time and the type.
func eventBody(ev *queue.Event, kind string) map[string]any {
	body := map[string]any{}
	if json.Unmarshal(ev.Data, &body) != nil {
		body = map[string]any{"raw": string(ev.Data)}
	}
	if line, ok := containers.LogLine(ev); ok {
		body = map[string]any{"level": line.Level, "msg": line.Msg}
	}
	if ev.Type != queue.EventLog && ev.Type != work.EventProgress {
		body = map[string]any{"event": ev.Type, "detail": maps.Clone(body)}
		if status := eventStatus(ev); status != "" {
			body["status"] = status
		}
	}
	body["type"], body["jobId"], body["ts"] = kind, ev.JobID, api.TimeOf(ev.At)
	return body
}

// eventStatus is the status of a job after an event that changes it.
func eventStatus(ev *queue.Event) string {
	switch ev.Type {
	case queue.EventQueued, queue.EventRequeued, queue.EventRetry:
		return string(queue.Queued)
	case queue.EventRunning:
		return string(queue.Running)
	case queue.EventFinished:
		var data struct{ State string }
		_ = json.Unmarshal(ev.Data, &data)
		return data.State
	}
	return ""
}

// eventName is the name of an event of a single job.
func eventName(ev *queue.Event) string {
	switch ev.Type {
	case queue.EventLog:
		return "job_log"
	case work.EventProgress, "runtime_scan_finished":
		return ev.Type
	}
	return "job_status"
}

// handleAllJobEvents sends the events of all jobs. Without a cursor it begins with what comes.
func (h *handlers) handleAllJobEvents(c *gin.Context) error {
	ctx := c.Request.Context()
	after, err := httpd.LastEventID(c)
	if err == nil && !cursorGiven(c) {
		after, err = h.cfg.queue.LastEventID(ctx)
	}
	if err != nil {
		return err
	}
	events, err := h.cfg.queue.FollowAll(ctx, after)
	if err != nil {
		return err
	}
	return followEvents(c, nil, events, func(ev queue.Event) []outEvent {
		if !work.IsShown(ev.JobType) {
			return nil
		}
		body := eventBody(&ev, eventName(&ev))
		body["jobType"] = work.PublicType(ev.JobType)
		return []outEvent{{id: ev.ID, name: "job_event", data: body}}
	})
}

// handleJobEvents sends the events of one job, from the beginning unless the client says where to go on, and ends with it.
func (h *handlers) handleJobEvents(c *gin.Context) error {
	ctx := c.Request.Context()
	j, err := h.cfg.service.FindJob(ctx, c.Param("job_id"))
	if err != nil {
		return err
	}
	after, err := httpd.LastEventID(c)
	if err != nil {
		return err
	}
	events, err := h.cfg.queue.Follow(ctx, j.ID, after)
	if err != nil {
		return err
	}
	return followEvents(c, nil, events, func(ev queue.Event) []outEvent {
		name := eventName(&ev)
		return []outEvent{{id: ev.Seq, name: name, data: eventBody(&ev, name), last: ev.Type == queue.EventFinished}}
	})
}

// handleInferenceEvents sends what the search for versions does. A cursor that is too old gets resync_required.
func (h *handlers) handleInferenceEvents(c *gin.Context) error {
	after, err := httpd.LastEventID(c)
	if err != nil {
		return err
	}
	sub := h.cfg.live.Subscribe(candidate.EventsTopic)
	defer sub.Close()
	if !cursorGiven(c) {
		after = h.cfg.service.LastVersionEvent()
	}
	sent := after
	catchUp := func() []outEvent {
		missed, ok := h.cfg.service.VersionEvents(sent)
		if !ok {
			sent = h.cfg.service.LastVersionEvent()
			return []outEvent{{id: sent, name: "version_inference_event",
				data: candidate.InferenceEvent{Type: "resync_required", TS: api.TimeOf(h.cfg.now())}}}
		}
		var out []outEvent
		for _, ev := range missed {
			out, sent = append(out, outEvent{id: ev.ID, name: "version_inference_event", data: ev}), ev.ID
		}
		return out
	}
	return followEvents(c, catchUp(), sub.Events(), func(event.Event) []outEvent { return catchUp() })
}
