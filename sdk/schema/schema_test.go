package schema_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

type header struct {
	Value string `patchbay:"value,required"`
}

type feed struct {
	URL     string            `patchbay:"url,required" doc:"Where the feed is."`
	Every   time.Duration     `patchbay:"every,default=5m"`
	Tags    []string          `patchbay:"tags,enum=a|b"`
	Headers map[string]header `patchbay:"header"`
}

type limits struct {
	Max   int     `patchbay:"max,default=10"`
	Ratio float64 `patchbay:"ratio,default=0.5"`
}

type mode string

type sample struct {
	BaseURL  string            `patchbay:"base_url,default=https://api.example.com" doc:"Address of the API."`
	Token    schema.Secret     `patchbay:"token,required"`
	Backend  string            `patchbay:"backend,ref=search"`
	Addr     string            `patchbay:"addr,env=SVC_ADDR,default='a, b''s'"`
	Mode     mode              `patchbay:"mode,enum=fast|exact,default=fast"`
	Big      int64             `patchbay:"big"`
	On       bool              `patchbay:"on,default=true"`
	Maybe    *bool             `patchbay:"maybe"`
	Wait     *time.Duration    `patchbay:"wait"`
	Timeout  time.Duration     `patchbay:"timeout,default=90s"`
	Folders  []string          `patchbay:"folders,default=x|y"`
	Labels   map[string]string `patchbay:"labels,default=k=v"`
	Old      string            `patchbay:"old,deprecated=use base_url"`
	Limits   limits            `patchbay:"limits"`
	Optional *limits           `patchbay:"optional"`
	Feeds    []feed            `patchbay:"feed"`
	Named    map[string]limits `patchbay:"named"`
	Ignored  chan int
	Skipped  chan int `patchbay:"-"`
}

func TestOf(t *testing.T) {
	s, err := schema.Of(&sample{})
	if err != nil {
		t.Fatal(err)
	}
	token, addr := s.Attribute("token"), s.Attribute("addr")
	if !token.Required || !token.Sensitive || token.Type != schema.String {
		t.Errorf("token: %+v", token)
	}
	if string(addr.Default) != `"a, b's"` || addr.Env != "SVC_ADDR" {
		t.Errorf("addr: %+v", addr)
	}
	if got := s.Attribute("backend").Ref; got != "search" {
		t.Errorf("ref = %q", got)
	}
	for name, want := range map[string]string{
		"folders": `["x","y"]`, "labels": `{"k":"v"}`, "timeout": `"90s"`, "on": `true`, "mode": `"fast"`,
	} {
		if got := string(s.Attribute(name).Default); got != want {
			t.Errorf("default of %s = %s, want %s", name, got, want)
		}
	}
	nestings := map[string]schema.Nesting{"limits": schema.Single, "optional": schema.Single, "feed": schema.List, "named": schema.Map}
	for name, want := range nestings {
		if b := s.Block(name); b == nil || b.Nesting != want {
			t.Errorf("block %s: %+v", name, b)
		}
	}
}

type recursive struct {
	Inner *recursive `patchbay:"inner"`
}

func TestOfRefusesAuthorsMistakes(t *testing.T) {
	cases := map[string]struct {
		v    any
		want string
	}{
		"NotAStruct": {42, "no struct"},
		"Nil":        {nil, "no struct"},
		"BadType": {struct {
			A chan int `patchbay:"a"`
		}{}, "not supported"},
		"BadSlice": {struct {
			A []int `patchbay:"a"`
		}{}, "not supported"},
		"BadMap": {struct {
			A map[int]limits `patchbay:"a"`
		}{}, "not supported"},
		"BadName": {struct {
			A string `patchbay:"Base-URL"`
		}{}, "does not match"},
		"Twice": {struct {
			A, B string `patchbay:"a"`
		}{}, "used twice"},
		"Unexported": {struct {
			a string `patchbay:"a"`
		}{}, "not exported"},
		"UnknownOption": {struct {
			A string `patchbay:"a,requierd"`
		}{}, "requierd"},
		"FlagValue": {struct {
			A string `patchbay:"a,required=yes"`
		}{}, "required"},
		"BadDefault": {struct {
			A int `patchbay:"a,default=ten"`
		}{}, "default"},
		"DefaultEnum": {struct {
			A string `patchbay:"a,enum=x|y,default=z"`
		}{}, "one of"},
		"Contradiction": {struct {
			A string `patchbay:"a,required,default=z"`
		}{}, "required and has a default"},
		"EnumOfInt": {struct {
			A int `patchbay:"a,enum=1|2"`
		}{}, "enum needs"},
		"RefOfInt": {struct {
			A int `patchbay:"a,ref=search"`
		}{}, "ref needs"},
		"OpenQuote": {struct {
			A string `patchbay:"a,default='x"`
		}{}, "not closed"},
		"AfterQuote": {struct {
			A string `patchbay:"a,default='x'y"`
		}{}, "closing quote"},
		"BlockOption": {struct {
			A limits `patchbay:"a,sensitive"`
		}{}, "for a block"},
		"Recursive": {recursive{}, "deeper than"},
		"EnvInList": {struct {
			A []struct {
				B string `patchbay:"b,env=X"`
			} `patchbay:"a"`
		}{}, "may repeat"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := schema.Of(c.v)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Fatalf("error = %v, want %q", err, c.want)
			}
			if v := reflect.ValueOf(c.v); v.Kind() == reflect.Struct {
				if ds := schema.Decode(nil, reflect.New(v.Type()).Interface()); !ds.HasErrors() {
					t.Error("Decode accepts the struct")
				}
			}
		})
	}
}

func TestProtoRoundTrip(t *testing.T) {
	s, err := schema.Of(sample{})
	if err != nil {
		t.Fatal(err)
	}
	wire, err := proto.Marshal(s.Proto())
	if err != nil {
		t.Fatal(err)
	}
	var p pluginv1.Schema
	if err := proto.Unmarshal(wire, &p); err != nil {
		t.Fatal(err)
	}
	back, err := schema.FromProto(&p)
	if err != nil {
		t.Fatal(err)
	}
	if !proto.Equal(back.Proto(), s.Proto()) {
		t.Error("the schema changed on its way")
	}
	if back.Attribute("addr").Env != "" || back.Attribute("backend").Ref != "" {
		t.Error("env or ref crossed the wire")
	}
	if empty, err := schema.FromProto(nil); err != nil || len(empty.Attributes) != 0 {
		t.Errorf("nil: %v, %v", empty, err)
	}
}

func TestFromProtoRefuses(t *testing.T) {
	deep := &pluginv1.Schema{}
	for range 10 {
		deep = &pluginv1.Schema{Blocks: []*pluginv1.Block{{Name: "b", Nesting: pluginv1.Nesting_NESTING_SINGLE, Schema: deep}}}
	}
	attr := func(a *pluginv1.Attribute) *pluginv1.Schema {
		return &pluginv1.Schema{Attributes: []*pluginv1.Attribute{a}}
	}
	cases := map[string]*pluginv1.Schema{
		"Deep":       deep,
		"Large":      attr(&pluginv1.Attribute{Name: "a", Type: 1, Doc: strings.Repeat("x", schema.MaxSize)}),
		"Name":       attr(&pluginv1.Attribute{Name: "a b", Type: 1}),
		"Type":       attr(&pluginv1.Attribute{Name: "a", Type: 77}),
		"NoType":     attr(&pluginv1.Attribute{Name: "a"}),
		"Default":    attr(&pluginv1.Attribute{Name: "a", Type: 3, DefaultJson: `"x"`}),
		"BrokenJSON": attr(&pluginv1.Attribute{Name: "a", Type: 1, DefaultJson: `"x`}),
		"Null":       {Attributes: []*pluginv1.Attribute{nil}},
		"NullBlock":  {Blocks: []*pluginv1.Block{nil}},
		"NoNesting":  {Blocks: []*pluginv1.Block{{Name: "b"}}},
	}
	for name, p := range cases {
		t.Run(name, func(t *testing.T) {
			if _, err := schema.FromProto(p); err == nil {
				t.Error("accepted")
			}
		})
	}
}

func TestSecretIsNeverShown(t *testing.T) {
	s := schema.Secret("hunter2")
	holder := struct {
		S schema.Secret
		P *schema.Secret
		L []schema.Secret
	}{s, &s, []schema.Secret{s}}
	encoded, err := json.Marshal(map[string]any{"v": holder})
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{s.String(), s.GoString(), string(encoded), fmt.Sprint(s), fmt.Errorf("got %w", fmt.Errorf("%v", s)).Error()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, holder))
	}
	for _, text := range shown {
		if strings.Contains(text, "hunter2") || strings.Contains(text, "68756e74657232") {
			t.Errorf("shown: %s", text)
		}
	}
	var back schema.Secret
	if err := json.Unmarshal([]byte(`"hunter2"`), &back); err != nil || back.Reveal() != "hunter2" {
		t.Errorf("read %v", err)
	}
}
