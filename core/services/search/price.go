package search

import (
	"encoding/json"
	"math"
	"strconv"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// fields are the members of a body that prices and checks look at, as raw JSON.
type fields map[string]json.RawMessage

// price estimates what a call costs before it is made: the sum of the operation's terms.
func price(terms []sdk.PriceTerm, f fields) int64 {
	var sum int64
	for _, t := range terms {
		unit := max(1, t.Unit)
		n := count(t, f)
		sum += (n/unit + min(1, n%unit)) * rate(t, f)
	}
	return sum
}

// maxCount keeps a body from asking for a price that overflows.
const maxCount = math.MaxInt32

func count(t sdk.PriceTerm, f fields) int64 {
	if t.CountField == "" {
		return 1
	}
	raw, ok := f[t.CountField]
	if !ok || absent(raw) {
		return t.DefaultCount
	}
	switch raw[0] {
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) == nil {
			return int64(len(list))
		}
	case '"':
		return 1
	default:
		if n, err := strconv.ParseFloat(string(raw), 64); err == nil {
			return int64(math.Ceil(min(max(n, 0), maxCount)))
		}
	}
	return t.DefaultCount
}

func rate(t sdk.PriceTerm, f fields) int64 {
	for _, c := range t.Cases {
		raw, ok := f[c.Field]
		if !ok || absent(raw) {
			continue
		}
		if c.Equals == "" && string(raw) != `""` {
			return c.Rate
		}
		var s string
		if c.Equals != "" && json.Unmarshal(raw, &s) == nil && s == c.Equals {
			return c.Rate
		}
	}
	return t.Rate
}

func absent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == "false"
}

// operation is an operation of the backend with what is derived from it once.
type operation struct {
	sdk.Operation
	// want are the members of a body that checks and the price look at.
	want map[string]bool
}

func newOperation(op sdk.Operation) operation {
	want := map[string]bool{"max_results": true, "stream": true}
	for _, name := range op.Required {
		want[name] = true
	}
	for _, t := range op.Price {
		if t.CountField != "" {
			want[t.CountField] = true
		}
		for _, c := range t.Cases {
			want[c.Field] = true
		}
	}
	return operation{Operation: op, want: want}
}
