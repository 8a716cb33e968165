package api

import (
	"context"
	"io"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
)

func (h *translateHandlers) serveTranslationRequest(c *gin.Context) {
	ctx := c.Request.Context()
	userID, err := reader.OwnerID(ctx)
	var body TranslationBody
	if err == nil {
		body, err = h.readTranslationBody(c)
	}
	inputs, priority := body.Items, translate.Background
	if body.Item != nil {
		inputs = []TranslationInput{*body.Item}
		if body.Mode != modeAsync {
			priority = translate.Interactive
		}
	}
	var asked []translate.Asked
	if err == nil {
		asked, err = h.askInputs(ctx, userID, inputs, priority, false)
	}
	var requests []translate.Request
	var works []translate.Work
	if err == nil {
		requests, works, err = h.translations.Ask(ctx, asked)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.Header("Cache-Control", "no-store")
	switch {
	case body.Item == nil:
		out := TranslationsAccepted{make([]TranslationAccepted, len(requests))}
		for i, r := range requests {
			out.Requests[i] = TranslationAccepted{r.ID, requestStatus(works[i]), r.ProducerRef, r.EntityID, r.Kind, r.Variant}
		}
		c.JSON(http.StatusOK, out)
	case body.Mode == modeStream:
		h.streamTranslation(c, requests[0], works[0], 0)
	default:
		w := works[0]
		if body.Mode == modeWait {
			w, err = h.waitForTranslation(ctx, w, body.Item)
		}
		if err != nil {
			httpd.WriteError(c, err)
			return
		}
		c.JSON(http.StatusOK, newAnswer(&requests[0], w))
	}
}

// waitForTranslation returns a work when it has ended, or as it is when the time of the request is over.
func (h *translateHandlers) waitForTranslation(ctx context.Context, w translate.Work, in *TranslationInput) (translate.Work, error) {
	works, err := h.translator.Wait(ctx, []translate.Work{w}, in.wait(), nil)
	return works[0], err
}

func (h *translateHandlers) serveTranslationStream(c *gin.Context) {
	ctx := c.Request.Context()
	r, w, err := h.translations.FindRequest(ctx, reader.ID(ctx), c.Param("request_id"))
	after := int64(0)
	if err == nil {
		after, err = lastEventID(c)
	}
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	h.streamTranslation(c, r, w, after)
}

// lastEventID is httpd.LastEventID with the code of bad requests of this API.
func lastEventID(c *gin.Context) (int64, error) {
	after, err := httpd.LastEventID(c)
	if f := fault.As(err); err != nil && f.Code == fault.InvalidArgument {
		err = fault.New(fault.BadRequest, "%s", f.Message).With("field", f.Ext["field"])
	}
	return after, err
}

// TranslationEvent is an event of a request.
type TranslationEvent struct {
	Event     string             `json:"event"`
	RequestID string             `json:"request_id"`
	Status    string             `json:"status"`
	BatchID   *string            `json:"batch_id"`
	Result    *TranslationResult `json:"result"`
	Error     *string            `json:"error"`
}

// phases are the events of a request; the id of an event is its number, from 1 on. The last one is failed where the work has failed.
var phases = []translate.State{translate.Queued, translate.Batched, translate.Running, translate.Completed}

// findPhase returns the number of the phase in which a work is.
func findPhase(w translate.Work) int64 {
	for i, p := range phases {
		if w.State == p {
			return int64(i + 1)
		}
	}
	return int64(len(phases))
}

// translationEvent returns the event of a phase.
func translationEvent(r *translate.Request, w translate.Work, phase int64) TranslationEvent {
	event := TranslationEvent{Event: string(phases[phase-1]), RequestID: r.ID}
	past := w
	past.State = phases[phase-1]
	if phase < int64(len(phases)) {
		past.Outcome = ""
		event.Status = requestStatus(past)
		if phase > 1 {
			event.BatchID = api.TextOrNull(w.BatchID)
		}
		return event
	}
	result := newResult(r, w)
	event.Event, event.Status = requestStatus(w), requestStatus(w)
	event.BatchID, event.Result, event.Error = api.TextOrNull(w.BatchID), &result, result.Error
	return event
}

// streamTranslation sends the phases of a request after a number, until it has ended. A phase that was passed meanwhile is sent too.
func (h *translateHandlers) streamTranslation(c *gin.Context, r translate.Request, w translate.Work, after int64) {
	ctx, stop := context.WithCancel(c.Request.Context())
	defer stop()
	err := auth.StreamEvents(c, (*httpd.Events).Beat, h.translator.FollowWork(ctx, w), func(out *httpd.Events, w translate.Work) error {
		for after < findPhase(w) {
			after++
			ev := translationEvent(&r, w, after)
			if err := out.SendJSON(after, ev.Event, ev); err != nil {
				return err
			}
		}
		if w.State.Final() {
			return io.EOF
		}
		return nil
	})
	if err != nil {
		httpd.WriteError(c, err)
	}
}
