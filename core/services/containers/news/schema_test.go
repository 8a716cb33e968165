package news

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// validator are the compiled schemas by name.
type validator map[string]*jsonschema.Schema

func compiled(t testing.TB) validator {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	names, err := fs.Glob(Schemas(), "*.schema.json")
	if err != nil || len(names) != 4 {
		t.Fatalf("schemas %v, %v; want one for each kind", names, err)
	}
	out := validator{}
	for _, name := range names {
		raw, err := fs.ReadFile(Schemas(), name)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		id, _ := doc.(map[string]any)["$id"].(string)
		if name != id+".schema.json" {
			t.Errorf("%s has the id %q", name, id)
		}
		if err := c.AddResource("https://example.com/"+name, doc); err != nil {
			t.Fatal(err)
		}
		if out[id], err = c.Compile("https://example.com/" + name); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return out
}

// check validates a payload by the schema that it names.
func (v validator) check(raw []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	members, _ := doc.(map[string]any)
	name, _ := members["schema"].(string)
	schema, ok := v[name]
	if !ok {
		return fmt.Errorf("there is no schema %q", name)
	}
	return schema.Validate(doc)
}

func TestPayloadsAreValid(t *testing.T) {
	v := compiled(t)
	for event, e := range samples() {
		for _, locale := range []string{"zh", "en"} {
			for _, base := range []string{"", publicURL} {
				for _, channel := range []string{"chat", "email", "webhook", "webPush", "team"} {
					raw, err := ForChannel(must(t, writer(locale, base), e).Payload, channel, false)
					if err != nil {
						t.Fatal(err)
					}
					if err := v.check(raw); err != nil {
						t.Errorf("%s, %s, %q, %s: %v", event, locale, base, channel, err)
					}
				}
			}
		}
	}
}

// A schema that accepts everything would show nothing.
func TestSchemasRefuse(t *testing.T) {
	v := compiled(t)
	for event, e := range samples() {
		raw, err := ForChannel(must(t, writer("", publicURL), e).Payload, "webPush", true)
		if err != nil {
			t.Fatal(err)
		}
		for _, member := range []string{"kind", "sentAt", "channel", "human", "debug", "title", "body", "url"} {
			var members map[string]any
			if err := json.Unmarshal(raw, &members); err != nil {
				t.Fatal(err)
			}
			delete(members, member)
			less, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			if v.check(less) == nil {
				t.Errorf("%s is accepted without %s", event, member)
			}
		}
		if err := v.check(bytes.Replace(raw, []byte(`"debug":{`), []byte(`"more":1,"debug":{"more":2,`), 1)); err != nil {
			t.Errorf("%s with members that are not listed: %v", event, err)
		}
	}
}
