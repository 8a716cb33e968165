package jsonedit_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

func TestParseInteger(t *testing.T) {
	for raw, want := range map[string]int64{
		"0": 0, "-0": 0, "5": 5, "5.0": 5, "5.000": 5, "5e0": 5, "50E-1": 5, "-3.0": -3, "1e3": 1000, "9007199254740993": 9007199254740993,
	} {
		if n, ok := jsonedit.ParseInteger([]byte(raw)); !ok || n != want {
			t.Errorf("%s is %d, %t", raw, n, ok)
		}
	}
	for _, raw := range []string{"", "5.5", "1e-1", `"5"`, "true", "null", "[5]", "{}", "1e400", "1e17", "99999999999999999999"} {
		if n, ok := jsonedit.ParseInteger([]byte(raw)); ok {
			t.Errorf("%s is the integer %d", raw, n)
		}
	}
}
