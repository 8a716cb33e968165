package proxy

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"

	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// fields are the members of a body that prices and checks look at, as raw JSON.
type fields map[string]json.RawMessage

// callPrice returns the estimated credits of a call, the sum of the operation's price terms.
func callPrice(terms []sdk.PriceTerm, f fields) int64 {
	var sum int64
	for _, t := range terms {
		unit := max(1, t.Unit)
		n := countUnits(t, f)
		sum += (n/unit + min(1, n%unit)) * unitRate(t, f)
	}
	return sum
}

// maxCount bounds a count that a body states, so that no price overflows.
const maxCount = math.MaxInt32

// countUnits returns the number that a price term multiplies: the length of the list, or the number, in its count
// field.
func countUnits(t sdk.PriceTerm, f fields) int64 {
	if t.CountField == "" {
		return 1
	}
	raw, ok := f[t.CountField]
	if !ok || isAbsent(raw) {
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

// unitRate returns the credits for each unit of a price term: those of its first case that the body meets, else its
// rate.
func unitRate(t sdk.PriceTerm, f fields) int64 {
	for _, c := range t.Cases {
		raw, ok := f[c.Field]
		if !ok || isAbsent(raw) {
			continue
		}
		if c.Equals == "" && string(raw) != `""` || c.Equals != "" && equalsText(raw, c.Equals) {
			return c.Rate
		}
	}
	return t.Rate
}

// equalsText reports whether raw, which is valid JSON, is the string text. Only one with escapes has to be decoded.
func equalsText(raw json.RawMessage, text string) bool {
	if raw[0] != '"' {
		return false
	}
	if !bytes.ContainsRune(raw, '\\') {
		return string(raw[1:len(raw)-1]) == text
	}
	var s string
	return json.Unmarshal(raw, &s) == nil && s == text
}

// isAbsent reports whether a member is missing, null or false.
func isAbsent(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == "false"
}

// Operation2 is an operation of the backend with what is derived from it once.
type Operation2 struct {
	sdk.Operation
	// Want are the members of a body that checks and the price look at.
	Want map[string]bool
}

func newOperation(op sdk.Operation) Operation2 {
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
	return Operation2{Operation: op, Want: want}
}
