package api

import (
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// fillExamples gives every JSON body of a request an example, made of those of its members.
func (a *API) fillExamples() {
	for _, r := range a.routes {
		op := a.findOperation(r.Method, openAPIPath(r.Path))
		if op == nil || op.RequestBody == nil {
			continue
		}
		if m := op.RequestBody.Content["application/json"]; m != nil && m.Example == nil {
			if ex := a.newExample(m.Schema); ex != nil {
				m.Example = ex
			}
		}
	}
}

// codeSample is a member of the extension x-codeSamples, which readers of OpenAPI documents show beside an operation.
type codeSample struct {
	Lang   string `json:"lang"`
	Source string `json:"source"`
}

// addCodeSamples gives every operation the curl command that calls it.
func (a *API) addCodeSamples() {
	base := strings.TrimSuffix(a.cfg.BaseURL, "/")
	for _, r := range a.routes {
		op := a.findOperation(r.Method, openAPIPath(r.Path))
		if op == nil {
			continue
		}
		if op.Extensions == nil {
			op.Extensions = map[string]any{}
		}
		op.Extensions["x-codeSamples"] = []codeSample{{"Shell", a.curlCommand(op, base)}}
	}
}

// newExample returns an example value of a schema, or nil if the schema says too little. An object has the members that are
// required or have an example of their own.
func (a *API) newExample(s *huma.Schema) any {
	if s == nil {
		return nil
	}
	if len(s.Examples) > 0 {
		return s.Examples[0]
	}
	s = a.resolveSchema(s)
	switch {
	case len(s.Examples) > 0:
		return s.Examples[0]
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type == huma.TypeBoolean:
		return true
	case s.Type == huma.TypeArray:
		if ex := a.newExample(s.Items); ex != nil {
			return []any{ex}
		}
		return nil
	case s.Type != huma.TypeObject:
		return nil
	}
	out := map[string]any{}
	for name, p := range s.Properties {
		if len(p.Examples) == 0 && !slices.Contains(s.Required, name) {
			continue
		}
		if ex := a.newExample(p); ex != nil {
			out[name] = ex
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
