package api

import (
	"context"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// keyHandlers serve the upstream keys to administrators.
type keyHandlers struct {
	keys *keys.Keys
	log  *audit.Log
}

type keyQuery struct {
	Page    int      `query:"page" minimum:"1" maximum:"1000000" default:"1"`
	PerPage int      `query:"per_page" minimum:"1" maximum:"200" default:"20"`
	Groups  []string `query:"group,explode" maxItems:"50" doc:"Repeatable; empty stands for keys without a group."`
	States  []string `query:"status,explode" maxItems:"5" doc:"Repeatable: active, cooling_down, exhausted, invalid, disabled."`
}

func (h *keyHandlers) listKeys(ctx context.Context, in *keyQuery) (*api.Out[keys.KeyPage], error) {
	for _, state := range in.States {
		switch keys.KeyState(state) {
		case keys.KeyActive, keys.KeyCooling, keys.KeyExhausted, keys.KeyInvalid, keys.KeyDisabled:
		default:
			return nil, fault.InvalidField("status", "The status must be one of active, cooling_down, exhausted, invalid, disabled.")
		}
	}
	return api.AnswerWith(h.keys.FindKeys(ctx, keys.KeyFilter{Groups: in.Groups, States: in.States}, in.Page, in.PerPage))
}

// KeyPath names an upstream key.
type KeyPath struct {
	ID string `path:"id" maxLength:"12"`
}

func (h *keyHandlers) getKey(ctx context.Context, in *KeyPath) (*api.Out[keys.APIKey], error) {
	return api.AnswerWith(h.keys.Key(ctx, in.ID))
}

type keyBody struct {
	Body struct {
		APIKey string `json:"api_key" maxLength:"512" example:"upstream-key-1"`
		Group  string `json:"group" required:"false" maxLength:"80" doc:"The name of a backend makes the key serve that one alone." example:"team"`
	}
}

type keyIDBody struct {
	ID string `json:"id"`
}

func (h *keyHandlers) postKey(ctx context.Context, in *keyBody) (*api.Out[keyIDBody], error) {
	if err := access.CheckLabels(nil, &in.Body.Group); err != nil {
		return nil, err
	}
	if problem := keys.KeyProblem(strings.TrimSpace(in.Body.APIKey)); problem != "" {
		return nil, fault.InvalidField("api_key", "The upstream key was not added: %s.", problem)
	}
	added, err := h.keys.AddKeys(ctx, in.Body.Group, []string{in.Body.APIKey})
	if err != nil {
		return nil, err
	}
	return api.AnswerWith(keyIDBody{ID: added[0].ID}, nil)
}

type keysBody struct {
	Body keysInput
}

// keysInput is many keys at once: as a list, or as items.
type keysInput struct {
	APIKeys []string  `json:"api_keys" required:"false" doc:"At most 1000." example:"[\"upstream-key-1\",\"upstream-key-2\"]"`
	Items   []keyItem `json:"items" required:"false" doc:"The same, one object for each."`
	Group   string    `json:"group" required:"false" maxLength:"80" example:"team"`
}

type keyItem struct {
	APIKey string `json:"api_key" example:"upstream-key-1"`
}

func (b keysInput) keyValues() ([]string, error) {
	values := append([]string{}, b.APIKeys...)
	for _, it := range b.Items {
		values = append(values, it.APIKey)
	}
	for i := range values {
		values[i] = strings.TrimSpace(values[i])
	}
	if len(values) == 0 {
		return nil, fault.InvalidField("api_keys", "The request contains no key.")
	}
	if len(values) > access.MaxBatch {
		return nil, fault.New("too_many_items", "A request can have at most %d keys.", access.MaxBatch).WithStatus(400).With("field",
			"api_keys").With("limit", access.MaxBatch)
	}
	return values, access.CheckLabels(nil, &b.Group)
}

type keysResultBody struct {
	Summary KeysSummary `json:"summary"`
	Results []KeyResult `json:"results"`
}

// KeyResult is what became of one key of a batch.
type KeyResult struct {
	Line   int    `json:"line" doc:"Its place in the request, from 1."`
	APIKey string `json:"api_key" doc:"The key, masked."`
	Status string `json:"status" enum:"created,undeleted,existed,duplicate_in_input,failed,ignored_empty"`
	ID     string `json:"id,omitempty"`
	Error  string `json:"error,omitempty"`
}

// KeysSummary counts what became of the keys of a batch.
type KeysSummary struct {
	InputLines       int `json:"input_lines"`
	ValidLines       int `json:"valid_lines"`
	UniqueInInput    int `json:"unique_in_input"`
	Created          int `json:"created"`
	Undeleted        int `json:"undeleted"`
	Existed          int `json:"existed"`
	DuplicateInInput int `json:"duplicate_in_input"`
	Failed           int `json:"failed"`
	IgnoredEmpty     int `json:"ignored_empty"`
}
