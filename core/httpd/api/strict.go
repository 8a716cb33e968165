package api

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// strictSegments are the resources whose bodies must not have members that nobody knows: a mistyped one would grant more, or limit less,
// than was asked for.
var strictSegments = []string{"users", "tokens", "feed-tokens", "keys", "api-keys", "channels"}

// isStrict reports whether the bodies at a path are of such a resource.
func isStrict(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(s string) bool { return slices.Contains(strictSegments, s) })
}

// checkMembers returns an error for a body of a strict resource with a member that neither the operation nor the resource's GET knows.
// What GET answers is ignored, so that a client may read, change and put back.
func (a *API) checkMembers(op *huma.Operation, body []byte) error {
	if !isStrict(op.Path) {
		return nil
	}
	media := op.RequestBody.Content["application/json"]
	if media == nil || media.Schema == nil {
		return nil
	}
	known := []*huma.Schema{media.Schema}
	if schema := a.resolve(media.Schema); schema != nil && schema.Type == huma.TypeArray {
		return nil
	}
	for path, item := range a.huma.OpenAPI().Paths {
		if path != op.Path && !(strings.HasPrefix(path, op.Path+"/{") && strings.Count(path, "/") == strings.Count(op.Path, "/")+1) ||
			item.Get == nil {
			continue
		}
		if res := item.Get.Responses["200"]; res != nil && res.Content["application/json"] != nil {
			answer := res.Content["application/json"].Schema
			known = append(known, answer)
			known = append(known, a.listItems(answer)...)
		}
	}
	if name := a.unknownMember(known, body, ""); name != "" {
		code := fault.InvalidRequest
		if a.cfg.Invalid != "" {
			code = a.cfg.Invalid
		}
		return fault.New(code, "Unknown field %q.", name).With("field", name)
	}
	return nil
}

// resolve returns the schema that s refers to, or s.
func (a *API) resolve(s *huma.Schema) *huma.Schema {
	if s != nil && s.Ref != "" {
		return a.huma.OpenAPI().Components.Schemas.SchemaFromRef(s.Ref)
	}
	return s
}

// listItems returns the schemas of the items of a list, or of the lists in its envelope.
func (a *API) listItems(s *huma.Schema) (items []*huma.Schema) {
	s = a.resolve(s)
	if s == nil {
		return nil
	}
	for _, p := range append(slices.Collect(maps.Values(s.Properties)), s) {
		if p = a.resolve(p); p != nil && p.Items != nil {
			items = append(items, p.Items)
		}
	}
	return items
}

// unknownMember returns the path of the first member of an object, by name, that none of the schemas has; "" if there is none. What is no
// object has no members. The first of the schemas is that of the operation.
func (a *API) unknownMember(known []*huma.Schema, raw []byte, prefix string) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		var inner []*huma.Schema
		for _, s := range known {
			s = a.resolve(s)
			if s == nil || len(s.Properties) == 0 {
				return "" // It takes anything, such as a map.
			}
			if p := s.Properties[name]; p != nil {
				inner = append(inner, p)
			}
		}
		if len(inner) == 0 {
			return prefix + name
		}
		if found := a.unknownMember(inner, members[name], prefix+name+"."); found != "" {
			return found
		}
		for _, item := range jsonItems(members[name]) {
			if found := a.unknownMember(a.listItems(inner[0]), item, prefix+name+"."); found != "" {
				return found
			}
		}
	}
	return ""
}

// jsonItems returns the items of a JSON array; none of anything else.
func jsonItems(raw []byte) (items []json.RawMessage) {
	_ = json.Unmarshal(raw, &items)
	return items
}
