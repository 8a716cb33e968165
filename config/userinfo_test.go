package config_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// addresses has an attribute of every type that can hold an address.
type addresses struct {
	Text   string            `patchbay:"text,env=X_TEXT"`
	Secret schema.Secret     `patchbay:"secret,env=X_SECRET"`
	List   []string          `patchbay:"list,env=X_LIST"`
	Map    map[string]string `patchbay:"map,env=X_MAP"`
}

// TestPasswordsInAddressesAreEncoded puts an address whose password is not percent-encoded into every type of setting, of the core and of a
// plugin, in the file, through a variable and by the setting's own variable: each is refused without a part of it.
func TestPasswordsInAddressesAreEncoded(t *testing.T) {
	derived, err := schema.Of(addresses{})
	if err != nil {
		t.Fatal(err)
	}
	const bad, good = "smtp://user:geheim/1@host", "smtp://user:geheim%2F1@host"
	values := map[string]string{"text": "%s", "secret": "%s", "list": `["a", %s]`, "map": "{ a = %s }"}
	for _, a := range derived.Attributes {
		for name, c := range map[string]struct{ block, value, env string }{
			"literal":   {"core {\n  %s\n}\n", `"TEXT"`, ""},
			"env()":     {"core {\n  %s\n}\n", `env("ADDRESS")`, "ADDRESS"},
			"override":  {"core {}\n", "", a.Env},
			"of plugin": {"search \"one\" \"main\" {\n  config {\n    %s\n  }\n}\n", `"TEXT"`, ""},
		} {
			for text, refused := range map[string]bool{bad: true, good: false} {
				block := c.block
				if strings.Contains(block, "%s") {
					block = fmt.Sprintf(block, a.Name+" = "+fmt.Sprintf(values[a.Name], strings.Replace(c.value, "TEXT", text, 1)))
				}
				env := func(key string) (string, bool) {
					if key != c.env || key == "" {
						return "", false
					}
					if a.Type == schema.StringMap && c.value == "" {
						return "a=" + text, true
					}
					return text, true
				}
				opts := options(t)
				opts.Core, opts.Builtins = derived, map[string][]string{"search": {"one"}}
				opts.ReadFile = func(string) ([]byte, error) { return []byte(block), nil }
				file, diags := config.Load("plugin.hcl", env, opts)
				if file != nil && name == "of plugin" {
					_, more := file.DecodeInstance(file.Instances[0], derived)
					diags = append(diags, more...)
				}
				found := fmt.Sprint(diags)
				if got := strings.Contains(found, "percent-encode the password"); got != refused || strings.Contains(found, "geheim") || !refused &&
					diags.HasErrors() {
					t.Errorf("%s, %s, %s: %v", a.Name, name, text, diags)
				}
			}
		}
	}
}
