package guard

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/patchbay-dev/patchbay/sdk/kinds"
)

// kindParts are the files of a kind besides its line in sdk/kinds/kinds.go; KIND stands for its name.
var kindParts = []string{
	"sdk/proto/patchbay/KIND/v1/KIND.proto",
	"sdk/KIND",
	"sdk/conformance/KIND.go",
	"sdk/kinds/KIND.go",
	"core/plugin/client/KIND.go",
	"core/internal/testing/fake/KIND.go",
	"core/scaffold/templates/go/KIND",
}

// missingParts returns the parts that a kind lacks below one of the folders.
func missingParts(kind string, below ...string) (missing []string) {
	for _, part := range kindParts {
		part, found := strings.ReplaceAll(part, "KIND", kind), false
		for _, dir := range below {
			_, err := os.Stat(filepath.Join(dir, part))
			found = found || err == nil
		}
		if !found {
			missing = append(missing, part)
		}
	}
	return missing
}

// TestKindsAreWhole: each kind of the table has its parts, and the documents say how to write and configure a plugin of it.
func TestKindsAreWhole(t *testing.T) {
	if len(kinds.Names()) < 5 {
		t.Fatalf("the table has %q", kinds.Names())
	}
	for _, k := range kinds.All() {
		for _, part := range missingParts(k.Name, root(t)) {
			t.Errorf("the kind %s lacks %s", k.Name, part)
		}
		if name := protoreflect.FullName(k.Service); k.File.Services().ByName(name.Name()) == nil || name.Parent() != k.File.Package() {
			t.Errorf("%s does not define the service %s", k.File.Path(), k.Service)
		}
		for document, words := range map[string][]string{
			"sdk/docs/AUTHORING.md":      {"sdk/" + k.Name, "`" + k.Name + "`"},
			"sdk/docs/COMPAT.md":         {"`" + string(k.File.Package()) + "`"},
			"core/docs/configuration.md": {"\n" + k.Name + ` "`},
		} {
			text, err := os.ReadFile(filepath.Join(root(t), document))
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range words {
				if !strings.Contains(string(text), w) {
					t.Errorf("%s does not have %q", document, w)
				}
			}
		}
	}
}

// TestKindIsOneLine follows the recipe of core/docs/CONTRIBUTING.md: beside the files of testdata/kind, which are the parts of
// a kind that can do nothing, one line of the tree changes. The catalog then accepts a plugin of the kind, its suite runs, and
// there is a template.
func TestKindIsOneLine(t *testing.T) {
	t.Parallel()
	recipe, err := filepath.Abs(filepath.Join("testdata", "kind"))
	if err != nil {
		t.Fatal(err)
	}
	if missing := missingParts("empty", recipe); len(missing) > 0 {
		t.Fatalf("testdata/kind lacks %q", missing)
	}
	program := buildOverlay(t, writeOverlay(t, "kind", edit{"sdk/kinds/kinds.go", "\t\tengineKind,\n", "\t\temptyKind,\n"}),
		"core/internal/testing/recipe")
	out, err := exec.Command(program).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"engine empty]\n", "catalog: patchbay.empty.v1.Empty\n", "ok    configure\n", "ok    credential\n"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}

// writeFile writes a file and returns its path.
func writeFile(t *testing.T, dir, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
