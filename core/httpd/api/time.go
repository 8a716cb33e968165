package api

import (
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/patchbay-dev/patchbay/core/store"
)

// Time is a time in an answer. In JSON it is RFC 3339 in UTC with three decimals, and an empty text for the zero time: a member
// that may be left out has omitempty, which the document goes by, and omitzero.
type Time struct{ time.Time }

// TimeOf returns t as a time in an answer.
func TimeOf(t time.Time) Time { return Time{t} }

// TimeOfMillis returns a stored time; 0 gives the zero time.
func TimeOfMillis(ms int64) Time { return Time{store.FromMillis(ms)} }

// OptionalTime returns a stored time, or nil for 0.
func OptionalTime(ms int64) *Time {
	if ms == 0 {
		return nil
	}
	return &Time{store.FromMillis(ms)}
}

// OrZero returns the time, or the zero time for nil.
func (t *Time) OrZero() time.Time {
	if t == nil {
		return time.Time{}
	}
	return t.Time
}

// String returns the time as JSON has it, without quotation marks.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return store.FormatTime(t.Time)
}

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON implements json.Unmarshaler.
func (t *Time) UnmarshalJSON(raw []byte) error {
	if string(raw) == `""` {
		*t = Time{}
		return nil
	}
	return t.Time.UnmarshalJSON(raw)
}

// Schema implements huma.SchemaProvider.
func (Time) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date-time"}
}
