package api

import (
	"encoding/json"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/services/search/proxy"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// bodySchema describes the body of an operation for the document: what the backend says about its members, and what this
// service asks for itself. Bounds that only the backend checks are its own business.
func (h *proxyHandlers) bodySchema(operation string) *huma.Schema {
	op := h.proxy.State().Operations[operation]
	out := &huma.Schema{
		Type: huma.TypeObject, AdditionalProperties: true, Required: slices.Clone(op.Required),
		Properties: map[string]*huma.Schema{
			"api_key": {Type: huma.TypeString, Description: "The access token, where no header carries it."},
		},
	}
	var described struct {
		Properties map[string]struct {
			Type        any    `json:"type"`
			Description string `json:"description"`
			Enum        []any  `json:"enum"`
			Items       struct {
				Type any `json:"type"`
			} `json:"items"`
		} `json:"properties"`
	}
	// What cannot be read is left out: the operation works all the same.
	_ = json.Unmarshal([]byte(op.InputSchema), &described)
	for name, p := range described.Properties {
		member := &huma.Schema{Description: p.Description, Enum: p.Enum}
		if kind, ok := p.Type.(string); ok {
			member.Type = kind
			if kind == huma.TypeArray {
				member.Items = &huma.Schema{}
				if of, ok := p.Items.Type.(string); ok {
					member.Items.Type = of
				}
			}
		}
		out.Properties[name] = member
	}
	if operation == sdk.OpSearch {
		low, high := 0.0, float64(proxy.MaxResults)
		text := ""
		if p := out.Properties["max_results"]; p != nil {
			text = p.Description
		}
		out.Properties["max_results"] = &huma.Schema{Type: huma.TypeInteger, Description: text, Minimum: &low, Maximum: &high}
	}
	for _, name := range out.Required {
		if out.Properties[name] == nil {
			out.Properties[name] = &huma.Schema{}
		}
	}
	return out
}
