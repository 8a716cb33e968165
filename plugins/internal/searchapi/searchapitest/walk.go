// Package searchapitest tests that a backend does with each parameter what the table says.
package searchapitest

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/searchapi"
)

// Config is what the walk needs of a backend.
type Config struct {
	Backend searchapi.Backend
	// Required has a value in JSON for each required parameter, such as url.
	Required map[string]string
	// Schemas has the input schema of each operation.
	Schemas map[string]string
	// Invoke performs an operation.
	Invoke func(t *testing.T, operation, body string) (status int, answer []byte)
}

// TestBackend asks for each value of each parameter of each operation.
func TestBackend(t *testing.T, cfg Config) {
	t.Helper()
	for _, op := range searchapi.Operations() {
		t.Run(op, func(t *testing.T) {
			w := walk{cfg: cfg, operation: op}
			for _, p := range searchapi.Parameters(op) {
				w.testParameter(t, p)
			}
			w.expectAnswer(t, "bogus_name", `{"a":1}`, 200, true)
			w.expectAnswer(t, "bogus_name", "null", 200, false)
			w.testSchema(t)
		})
	}
}

type walk struct {
	cfg       Config
	operation string
}

func (w walk) testParameter(t *testing.T, p searchapi.Parameter) {
	t.Helper()
	for _, bogus := range Bogus(p.Value) {
		w.expectAnswer(t, p.Name, bogus, 400, false)
	}
	if p.Required {
		w.expectAnswer(t, p.Name, "null", 400, false)
		return
	}
	w.expectAnswer(t, p.Name, "null", 200, false)
	for _, neutral := range p.Neutral {
		w.expectAnswer(t, p.Name, decodeNeutral(neutral), 200, false)
	}
	effect := p.Effect(w.cfg.Backend)
	for _, sample := range Samples(p.Value) {
		plain := strings.Trim(sample, `"`)
		switch unserved := w.cfg.Backend == searchapi.SearXNG && isUnserved(p, sample); {
		case slices.Contains(p.Neutral, plain):
			w.expectAnswer(t, p.Name, sample, 200, false)
		case effect == searchapi.Refused:
			w.expectAnswer(t, p.Name, sample, 400, false)
		default:
			w.expectAnswer(t, p.Name, sample, 200, effect == searchapi.Ignored || unserved)
		}
	}
}

func isUnserved(p searchapi.Parameter, sample string) bool {
	if len(p.Unserved) == 0 {
		return false
	}
	var n, least float64
	if json.Unmarshal([]byte(sample), &n) == nil && json.Unmarshal([]byte(p.Unserved[0]), &least) == nil {
		return n >= least
	}
	return slices.Contains(p.Unserved, strings.Trim(sample, `"`))
}

// decodeNeutral writes a neutral value as JSON.
func decodeNeutral(neutral string) string {
	if json.Valid([]byte(neutral)) {
		return neutral
	}
	return fmt.Sprintf("%q", neutral)
}

// expectAnswer sends one value and checks the status and whether the answer lists the parameter as ignored.
func (w walk) expectAnswer(t *testing.T, name, value string, status int, ignored bool) {
	t.Helper()
	members := []string{fmt.Sprintf("%q:%s", name, value)}
	for _, p := range searchapi.Parameters(w.operation) {
		if p.Required && p.Name != name {
			members = append(members, fmt.Sprintf("%q:%s", p.Name, w.cfg.Required[p.Name]))
		}
	}
	body := "{" + strings.Join(members, ",") + "}"
	got, raw := w.cfg.Invoke(t, w.operation, body)
	var answer struct {
		Ignored []string
		Detail  struct{ Error string }
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	if got != status || slices.Contains(answer.Ignored, name) != ignored {
		t.Errorf("%s: %d, ignored %v; want %d, ignored: %t", body, got, answer.Ignored, status, ignored)
	}
	if status == 400 && !strings.Contains(answer.Detail.Error, name) {
		t.Errorf("%s: the error does not name the parameter: %s", body, raw)
	}
}

// testSchema compares the input schema of an operation with the table: what is honoured stands there, nothing else that is not in
// the table, and with the same values.
func (w walk) testSchema(t *testing.T) {
	t.Helper()
	properties := Properties(t, w.cfg.Schemas[w.operation])
	for _, p := range searchapi.Parameters(w.operation) {
		property, there := properties[p.Name]
		delete(properties, p.Name)
		switch {
		case p.Effect(w.cfg.Backend) == searchapi.Honoured && !there:
			t.Errorf("the schema of %s lacks %s", w.operation, p.Name)
		case there:
			property.Compare(t, w.operation, p)
		}
	}
	for name := range properties {
		t.Errorf("the schema of %s has %s, which is not in the table", w.operation, name)
	}
}

// Property is a member of an input schema.
type Property struct {
	Type    string
	Enum    []string
	Minimum *float64
	Maximum *float64
	AnyOf   []Property
}

// Properties reads an input schema.
func Properties(t *testing.T, schema string) map[string]Property {
	t.Helper()
	var out struct{ Properties map[string]Property }
	if err := json.Unmarshal([]byte(schema), &out); err != nil {
		t.Fatal(err)
	}
	return out.Properties
}

// Compare checks that a schema permits no value that the table does not.
func (s Property) Compare(t *testing.T, operation string, p searchapi.Parameter) {
	t.Helper()
	for _, form := range append([]Property{s}, s.AnyOf...) {
		for _, word := range form.Enum {
			if !slices.Contains(p.Value.Words(), word) {
				t.Errorf("the schema of %s permits %s to be %q", operation, p.Name, word)
			}
		}
	}
	low, high, ok := p.Value.Bounds()
	if !ok {
		return
	}
	if s.Minimum == nil || *s.Minimum < low || (s.Maximum == nil) != (high == math.MaxInt32) && p.Name != "days" || s.Maximum != nil &&
		*s.Maximum > high {
		t.Errorf("the schema of %s has other bounds of %s than %g to %g", operation, p.Name, low, high)
	}
}

// Samples returns values that mean something, in JSON.
func Samples(v searchapi.Value) []string {
	if f, ok := forms[v.String()]; ok {
		return f.samples
	}
	var out []string
	low, high, isNumber := v.Bounds()
	switch {
	case isNumber:
		return []string{fmt.Sprint(low), fmt.Sprintf("%.1f", low), fmt.Sprintf("%.0f", high)}
	case len(v.Words()) == 0:
		return []string{`"a.example"`, `["a.example","b.example"]`}
	case strings.HasPrefix(v.String(), "true"):
		out = []string{"true", `"true"`, "false"}
	}
	for _, w := range v.Words() {
		out = append(out, fmt.Sprintf("%q", w))
	}
	return out
}

// Bogus returns values that mean nothing, in JSON.
func Bogus(v searchapi.Value) []string {
	if f, ok := forms[v.String()]; ok {
		return f.bogus
	}
	low, high, isNumber := v.Bounds()
	switch {
	case len(v.Words()) > 0:
		return []string{`"bogus"`, "5", "{}", `""`}
	case !isNumber:
		return []string{"5", "[5]", "[null]", "{}", "[" + strings.Repeat(`"a.example",`, 300) + `"a.example"]`}
	}
	out := []string{fmt.Sprint(low - 1), `"1"`, "true", "{}", "1e400"}
	if high < math.MaxInt32 {
		out = append(out, fmt.Sprintf("%.0f", high+1))
	}
	if strings.HasPrefix(v.String(), "an integer") {
		out = append(out, fmt.Sprintf("%.1f", low+0.5))
	}
	return out
}

type form struct{ samples, bogus []string }

// forms have values for each description of values in the documentation.
var forms = map[string]form{
	"a string":             {[]string{`"sample"`}, []string{"5", "true", "{}", `["a"]`}},
	"true or false":        {[]string{"true", "false"}, []string{"1", `"yes"`, "{}", `"true"`}},
	"a date as YYYY-MM-DD": {[]string{`"2026-01-31"`, `""`}, []string{`"31.1.2026"`, `"2026-13-01"`, `"bogus"`, "20260131"}},
	"all, auto, or a code such as en or zh-CN": {[]string{`"en"`, `"zh-CN"`, `"all"`, `"auto"`},
		[]string{`"bogus"`, `"xx"`, `"English"`, `""`, "5"}},
	"a country by its lowercase English name, or its code of two letters": {
		[]string{`"germany"`, `"united states"`, `"czech republic"`, `"côte d'ivoire"`, `"cn"`, `"Hong Kong"`},
		[]string{`"bogusland"`, `"xx"`, `""`, "49"}},
	"an object": {[]string{`{"properties":{}}`}, []string{"5", "[]", `"x"`}},
	"an array":  {[]string{`[{"name":"a"}]`}, []string{"5", "{}", `"x"`}},
}
