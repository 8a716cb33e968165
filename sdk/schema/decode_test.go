package schema_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func TestDecodeDefaults(t *testing.T) {
	want := sample{
		BaseURL: "https://api.example.com", Token: "t", Addr: "a, b's", Mode: "fast", On: true, Timeout: 90 * time.Second,
		Folders: []string{"x", "y"}, Labels: map[string]string{"k": "v"}, Limits: limits{10, 0.5},
		Feeds: []feed{}, Named: map[string]limits{},
	}
	for _, text := range []string{`{"token":"t"}`, `{"token":"t","limits":null,"folders":null,"feed":null,"maybe":null}`} {
		var got sample
		if ds := schema.Decode([]byte(text), &got); ds != nil {
			t.Fatal(ds)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v", got)
		}
	}
}

func TestDecodeValues(t *testing.T) {
	var got sample
	ds := schema.Decode([]byte(`{"token":"t","mode":"exact","big":9007199254740993,"on":false,"maybe":false,"wait":"2s",
		"timeout":"1h30m","folders":[],"labels":{"a":"b"},"optional":{"max":3.0},
		"feed":[{"url":"u","tags":["b"],"header":{"h":{"value":"v"}}}],"named":{"n":{"ratio":1}}}`), &got)
	if ds != nil {
		t.Fatal(ds)
	}
	if got.Big != 9007199254740993 || got.On || got.Maybe == nil || *got.Maybe || *got.Wait != 2*time.Second ||
		got.Timeout != 90*time.Minute || len(got.Folders) != 0 || got.Optional.Max != 3 || got.Mode != "exact" {
		t.Errorf("got %+v", got)
	}
	wantFeed := feed{URL: "u", Every: 5 * time.Minute, Tags: []string{"b"}, Headers: map[string]header{"h": {"v"}}}
	if !reflect.DeepEqual(got.Feeds, []feed{wantFeed}) || got.Named["n"] != (limits{10, 1}) {
		t.Errorf("got %+v, %+v", got.Feeds, got.Named)
	}
}

func TestDecodeErrors(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"NotJSON":        {`{"token":`, "must be an object"},
		"NotAnObject":    {`[1]`, "must be an object"},
		"Required":       {`{}`, "token: is required"},
		"Empty":          {``, "token: is required"},
		"Null":           {`null`, "token: is required"},
		"Unknown":        {`{"token":"t","bse_url":"x"}`, "bse_url: is not known here"},
		"String":         {`{"token":5}`, "token: must be a string"},
		"Integer":        {`{"token":"t","big":1.5}`, "big: must be a whole number"},
		"Overflow":       {`{"token":"t","big":99999999999999999999}`, "big: must be a whole number"},
		"Bool":           {`{"token":"t","on":"yes"}`, "on: must be true or false"},
		"Duration":       {`{"token":"t","timeout":"90 seconds"}`, `timeout: must be a duration such as "90s"`},
		"Enum":           {`{"token":"t","mode":"slow"}`, `mode: must be one of "fast", "exact"`},
		"EnumOfList":     {`{"token":"t","feed":[{"url":"u","tags":["c"]}]}`, `feed[0].tags: must be one of "a", "b"`},
		"ListElement":    {`{"token":"t","folders":["a",1]}`, "folders[1]: must be a string"},
		"MapMember":      {`{"token":"t","labels":{"x":null}}`, `labels["x"]: must be a string`},
		"List":           {`{"token":"t","folders":"a"}`, "folders: must be a list of strings"},
		"Block":          {`{"token":"t","limits":3}`, "limits: must be an object"},
		"BlockList":      {`{"token":"t","feed":{}}`, "feed: must be a list of objects"},
		"BlockMap":       {`{"token":"t","named":[]}`, "named: must be an object of objects"},
		"DeepRequired":   {`{"token":"t","feed":[{"url":"u","header":{"h":{}}}]}`, `feed[0].header["h"].value: is required`},
		"NullIsRequired": {`{"token":null}`, "token: is required"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var got sample
			ds := schema.Decode([]byte(c.text), &got)
			if len(ds) == 0 || ds[0].String() != c.want {
				t.Errorf("got %v, want %s", ds, c.want)
			}
		})
	}
}

func TestDecodeRefusesTargets(t *testing.T) {
	var none *sample
	for _, v := range []any{nil, sample{}, none, 3, new(int), map[string]any{}} {
		if ds := schema.Decode([]byte(`{}`), v); !ds.HasErrors() {
			t.Errorf("%T accepted", v)
		}
	}
}

func TestDecodeRepeatsNoValue(t *testing.T) {
	var got struct {
		A schema.Secret `patchbay:"a,enum=x"`
		B int           `patchbay:"b,sensitive"`
	}
	ds := schema.Decode([]byte(`{"a":"hunter2","b":"hunter2"}`), &got)
	if len(ds) != 2 || strings.Contains(fmt.Sprintf("%v %#v", ds, ds), "hunter2") {
		t.Errorf("got %v", ds)
	}
}

func TestDiagnosticsRoundTrip(t *testing.T) {
	in := schema.Diagnostics{
		{Severity: schema.Error, Summary: "s", Detail: "d", Path: schema.At("folders").Index(2).Key("x").Attr("y")},
		{Severity: schema.Warning, Summary: "w"},
	}
	out := schema.DiagnosticsFromProto(in.Proto())
	if !reflect.DeepEqual(in, out) {
		t.Errorf("got %+v", out)
	}
	if got := out[0].Path.String(); got != `folders[2]["x"].y` {
		t.Errorf("path = %s", got)
	}
}

func TestDiagnosticsLimits(t *testing.T) {
	var many schema.Diagnostics
	for range 250 {
		many = append(many, schema.Errorf(nil, "x")...)
	}
	out := schema.DiagnosticsFromProto(many.Proto())
	if len(out) != schema.MaxDiagnostics+1 || !strings.Contains(out[schema.MaxDiagnostics].Summary, "150 more") {
		t.Errorf("%d diagnostics, last %v", len(out), out[len(out)-1])
	}
	hostile := []*pluginv1.Diagnostic{nil, {Summary: "a\x1b[31m\nb" + strings.Repeat("é", 600), Path: []*pluginv1.Step{
		nil, {}, {Step: &pluginv1.Step_Index{Index: -1}}, {Step: &pluginv1.Step_Key{Key: "\x07"}},
	}}}
	got := schema.DiagnosticsFromProto(hostile)
	if strings.ContainsAny(got[1].Summary, "\x1b\n") || len(got[1].Summary) > 510 || len(got[1].Path) != 1 {
		t.Errorf("got %+v", got[1])
	}
}

func TestDiagnosticsErr(t *testing.T) {
	warning := schema.Warnf(schema.At("a"), "old")
	both := append(warning, schema.Errorf(schema.At("b"), "bad %d", 1)...)
	if warning.HasErrors() || warning.Err() != nil || schema.Diagnostics(nil).Err() != nil {
		t.Error("a warning counts as an error")
	}
	if !both.HasErrors() || both.Err().Error() != "b: bad 1" {
		t.Errorf("got %v", both.Err())
	}
	if got := both.Under(schema.At("x").Index(0))[1].Path.String(); got != "x[0].b" {
		t.Errorf("path = %s", got)
	}
}

func TestPathsShareNothing(t *testing.T) {
	base := schema.At("a").Attr("b").Attr("c")
	x, y := base.Attr("x"), base.Attr("y")
	if x.String() != "a.b.c.x" || y.String() != "a.b.c.y" {
		t.Errorf("%s, %s", x, y)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"token":"t","feed":[{"url":"u","header":{"h":{"value":"v"}}}],"wait":"1s"}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var got sample
		_ = schema.Decode(data, &got)
	})
}
