package compose

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/template"
	"go.yaml.in/yaml/v3"
)

// walker looks through the files of a project, with those that they include and extend, before the loader does: it finds
// what is beyond the limits, and makes the list of files that the loader may open.
type walker struct {
	access
	fill  *filler
	total int
	seen  map[visit]bool
	files map[string][]byte
	// dirs are those against which the loader may resolve a name.
	dirs map[string]bool
}

// visit is a file as it is read in one place.
type visit struct {
	path, dir string
	extended  bool
}

func newWalker(a access, fill *filler) *walker {
	return &walker{access: a, fill: fill, seen: map[visit]bool{}, files: map[string][]byte{}, dirs: map[string]bool{}}
}

// walkFile reads a file. Names in it are relative to v.dir.
func (w *walker) walkFile(v visit, env map[string]string) error {
	if w.seen[v] {
		return nil // the loader tells of cycles
	}
	if w.seen[v] = true; len(w.seen) > maxFiles {
		return invalidProject(fmt.Sprintf("the project has more than %d files", maxFiles))
	}
	w.dirs[v.dir] = true
	text, err := w.readCompose(v.path)
	if err != nil {
		return err
	}
	if w.total += len(text); w.total > maxTotal {
		return invalidProject(fmt.Sprintf("the files have more than %d bytes", maxTotal))
	}
	docs, err := parseNodes(text)
	if err != nil {
		return invalidProject(filepath.Base(v.path) + ": " + err.Error())
	}
	w.files[v.path] = text
	for _, doc := range docs {
		if err := w.walkReferences(doc, v, env); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) walkReferences(doc *yaml.Node, v visit, env map[string]string) error {
	if list := findField(doc, "include"); list != nil && list.Kind == yaml.SequenceNode && !v.extended {
		for _, item := range list.Content {
			if err := w.walkInclude(followAlias(item), v, env); err != nil {
				return err
			}
		}
	}
	services := findField(doc, "services")
	if services == nil || services.Kind != yaml.MappingNode {
		return nil
	}
	for i := 1; i < len(services.Content); i += 2 {
		for _, name := range textValues(findField(findField(services.Content[i], "extends"), "file")) {
			path, err := w.resolveName(name, v.dir, env)
			if err != nil {
				return err
			}
			if err := w.walkFile(visit{path: path, dir: filepath.Dir(path), extended: true}, env); err != nil {
				return err
			}
		}
	}
	return nil
}

// walkInclude walks one entry of a list of includes, with the variables that it brings.
func (w *walker) walkInclude(item *yaml.Node, v visit, env map[string]string) error {
	names, dir := textValues(item), ""
	var envFiles []string
	if item.Kind == yaml.MappingNode {
		names, envFiles = textValues(findField(item, "path")), textValues(findField(item, "env_file"))
		for _, text := range textValues(findField(item, "project_directory")) {
			var err error
			if dir, err = w.resolveName(text, v.dir, env); err != nil {
				return err
			}
		}
	}
	var paths []string
	for _, name := range names {
		path, err := w.resolveName(name, v.dir, env)
		if err != nil {
			return err
		}
		paths = append(paths, path)
	}
	if len(paths) == 0 {
		return nil
	}
	if dir == "" {
		dir = filepath.Dir(paths[0])
	}
	env, err := w.includedEnv(envFiles, v.dir, dir, env)
	if err != nil {
		return err
	}
	for _, path := range paths {
		if err := w.walkFile(visit{path: path, dir: dir}, env); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) includedEnv(names []string, from, dir string, env map[string]string) (map[string]string, error) {
	var files []string
	for _, name := range names {
		path, err := w.resolveName(name, from, env)
		if err != nil {
			return nil, err
		}
		if path != os.DevNull {
			files = append(files, path)
		}
	}
	if len(names) == 0 {
		usual := filepath.Join(dir, ".env")
		if info, err := os.Stat(usual); err != nil || info.IsDir() {
			return env, nil
		}
		files = []string{usual}
	}
	more, err := w.readVariables(files, env)
	if err != nil {
		return nil, err
	}
	maps.Copy(more, env) // what is known already wins
	return more, nil
}

// resolveName makes a name of a file absolute. Names of remote places are refused.
func (w *walker) resolveName(name, dir string, env map[string]string) (string, error) {
	name, err := w.fill.substituteText(name, lookupIn(env))
	if err != nil {
		return "", invalidProject(variableError(err).Error())
	}
	if isRemote(name) {
		return "", invalidProject("remote files are not read")
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	return filepath.Clean(name), nil
}

// isRemote tells names of places that are not in the file system.
func isRemote(name string) bool {
	before, _, found := strings.Cut(name, ":")
	return strings.Contains(name, "://") || strings.HasPrefix(name, "git@") || found && !strings.ContainsAny(before, "/.") && len(before) > 1
}

// extraFiles are the files that were found besides the given ones.
func (w *walker) extraFiles(given []string) (out []string) {
	for path := range w.files {
		if !slices.Contains(given, path) {
			out = append(out, path)
		}
	}
	slices.Sort(out)
	return out
}

// Accept makes the walker a loader of the names that it has not seen: it takes them in order to refuse them.
func (w *walker) Accept(name string) bool {
	if filepath.IsAbs(name) {
		return w.files[filepath.Clean(name)] == nil
	}
	for dir := range w.dirs {
		if w.files[filepath.Join(dir, name)] != nil {
			return false
		}
	}
	return true
}

// Load refuses what Accept took.
func (w *walker) Load(context.Context, string) (string, error) {
	return "", errNotPart
}

var errNotPart = errors.New("it names a file that is not part of the project")

// Dir is needed by the loader's interface.
func (w *walker) Dir(name string) string { return filepath.Dir(name) }

// filler puts the values of variables into texts, up to a sum.
type filler struct {
	left int
	// missing, if not nil, is asked for the value of each variable that has none and no default.
	missing func(name string) (string, bool)
}

var errExpanded = fmt.Errorf("the variables become longer than %d bytes", maxExpanded)

func (f *filler) substituteText(text string, values template.Mapping) (string, error) {
	if err := checkText(text); err != nil {
		return "", err
	}
	counted := func(name string) (string, bool) {
		value, ok := values(name)
		if !ok && f.missing != nil && plainVariables(text)[name] {
			if value, ok = f.missing(name); !ok {
				value = ""
			}
		}
		if f.left -= len(value); f.left < 0 {
			return "", false
		}
		return value, ok
	}
	out, err := template.SubstituteWithOptions(text, counted, template.WithoutLogging)
	if f.left < 0 {
		return "", errExpanded
	}
	return out, err
}

func lookupIn(env map[string]string) template.Mapping {
	return func(name string) (string, bool) {
		value, ok := env[name]
		return value, ok
	}
}
