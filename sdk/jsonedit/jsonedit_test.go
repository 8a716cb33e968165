package jsonedit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/jsonedit"
)

func TestMembers(t *testing.T) {
	body := []byte(" {\"a\" : 1.50,\"\\u0061\\n\":[{\"a\":2}] , \"\\ud83d\\ude00\":\"x\\\"y\"}\n")
	got, err := jsonedit.Members(body)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`a=1.50`, "a\n=[{\"a\":2}]", "😀=\"x\\\"y\""}
	if len(got) != len(want) {
		t.Fatalf("got %d members, want %d", len(got), len(want))
	}
	for i, m := range got {
		if s := m.Key + "=" + string(m.Value(body)); s != want[i] {
			t.Errorf("member %d: got %q, want %q", i, s, want[i])
		}
		if body[m.KeyStart] != '"' || body[m.KeyEnd-1] != '"' {
			t.Errorf("member %d: key offsets are wrong", i)
		}
	}
}

func TestErrors(t *testing.T) {
	deep := func(n int) string { return `{"a":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}" }
	tests := []struct {
		body   string
		want   error
		offset int
	}{
		{``, nil, 0}, {`   `, nil, 3}, {`[1]`, jsonedit.ErrNotObject, 0}, {`"x"`, jsonedit.ErrNotObject, 0},
		{`null`, jsonedit.ErrNotObject, 0}, {`hello`, nil, 0}, {`[1`, nil, 2}, {`1 2`, nil, 2},
		{`{`, nil, 1}, {`{"a"}`, nil, 4}, {`{"a":}`, nil, 5}, {`{"a":1,}`, nil, 7}, {`{"a":1 "b":2}`, nil, 7},
		{`{"a":1}x`, nil, 7}, {`{"a":1}{}`, nil, 7}, {`{a:1}`, nil, 1}, {`{'a':1}`, nil, 1}, {`{"a":01}`, nil, 6},
		{`{"a":-}`, nil, 6}, {`{"a":1.}`, nil, 7}, {`{"a":1e}`, nil, 7}, {`{"a":+1}`, nil, 5}, {`{"a":NaN}`, nil, 5},
		{`{"a":tru}`, nil, 8}, {`{"a":"\x"}`, nil, 7}, {`{"a":"\u12g4"}`, nil, 10}, {"{\"a\":\"\n\"}", nil, 6},
		{"{\"a\":\"0123456789abcdef\x01\"}", nil, 22}, {"{\"\xff\":1}", nil, 1}, {`{"a":[1,]}`, nil, 8},
		{`{"a":[1}`, nil, 7}, {`{"a":"b`, nil, 7}, {`{"a":"b\`, nil, 8}, {"\ufeff{}", nil, 0},
		{deep(65), jsonedit.ErrDepth, 0},
	}
	for _, tt := range tests {
		_, err := jsonedit.Members([]byte(tt.body))
		var syntax *jsonedit.SyntaxError
		switch {
		case tt.want != nil && !errors.Is(err, tt.want):
			t.Errorf("%q: got %v, want %v", tt.body, err, tt.want)
		case tt.want == nil && !errors.As(err, &syntax):
			t.Errorf("%q: got %v, want a syntax error", tt.body, err)
		case tt.want == nil && syntax.Offset != tt.offset:
			t.Errorf("%q: got offset %d, want %d", tt.body, syntax.Offset, tt.offset)
		}
	}
	if _, err := jsonedit.Members([]byte(deep(64))); err != nil {
		t.Errorf("64 levels: %v", err)
	}
}

func TestRemove(t *testing.T) {
	for _, tt := range []struct{ body, drop, want string }{
		{`{}`, "a", `{}`},
		{`{"a":1}`, "a", `{}`},
		{` { "a" : 1 } `, "a", ` {  } `},
		{`{"a":1,"b":2}`, "a", `{"b":2}`},
		{`{"a":1,"b":2}`, "b", `{"a":1}`},
		{`{"a":1,"b":2,"c":3}`, "b", `{"a":1,"c":3}`},
		{`{"a":1,"b":2,"c":3}`, "bc", `{"a":1}`},
		{`{"a":1,"b":2,"c":3}`, "ab", `{"c":3}`},
		{`{"a":1,"b":2,"c":3,"d":4}`, "bd", `{"a":1,"c":3}`},
		{`{"a":1, "a":2,"c":3, "a":4}`, "a", `{"c":3}`},
		{`{"\u0061":1,"c":1.0}`, "a", `{"c":1.0}`},
		{`{"a":1,"b":2}`, "ab", `{}`},
		{"{\n  \"a\": 1,\n  \"b\": {\"a\": 2}\n}", "a", "{\n  \"b\": {\"a\": 2}\n}"},
	} {
		body := []byte(tt.body)
		got, err := jsonedit.Remove(body, func(key string) bool { return strings.Contains(tt.drop, key) })
		if err != nil || string(got) != tt.want {
			t.Errorf("%s without %s: got %s (%v), want %s", tt.body, tt.drop, got, err, tt.want)
		}
		if string(body) != tt.body {
			t.Errorf("%s: argument was changed", tt.body)
		}
		drop := func(key []byte, _ jsonedit.Member) bool { return strings.Contains(tt.drop, string(key)) }
		if got, err := jsonedit.RemoveInPlace(body, drop); err != nil || string(got) != tt.want {
			t.Errorf("%s without %s, in place: got %s (%v), want %s", tt.body, tt.drop, got, err, tt.want)
		}
	}
	body := []byte(`{"a":1}`)
	if got, _ := jsonedit.Remove(body, func(string) bool { return false }); &got[0] != &body[0] {
		t.Error("a body without a match was copied")
	}
	if _, err := jsonedit.Remove([]byte(`{`), func(string) bool { return true }); err == nil {
		t.Error("invalid body was accepted")
	}
}

func TestSet(t *testing.T) {
	for _, tt := range []struct{ body, key, raw, want string }{
		{`{}`, "k", `true`, `{"k":true}`},
		{"{ \n}", "k", `1`, "{\"k\":1 \n}"},
		{`{"a":1}`, "k", `"v"`, `{"a":1,"k":"v"}`},
		{"{\"a\":1\n}\n", "k", `null`, "{\"a\":1,\"k\":null\n}\n"},
		{`{"k":false,"a":1}`, "k", `true`, `{"k":true,"a":1}`},
		{`{"k":false,"\u006b" : 3}`, "k", `true`, `{"k":true,"\u006b" : true}`},
		{`{}`, "q\"\n", `{}`, `{"q\"\n":{}}`},
	} {
		got, err := jsonedit.Set([]byte(tt.body), tt.key, []byte(tt.raw))
		if err != nil || string(got) != tt.want {
			t.Errorf("set %q in %s: got %s (%v), want %s", tt.key, tt.body, got, err, tt.want)
		}
	}
	for _, tt := range []struct{ body, key, raw string }{
		{`[]`, "k", `1`}, {`{}`, "k", `1 2`}, {`{}`, "k", ``}, {`{}`, "k", `}`}, {`{}`, "\xff", `1`},
	} {
		if got, err := jsonedit.Set([]byte(tt.body), tt.key, []byte(tt.raw)); err == nil {
			t.Errorf("set %q to %q in %s: got %s, want an error", tt.key, tt.raw, tt.body, got)
		}
	}
}

func TestFind(t *testing.T) {
	body := []byte(`{"a":1,"b":{"c":5},"a":[2]}`)
	m, ok, err := jsonedit.Find(body, "a")
	if err != nil || !ok || m.Key != "a" || string(m.Value(body)) != "[2]" {
		t.Errorf("got %+v, %v, %v", m, ok, err)
	}
	if _, ok, err = jsonedit.Find(body, "c"); ok || err != nil {
		t.Errorf("nested member was found (%v)", err)
	}
	if _, _, err = jsonedit.Find([]byte(`{"a":1`), "a"); err == nil {
		t.Error("invalid body was accepted")
	}
}

func TestContainsString(t *testing.T) {
	for _, tt := range []struct {
		body, needle string
		want         bool
	}{
		{`{"a":"x th-1 y"}`, "th-1", true},
		{`{"a":"x \u0074h\u002d1 y"}`, "th-1", true},
		{`{"a":{"b":[1,{"\u0074h-1":2}]}}`, "th-1", true},
		{`["th-1"]`, "th-1", true},
		{`{"a":"th-","b":"1"}`, "th-1", false},
		{`{"a":":1","b":1}`, `":1`, false},
		{`{"a":1,"b":[true]}`, "true", false},
		{`{"a":"\\u0074h-1"}`, "th-1", false},
		{`{"a":"\ud83d\ude00"}`, "😀", true},
		{`{"a":"th-1`, "th-1", true},
		{`{"a":"b"}`, "", false},
	} {
		if got := jsonedit.ContainsString([]byte(tt.body), tt.needle); got != tt.want {
			t.Errorf("%q in %s: got %v", tt.needle, tt.body, got)
		}
	}
}

// sample builds an answer of about the given size.
func sample(size int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"query":"who is leo","answer":null,"images":[],"results":[`)
	for i := 0; b.Len() < size-150; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"title":"Title %d","url":"https://example.org/%d","score":0.%d,"content":"%s"}`, i, i, i+1,
			strings.Repeat("words and \\\"quoted\\\" words ", 6)+strings.Repeat("plain text follows here ", 10))
	}
	b.WriteString(`],"response_time":1.67,"usage":{"credits":1},"request_id":"123e4567-e89b-12d3"}`)
	return b.Bytes()
}

func BenchmarkWalk(b *testing.B) {
	for _, size := range []int{1 << 10, 50 << 10} {
		body := sample(size)
		if !json.Valid(body) {
			b.Fatal("sample is not JSON")
		}
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := jsonedit.Walk(body, func([]byte, jsonedit.Member) {}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("%d/remove", size), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := jsonedit.RemoveFunc(body, func(k []byte, _ jsonedit.Member) bool { return string(k) == "usage" })
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
