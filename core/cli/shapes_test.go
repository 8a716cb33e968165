package cli_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/patchbay-dev/patchbay/core/docs"
)

var (
	shapeRow   = regexp.MustCompile("(?m)^\\| `([a-z ]+)` \\| `(\\{.*?\\})`")
	shapeNoise = regexp.MustCompile(` or null`)
	shapeToken = regexp.MustCompile(`[a-z_]+|[{}:,\[\]]`)
)

// documentedShapes returns the names of the members that operations.md gives for what commands print, by command.
func documentedShapes() (map[string][]string, error) {
	text, err := docs.Files.ReadFile("operations.md")
	if err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for _, row := range shapeRow.FindAllStringSubmatch(string(text), -1) {
		var path, names []string
		last := ""
		for _, token := range shapeToken.FindAllString(shapeNoise.ReplaceAllString(row[2], ""), -1) {
			switch token {
			case "{":
				path = append(path, last)
			case "}":
				last, path = path[len(path)-1], path[:len(path)-1]
			case ":", ",", "[", "]":
			default:
				last = token
				names = append(names, strings.TrimPrefix(strings.Join(append(slices.Clone(path), token), "."), "."))
			}
		}
		out[row[1]] = names
	}
	return out, nil
}

// memberNames adds the names of the members of a JSON value below a path; those of a list are the ones of its first element.
func memberNames(path string, value any, names *[]string) {
	switch v := value.(type) {
	case map[string]any:
		for name, member := range v {
			at := strings.TrimPrefix(path+"."+name, ".")
			*names = append(*names, at)
			memberNames(at, member, names)
		}
	case []any:
		if len(v) > 0 {
			memberNames(path, v[0], names)
		}
	}
}

// shapesSeen has the commands whose output was compared with the documents.
var shapesSeen sync.Map

// compareShape is the command "documented COMMAND ARGUMENT…": what the command prints as JSON has the members that operations.md names.
func compareShape(ts *testscript.TestScript, _ bool, args []string) {
	all, err := documentedShapes()
	ts.Check(err)
	command := strings.Join(strings.Fields(args[0]), " ")
	want, known := all[command]
	if !known {
		ts.Fatalf("operations.md does not have the command %q", command)
	}
	ts.Check(ts.Exec("patchbay", append(append(strings.Fields(command), "-json"), args[1:]...)...))
	var body any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &body))
	var got []string
	memberNames("", body, &got)
	// What is null, or an empty list, cannot be looked into.
	printed := slices.Clone(got)
	for _, name := range want {
		if i := strings.LastIndex(name, "."); i > 0 && slices.Contains(got, name[:i]) && !hasMember(printed, name[:i]) {
			got = append(got, name)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		ts.Fatalf("%s: the documents (-) and the output (+) differ: %s", command, diff)
	}
	shapesSeen.Store(command, true)
}

// hasMember reports whether a value has members among the names of an output.
func hasMember(names []string, parent string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, parent+".") })
}

// checkShapesSeen fails the test if the documents have a shape that no script compares.
func checkShapesSeen(t *testing.T) {
	all, err := documentedShapes()
	if err != nil || len(all) < 9 {
		t.Fatalf("%d shapes, %v", len(all), err)
	}
	for command := range all {
		if _, seen := shapesSeen.Load(command); !seen {
			t.Errorf("no script has \"documented '%s'\"", command)
		}
	}
}
