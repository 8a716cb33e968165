package api

import (
	"encoding/json"
	"reflect"

	"github.com/danielgtaylor/huma/v2"
)

// Optional is an object of an answer that may be null. For plain values a pointer does.
type Optional[T any] struct{ Of *T }

// MarshalJSON implements json.Marshaler.
func (o Optional[T]) MarshalJSON() ([]byte, error) { return json.Marshal(o.Of) }

// Schema implements huma.SchemaProvider.
func (Optional[T]) Schema(r huma.Registry) *huma.Schema {
	return &huma.Schema{AnyOf: []*huma.Schema{r.Schema(reflect.TypeFor[T](), true, ""), {Type: "null"}}}
}

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
	return &huma.Schema{Type: huma.TypeString, Nullable: true}
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
	return &huma.Schema{Type: huma.TypeInteger, Format: "int64", Nullable: true}
}

// ValueOr returns the number, or other without one.
func (o OptionalNumber) ValueOr(other int64) int64 {
	if o.Value == nil {
		return other
	}
	return *o.Value
}
