package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

// decode is the reference: a generic decode of an object.
func decode(t *testing.T, body []byte) map[string]json.RawMessage {
	t.Helper()
	var out map[string]json.RawMessage
	if err := json.Unmarshal(body, &out); err != nil {
		t.Fatalf("decode %q: %v", body, err)
	}
	return out
}

// texts collects all names and strings of a value.
func texts(v any, out *[]string) {
	switch v := v.(type) {
	case string:
		*out = append(*out, v)
	case []any:
		for _, e := range v {
			texts(e, out)
		}
	case map[string]any:
		for k, e := range v {
			*out = append(*out, k)
			texts(e, out)
		}
	}
}

func FuzzAgainstDecoder(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1,"b":"x"}`, ` {"a" : [1,2,{"b":null}] , "a":-0.5e+10}`, `{"\u0061":"\ud83d\ude00\ud83d"}`,
		`[1]`, `{"a":01}`, `{"a":"0123456789\t"}`, `{"usage":{"credits":1},"q":"th-1"}`, `{"a":1,}`, "{\"\xff\":1}",
	} {
		f.Add([]byte(s), "a")
	}
	f.Fuzz(func(t *testing.T, body []byte, key string) {
		members, err := jsonedit.Members(body)
		object := json.Valid(body) && bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{"))
		switch {
		case errors.Is(err, jsonedit.ErrDepth):
			return
		case errors.Is(err, jsonedit.ErrNotObject):
			if object || !json.Valid(body) {
				t.Fatalf("%q is called no object", body)
			}
			return
		case err != nil:
			if object && utf8.Valid(body) {
				t.Fatalf("%q is refused: %v", body, err)
			}
			return
		case !object:
			t.Fatalf("%q is accepted", body)
		}
		checkEdits(t, body, key, members)
	})
}

func checkEdits(t *testing.T, body []byte, key string, members []jsonedit.Member) {
	before := decode(t, body)
	last := map[string]json.RawMessage{}
	for _, m := range members {
		last[m.Key] = m.Value(body)
	}
	if !reflect.DeepEqual(before, last) {
		t.Fatalf("%q: members %v, decoder %v", body, last, before)
	}
	removed, err := jsonedit.Remove(body, func(k string) bool { return strings.HasPrefix(k, key) })
	if err != nil {
		t.Fatal(err)
	}
	for k := range last {
		if strings.HasPrefix(k, key) {
			delete(last, k)
		}
	}
	if after := decode(t, removed); !reflect.DeepEqual(after, last) {
		t.Fatalf("%q without %q: %q", body, key, removed)
	}
	checkContains(t, body, key)
	if !utf8.ValidString(key) {
		return
	}
	set, err := jsonedit.Set(body, key, []byte(`[1]`))
	if err != nil {
		t.Fatal(err)
	}
	before[key] = json.RawMessage(`[1]`)
	if after := decode(t, set); !reflect.DeepEqual(after, before) {
		t.Fatalf("%q with %q: %q", body, key, set)
	}
}

func checkContains(t *testing.T, body []byte, needle string) {
	var v any
	if !utf8.Valid(body) || needle == "" || !utf8.ValidString(needle) || json.Unmarshal(body, &v) != nil {
		return
	}
	members, _ := jsonedit.Members(body)
	seen := map[string]bool{}
	for _, m := range members {
		if seen[m.Key] {
			return
		}
		seen[m.Key] = true
	}
	var all []string
	texts(v, &all)
	want := strings.Contains(strings.Join(all, "\x00"), needle) && !strings.Contains(needle, "\x00")
	got := jsonedit.ContainsString(body, needle)
	// The decoder drops values of repeated names in nested objects, so it may see less.
	if want && !got {
		t.Fatalf("%q is not found in %q", needle, body)
	}
}
