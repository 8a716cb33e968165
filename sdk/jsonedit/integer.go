package jsonedit

import (
	"math"
	"strconv"
)

// maxExact is up to where every whole number is exact as a float64.
const maxExact = 1 << 53

// ParseInteger reads a JSON value that is a whole number, however it is written: 5, 5.0 and 5e0 are the same. ok is false for any
// other value, and for a number of 2^53 or more that is written with a fraction or an exponent.
func ParseInteger(raw []byte) (n int64, ok bool) {
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) >= maxExact {
		return 0, false
	}
	return int64(f), true
}
