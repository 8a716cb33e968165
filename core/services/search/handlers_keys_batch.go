package search

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
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

func (s *Service) postKeys(ctx context.Context, in *keysBody) (*keysResult, error) {
	values, err := in.Body.keyValues()
	if err != nil {
		return nil, err
	}
	out := &keysResult{}
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
	added, err := s.AddKeys(ctx, in.Body.Group, unique)
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
	Results []Probe        `json:"results"`
}

// handleValidate asks the upstream about keys. A client that accepts server-sent events gets each result as it comes, as
// events "result", and "done" with the whole answer at the end.
func (s *Service) handleValidate(c *gin.Context) {
	values, group, err := readKeys(c)
	if err != nil {
		s.writeError(c, err)
		return
	}
	out := validation{Summary: map[string]int{}, Results: make([]Probe, len(values))}
	var events *httpd.Events
	ctx := c.Request.Context()
	streamed := strings.Contains(c.GetHeader("Accept"), "text/event-stream")
	err = s.ValidateKeys(ctx, values, group, func(p Probe) {
		out.Results[p.Line-1] = p
		out.Summary[p.Status]++
		if streamed {
			if events == nil {
				events = httpd.NewEvents(c)
			}
			sendJSON(events, "result", p)
		}
	})
	switch {
	case err != nil && events == nil:
		s.writeError(c, err)
	case err != nil:
		sendJSON(events, "error", gin.H{"code": fault.CodeOf(err), "message": fault.As(err).Message})
	case events != nil:
		sendJSON(events, "done", out)
	default:
		c.Header("Cache-Control", "no-store")
		c.JSON(http.StatusOK, out)
	}
}

// sendJSON sends an event. That the client is gone is noticed by the request's context.
func sendJSON(e *httpd.Events, name string, v any) {
	if raw, err := json.Marshal(v); err == nil {
		_ = e.Send(0, name, raw)
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

type bulkResult struct {
	Body struct {
		Summary BulkSummary  `json:"summary"`
		Results []BulkResult `json:"results"`
	}
}

// BulkResult is what became of one key of a bulk action.
type BulkResult struct {
	KeyID  string `json:"key_id" example:"a1B2c3"`
	Status string `json:"status" enum:"succeeded,failed"`
	Detail string `json:"detail,omitempty"`
}

func (s *Service) bulkKeys(ctx context.Context, in *bulkBody) (*bulkResult, error) {
	do := map[string]func(context.Context, string) error{
		"delete": s.DeleteKey, "clear_quarantine": s.ReleaseKey, "sync_usage": s.SyncKey,
		"enable":  func(ctx context.Context, id string) error { return s.SetKeyEnabled(ctx, id, true) },
		"disable": func(ctx context.Context, id string) error { return s.SetKeyEnabled(ctx, id, false) },
	}[in.Body.Action]
	out := &bulkResult{}
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

func (s *Service) patchKeyStatus(ctx context.Context, in *keyStatusBody) (*struct{}, error) {
	return nil, s.SetKeyEnabled(ctx, in.ID, in.Body.Status == "active")
}

type quarantineBody struct {
	KeyPath
	Body struct {
		Reason string `json:"reason" required:"false" maxLength:"200" example:"It was published by mistake."`
	}
}

func (s *Service) quarantineKey(ctx context.Context, in *quarantineBody) (*struct{}, error) {
	return nil, s.QuarantineKey(ctx, in.ID, texts.Valid(in.Body.Reason))
}

func (s *Service) releaseKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	return nil, s.ReleaseKey(ctx, in.ID)
}

func (s *Service) deleteKey(ctx context.Context, in *KeyPath) (*struct{}, error) {
	return nil, s.DeleteKey(ctx, in.ID)
}

func (s *Service) syncKey(ctx context.Context, in *KeyPath) (*struct{ Body APIKey }, error) {
	if err := s.SyncKey(ctx, in.ID); err != nil {
		return nil, err
	}
	return s.getKey(ctx, in)
}

type historyQuery struct {
	KeyPath
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50"`
	Cursor string `query:"cursor" maxLength:"300"`
}

type historyList struct{ Body KeyChanges }

// KeyChanges is a page of a key's history, the newest change first.
type KeyChanges struct {
	Items      []KeyChange `json:"items"`
	NextCursor *string     `json:"nextCursor"`
}

// KeyChange is a change of an upstream key's state.
type KeyChange struct {
	ID        string   `json:"id"`
	Time      api.Time `json:"time" example:"2026-01-31T12:00:00.000Z"`
	Source    string   `json:"source" enum:"system,admin"`
	Actor     string   `json:"actor" doc:"The user, where a person has made the change."`
	Operation string   `json:"operation" enum:"added,restored,deleted,enabled,disabled,quarantined,released,marked"`
	Before    KeyState `json:"before"`
	After     KeyState `json:"after"`
	Reason    string   `json:"reason" example:"It was published by mistake."`
}

func (s *Service) keyChanges(ctx context.Context, in *historyQuery) (*historyList, error) {
	list, err := s.KeyHistory(ctx, in.ID, in.Cursor, in.Limit)
	return &historyList{list}, err
}

// KeyHistory is a page of the changes of a key's state, also of one that is deleted.
func (s *Service) KeyHistory(ctx context.Context, id, cursor string, limit int) (KeyChanges, error) {
	out := KeyChanges{Items: []KeyChange{}}
	var before string
	if cursor != "" {
		if err := store.DecodeCursor(cursor, &before); err != nil {
			return out, invalidField("cursor", "The cursor is not one of this list.")
		}
	}
	rows, err := s.repo.keyHistory(ctx, id, before, limit+1)
	if err != nil {
		return out, err
	}
	if len(rows) > limit {
		rows = rows[:limit]
		next, err := store.EncodeCursor(rows[len(rows)-1].ID)
		if err != nil {
			return out, err
		}
		out.NextCursor = &next
	}
	for _, r := range rows {
		out.Items = append(out.Items, KeyChange{r.ID, api.TimeOfMillis(r.Time), r.Source, r.Actor, r.Operation, r.Before, r.After, r.Reason})
	}
	return out, nil
}

// BulkSummary counts what became of the keys of a bulk action.
type BulkSummary struct {
	Requested int `json:"requested"`
	Succeeded int `json:"succeeded"`
	Failed    int `json:"failed"`
}
