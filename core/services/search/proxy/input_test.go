package proxy

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

func TestBodies(t *testing.T) {
	searchOp := searchtest.Operations()[0]
	extract := searchtest.Operations()[1]
	research := searchtest.Operations()[4]
	tests := []struct {
		name, body string
		op         sdk.Operation
		field      string // of the refusal; "-" is a refusal without one, "" none
		up         string // what goes up
	}{
		{"plain", `{"query":"a"}`, searchOp, "", `{"query":"a"}`},
		{"untouched", " { \"query\" : \"a\" ,\n\"n\":1e2,\"x\":[ ] } ", searchOp, "", " { \"query\" : \"a\" ,\n\"n\":1e2,\"x\":[ ] } "},
		{"token alone", `{"api_key":"` + searchtest.SomeToken + `","query":"a"}`, searchOp, "", `{"query":"a"}`},
		{"all spellings", `{"api_key":"x","apiKey":"y","ApiKEY":"z","tavilyApiKey":"u","query":"a","API_KEY":1,"apiBaseURL":"http://x","apibaseurl":2}`, searchOp, "", `{"query":"a"}`},
		{"name with escapes", `{"api\u005fkey":"x","query":"a"}`, searchOp, "", `{"query":"a"}`},
		{"twice", `{"api_key":"x","query":"a","api_key":"y"}`, searchOp, "", `{"query":"a"}`},
		{"token as the query", `{"query":"` + searchtest.SomeToken + `"}`, searchOp, "-", ""},
		{"token deep inside", `{"query":"a","x":[{"y":["see ` + searchtest.SomeToken + `."]}]}`, searchOp, "-", ""},
		{"token with escapes", `{"query":"a","x":"` + strings.Replace(searchtest.SomeToken, "a", `\u0061`, 1) + `"}`, searchOp, "-", ""},
		{"token as a name", `{"query":"a","` + searchtest.SomeToken + `":1}`, searchOp, "-", ""},
		{"api_key deeper is the upstream's", `{"query":"a","x":{"api_key":"other"}}`, searchOp, "", `{"query":"a","x":{"api_key":"other"}}`},
		{"empty", ``, searchOp, "-", ""},
		{"not JSON", `query=a`, searchOp, "-", ""},
		{"cut off", `{"query":"a"`, searchOp, "-", ""},
		{"more after it", `{"query":"a"}{}`, searchOp, "-", ""},
		{"list", `[]`, searchOp, "-", ""},
		{"null", `null`, searchOp, "-", ""},
		{"string", `"a"`, searchOp, "-", ""},
		{"too deep", strings.Repeat(`{"a":`, 100) + `1` + strings.Repeat(`}`, 100), searchOp, "-", ""},
		{"short text as api_key", `{"api_key":"a","query":"a"}`, searchOp, "", `{"query":"a"}`},
		{"no query", `{}`, searchOp, "query", ""},
		{"null query", `{"query":null}`, searchOp, "query", ""},
		{"blank query", `{"query":" \t"}`, searchOp, "-", ""},
		{"escaped blank query", `{"query":"\u0020\n"}`, searchOp, "query", ""},
		{"query of another type", `{"query":["a"]}`, searchOp, "query", ""},
		{"max_results 0", `{"query":"a","max_results":0}`, searchOp, "", `{"query":"a","max_results":0}`},
		{"max_results 20", `{"query":"a","max_results":20}`, searchOp, "", `{"query":"a","max_results":20}`},
		{"max_results 5.0", `{"query":"a","max_results":5.0}`, searchOp, "", `{"query":"a","max_results":5.0}`},
		{"max_results 20.5", `{"query":"a","max_results":20.5}`, searchOp, "max_results", ""},
		{"max_results null", `{"query":"a","max_results":null}`, searchOp, "", `{"query":"a","max_results":null}`},
		{"max_results -1", `{"query":"a","max_results":-1}`, searchOp, "max_results", ""},
		{"max_results 21", `{"query":"a","max_results":21}`, searchOp, "max_results", ""},
		{"max_results text", `{"query":"a","max_results":"3"}`, searchOp, "max_results", ""},
		{"max_results 1.5", `{"query":"a","max_results":1.5}`, searchOp, "max_results", ""},
		{"max_results true", `{"query":"a","max_results":true}`, searchOp, "max_results", ""},
		{"max_results huge", `{"query":"a","max_results":99999999999999999999}`, searchOp, "max_results", ""},
		{"stream where there is none", `{"query":"a","stream":true}`, searchOp, "stream", ""},
		{"stream off", `{"query":"a","stream":false}`, searchOp, "", `{"query":"a","stream":false}`},
		{"stream of another type", `{"input":"a","stream":"yes"}`, research, "stream", ""},
		{"stream", `{"input":"a","stream":true}`, research, "", `{"input":"a","stream":true}`},
		{"one url", `{"urls":"http://a.b"}`, extract, "", `{"urls":"http://a.b"}`},
		{"no urls", `{"urls":[ ]}`, extract, "urls", ""},
		{"urls of another type", `{"urls":{"a":1}}`, extract, "urls", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			op := newOperation(tt.op)
			in, err := ParseInput([]byte(tt.body), op.Want)
			if err == nil {
				err = in.Validate(op.Operation, searchtest.SomeToken, in.Token)
			}
			if tt.field == "" {
				if err != nil || string(in.body) != tt.up {
					t.Fatalf("goes up as %q, %v; want %q", in.body, err, tt.up)
				}
				return
			}
			e := fault.As(err)
			if e == nil || e.Code != fault.InvalidRequest || tt.field != "-" && e.Ext["field"] != tt.field {
				t.Errorf("refused with %v %v, want the field %s", err, e, tt.field)
			}
			if e != nil && strings.Contains(e.Message, searchtest.SomeToken) {
				t.Error("the message holds the token")
			}
		})
	}
}

func TestBodyTokenIsRead(t *testing.T) {
	for body, want := range map[string]string{
		`{"api_key":"` + searchtest.SomeToken + `"}`: searchtest.SomeToken, `{"api_key":7}`: "", `{"api_key":null}`: "", `{"apiKey":"x"}`: "",
		`{}`: "",
		`{"api_key":"th\u002daB3d-abcdefghijklmnopqrstuvwx"}`: searchtest.SomeToken,
	} {
		if in, err := ParseInput([]byte(body), nil); err != nil || in.Token != want {
			t.Errorf("%s: %q, %v", body, in.Token, err)
		}
	}
}

func FuzzBody(f *testing.F) {
	for _, s := range []string{``, `{}`, `{"api_key":"t","query":"a"}`, `{"API_KEY":1,"apikey":2,"x":{"api_key":3}}`,
		`{"query":"th\u002d","urls":["a"],"max_results":3}`, `{"a":1,"a":2,"tavilyApiKey":{}}`, "{\"query\":\"\xff\"}"} {
		f.Add([]byte(s))
	}
	ops := searchtest.Operations()
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, o := range ops {
			op := newOperation(o)
			in, err := ParseInput(bytes.Clone(raw), op.Want)
			if err != nil {
				continue
			}
			if p := callPrice(op.Price, in.fields); p < 0 {
				t.Fatalf("price %d", p)
			}
			var members map[string]json.RawMessage
			if err := json.Unmarshal(in.body, &members); err != nil {
				t.Fatalf("what goes up is no JSON: %v", err)
			}
			for name := range members {
				switch strings.ToLower(name) {
				case "api_key", "apikey", "tavilyapikey", "apibaseurl":
					t.Fatalf("the member %q goes up", name)
				}
			}
			if in.Validate(op.Operation, searchtest.SomeToken, in.Token) == nil && bytes.Contains(in.body, []byte(searchtest.SomeToken)) {
				t.Fatal("the token goes up")
			}
		}
	})
}
