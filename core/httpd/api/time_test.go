package api_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// TestTime: times are written alike everywhere, a time that is not known is an empty text, null, or left out, and both are read
// again.
func TestTime(t *testing.T) {
	at := time.Date(2026, 1, 31, 13, 0, 0, 5_999_999, time.FixedZone("", 3600))
	type answer struct {
		Known   api.Time  `json:"known"`
		Unknown api.Time  `json:"unknown"`
		Left    api.Time  `json:"left,omitempty,omitzero"`
		None    *api.Time `json:"none"`
		Some    *api.Time `json:"some"`
	}
	in := answer{Known: api.TimeOf(at), None: api.OptionalTime(0), Some: api.OptionalTime(at.UnixMilli())}
	raw, err := json.Marshal(in)
	const want = `{"known":"2026-01-31T12:00:00.005Z","unknown":"","none":null,"some":"2026-01-31T12:00:00.005Z"}`
	if err != nil || string(raw) != want {
		t.Fatalf("%s, %v, want %s", raw, err, want)
	}
	var out answer
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	if !out.Known.Equal(at.Truncate(time.Millisecond)) || !out.Unknown.IsZero() || !out.Some.OrZero().Equal(out.Known.Time) ||
		!out.None.OrZero().IsZero() {
		t.Errorf("read again: %+v", out)
	}
	if err := json.Unmarshal([]byte(`{"known":"yesterday"}`), &out); err == nil {
		t.Error("a word is taken for a time")
	}
}
