package jsonedit_test

import (
	"encoding/json"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

func TestCutTail(t *testing.T) {
	for _, c := range []struct {
		name, in, out, value string
		done                 bool
	}{
		{"last", `{"a":[1,{"b":2}],"usage":{"credits":1}}`, `{"a":[1,{"b":2}]}`, `{"credits":1}`, true},
		{"before the last", `{"a":1, "usage" : {"credits":1} , "id":"x"} `, `{"a":1 , "id":"x"} `, `{"credits":1}`, true},
		{"first", `{"usage":1,"id":"x"}`, `{"id":"x"}`, `1`, true},
		{"alone", `{ "usage":1 }`, `{ }`, `1`, true},
		{"nested", `{"a":{"usage":1}}`, `{"a":{"usage":1}}`, ``, false},
		{"in an array", `{"a":[{"usage":1}]}`, `{"a":[{"usage":1}]}`, ``, false},
		{"nested after it", `{"usage":1,"a":{"usage":2}}`, `{"usage":1,"a":{"usage":2}}`, ``, false},
		{"a value", `{"a":"usage"}`, `{"a":"usage"}`, ``, false},
		{"end of another name", `{"my \"usage":1}`, `{"my \"usage":1}`, ``, false},
		{"in a string", `{"a":"{\"usage\":1}"}`, `{"a":"{\"usage\":1}"}`, ``, false},
		{"no such member", `{"a":1}`, `{"a":1}`, ``, false},
		{"cut off", `{"a":1,"usage":{"cre`, `{"a":1,"usage":{"cre`, ``, false},
		{"more behind", `{"a":1,"usage":2}}`, `{"a":1,"usage":2}}`, ``, false},
		{"empty", ``, ``, ``, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got string
			out, done := jsonedit.CutTail([]byte(c.in), "usage", func(raw []byte) bool {
				got = string(raw)
				return true
			})
			if string(out) != c.out || done != c.done || got != c.value {
				t.Fatalf("got %q, %v, value %q", out, done, got)
			}
		})
	}
}

// FuzzCutTail: where the end decides, the result is what reading the whole would have given.
func FuzzCutTail(f *testing.F) {
	for _, s := range []string{`{"a":1,"usage":{"credits":1}}`, `{"usage":1,"b":[]}`, `{"a":{"usage":1},"usage":2 , "c":"\"usage\""}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		if !json.Valid([]byte(in)) {
			return
		}
		want, err := jsonedit.Remove([]byte(in), func(k string) bool { return k == "usage" })
		if err != nil {
			return
		}
		n := 0
		members, _ := jsonedit.Members([]byte(in))
		for _, m := range members {
			if m.Key == "usage" {
				n++
			}
		}
		out, done := jsonedit.CutTail([]byte(in), "usage", func([]byte) bool { return true })
		if !done || n != 1 {
			return
		}
		var a, b map[string]json.RawMessage
		if json.Unmarshal(out, &a) != nil || json.Unmarshal(want, &b) != nil || len(a) != len(b) {
			t.Fatalf("%q: got %q, want %q", in, out, want)
		}
	})
}
