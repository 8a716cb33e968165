package api

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
	"github.com/patchbay-dev/patchbay/core/texts"
)

func (h *keyHandlers) postKeys(ctx context.Context, in *keysBody) (*api.Out[keysResultBody], error) {
	values, err := in.Body.keyValues()
	if err != nil {
		return nil, err
	}
	out := &api.Out[keysResultBody]{}
	b := &out.Body
	b.Results = make([]KeyResult, len(values))
	b.Summary.InputLines = len(values)
	first := map[string]bool{}
	var unique []string
	var lines []int
	for i, v := range values {
		b.Results[i] = KeyResult{Line: i + 1, APIKey: secret.Mask(v)}
		switch {
		case v == "":
			b.Results[i].Status = "ignored_empty"
			b.Summary.IgnoredEmpty++
		case first[v]:
			b.Results[i].Status = "duplicate_in_input"
			b.Summary.DuplicateInInput++
		default:
			first[v] = true
			unique, lines = append(unique, v), append(lines, i)
		}
	}
	added, err := h.keys.AddKeys(ctx, in.Body.Group, unique)
	if err != nil {
		return nil, err
	}
	b.Summary.UniqueInInput = len(unique)
	for j, a := range added {
		r := &b.Results[lines[j]]
		r.ID, r.Error = a.ID, a.Problem
		switch a.Status {
		case "created":
			r.Status, b.Summary.Created = "created", b.Summary.Created+1
		case "restored":
			r.Status, b.Summary.Undeleted = "undeleted", b.Summary.Undeleted+1
		case "exists":
			r.Status, b.Summary.Existed = "existed", b.Summary.Existed+1
		default:
			r.Status, b.Summary.Failed = "failed", b.Summary.Failed+1
		}
	}
	b.Summary.ValidLines = b.Summary.InputLines - b.Summary.IgnoredEmpty - b.Summary.Failed
	return out, nil
}

// validation is the answer about keys that are not added.
type validation struct {
	Summary map[string]int `json:"summary" doc:"How many keys have which status."`
	Results []keys.Probe   `json:"results"`
}

// handleValidate asks the upstream about keys. A client that accepts server-sent events gets each result as it comes, as
// events "result", and "done" with the whole answer at the end.
func (h *keyHandlers) handleValidate(c *gin.Context) {
	values, group, err := readKeys(c)
	if err != nil {
		writeError(c, err)
		return
	}
	out := validation{Summary: map[string]int{}, Results: make([]keys.Probe, len(values))}
	// That the client is gone is noticed by the request's context.
	var events *httpd.Events
	ctx := c.Request.Context()
	streamed := strings.Contains(c.GetHeader("Accept"), "text/event-stream")
	err = h.keys.ValidateKeys(ctx, values, group, func(p keys.Probe) {
		out.Results[p.Line-1] = p
		out.Summary[p.Status]++
		if streamed {
			if events == nil {
				events = httpd.NewEvents(c)
			}
			_ = events.SendJSON(0, "result", p)
		}
	})
	switch {
	case err != nil && events == nil:
		writeError(c, err)
	case err != nil:
		_ = events.SendJSON(0, "error", gin.H{"code": fault.CodeOf(err), "message": fault.As(err).Message})
	case events != nil:
		_ = events.SendJSON(0, "done", out)
	default:
		c.Header("Cache-Control", "no-store")
		c.JSON(http.StatusOK, out)
	}
}

// readKeys reads the keys of a request that huma does not handle.
func readKeys(c *gin.Context) ([]string, string, error) {
	raw, err := httpd.ReadBody(c)
	if err != nil {
		return nil, "", err
	}
	var in keysInput
	if err := json.Unmarshal(raw, &in); err != nil {
		return nil, "", fault.New(fault.InvalidRequest, "The body is not a JSON object with api_keys or items.")
	}
	values, err := in.keyValues()
	return values, in.Group, err
}

type bulkBody struct {
	Body struct {
		Action string   `json:"action" enum:"delete,clear_quarantine,sync_usage,enable,disable" example:"sync_usage"`
		KeyIDs []string `json:"key_ids" minItems:"1" maxItems:"1000" example:"[\"a1B2c3\"]"`
	}
}

type bulkResultBody struct {
	Summary BulkSummary  `json:"summary"`
	Results []BulkResult `json:"results"`
}

// BulkResult is what became of one key of a bulk action.
type BulkResult struct {
	KeyID  string `json:"key_id" example:"a1B2c3"`
	Status string `json:"status" enum:"succeeded,failed"`
	Detail string `json:"detail,omitempty"`
}

func (h *keyHandlers) bulkKeys(ctx context.Context, in *bulkBody) (*api.Out[bulkResultBody], error) {
	do := map[string]func(context.Context, string) error{
		"delete": h.keys.DeleteKey, "clear_quarantine": h.keys.ReleaseKey, "sync_usage": h.keys.SyncKey,
		"enable":  func(ctx context.Context, id string) error { return h.keys.SetKeyEnabled(ctx, id, true) },
		"disable": func(ctx context.Context, id string) error { return h.keys.SetKeyEnabled(ctx, id, false) },
	}[in.Body.Action]
	out := &api.Out[bulkResultBody]{}
	for _, id := range in.Body.KeyIDs {
		r := BulkResult{KeyID: id, Status: "succeeded"}
		if err := do(ctx, id); err != nil {
			r.Status, r.Detail = "failed", fault.As(err).Message
			out.Body.Summary.Failed++
		} else {
			out.Body.Summary.Succeeded++
		}
		out.Body.Results = append(out.Body.Results, r)
	}
	out.Body.Summary.Requested = len(in.Body.KeyIDs)
	return out, ctx.Err()
}

type keyStatusBody struct {
	KeyPath
	Body struct {
		Status string `json:"status" enum:"active,disabled"`
	}
}

func (h *keyHandlers) patchKeyStatus(ctx context.Context, in *keyStatusBody) (*struct{}, error) {
	return nil, h.keys.SetKeyEnabled(ctx, in.ID, in.Body.Status == "active")
}

type quarantineBody struct {
	KeyPath
	Body struct {
		Reason string `json:"reason" required:"false" maxLength:"200" example:"It was published by mistake."`
	}
}

func (h *keyHandlers) quarantineKey(ctx context.Context, in *quarantineBody) (*struct{}, error) {
	return nil, h.keys.QuarantineKey(ctx, in.ID, texts.Valid(in.Body.Reason))
}

func (h *keyHandlers) releaseKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	return nil, h.keys.ReleaseKey(ctx, in.ID)
}

func (h *keyHandlers) deleteKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	return nil, h.keys.DeleteKey(ctx, in.ID)
}

func (h *keyHandlers) syncKey(ctx context.Context, in *KeyPath) (*api.Out[keys.APIKey], error) {
	if err := h.keys.SyncKey(ctx, in.ID); err != nil {
		return nil, err
	}
	return h.getKey(ctx, in)
}

type historyQuery struct {
	KeyPath
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"300"`
}

func (h *keyHandlers) keyChanges(ctx context.Context, in *historyQuery) (*api.Out[keys.KeyChanges], error) {
	return api.AnswerWith(h.keys.KeyHistory(ctx, in.ID, in.Cursor, in.Limit))
}

// BulkSummary counts what became of the keys of a bulk action.
type BulkSummary struct {
	Requested int `json:"requested"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}
