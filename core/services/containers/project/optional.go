package project

import (
	"encoding/json"

	"github.com/danielgtaylor/huma/v2"
)

// OptionalText is a text in a request that may be left out (not Set) or null (an empty Text).
type OptionalText struct {
	Set  bool
	Text string
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *OptionalText) UnmarshalJSON(raw []byte) error {
	o.Set = true
	return json.Unmarshal(raw, &o.Text)
}

// Schema implements huma.SchemaProvider.
func (OptionalText) Schema(huma.Registry) *huma.Schema {
	most := 1024
	return &huma.Schema{Type: huma.TypeString, Nullable: true, MaxLength: &most, Examples: []any{"https://code.example/acme/web"}}
}

// OptionalNumber is a whole number in a request that may be left out (not Set) or null (a nil Value).
type OptionalNumber struct {
	Set   bool
	Value *int64
}

// UnmarshalJSON implements json.Unmarshaler.
func (o *OptionalNumber) UnmarshalJSON(raw []byte) error {
	o.Set = true
	return json.Unmarshal(raw, &o.Value)
}

// Schema implements huma.SchemaProvider.
func (OptionalNumber) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Nullable: true, Examples: []any{60}}
}

// valueOr returns the number, or other without one.
func (o OptionalNumber) valueOr(other int64) int64 {
	if o.Value == nil {
		return other
	}
	return *o.Value
}
