package compose

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

func loadProject(ctx context.Context, src Source) (*Project, error) {
	m, err := loadModel(ctx, src, nil)
	if err != nil {
		return nil, err
	}
	out := &Project{Name: src.Project, Files: m.files, Parts: m.parts, Services: listServices(m.project)}
	if len(out.Services) == 0 {
		return nil, &Error{Kind: NoServices}
	}
	return out, nil
}

// model is a project as the loader has read it.
type model struct {
	access       access
	project      *types.Project
	files, parts []string
	// env are the variables that were known.
	env map[string]string
}

// loadModel reads a project. missing, if not nil, is asked for the value of each variable that has none and no default.
func loadModel(ctx context.Context, src Source, missing func(name string) (string, bool)) (m *model, err error) {
	defer func() {
		if p := recover(); p != nil {
			m, err = nil, invalidProject("the files cannot be read")
		}
	}()
	files, ok := AbsoluteFiles(src.WorkingDir, src.Files)
	switch {
	case !ok:
		return nil, &Error{Kind: FilesRelative}
	case len(files) == 0:
		return nil, &Error{Kind: FilesEmpty}
	}
	allowed := newAccess(src.WorkingDir, src.Roots)
	for _, file := range files {
		if err := allowed.checkCompose(file); err != nil {
			return nil, err
		}
	}
	if err := statFiles(files); err != nil {
		return nil, err
	}
	if !filepath.IsAbs(src.WorkingDir) {
		src.WorkingDir = filepath.Dir(files[0])
	}
	env, err := projectEnv(src, allowed)
	if err != nil {
		return nil, err
	}
	maps.Copy(env, src.inherited)
	w := newWalker(allowed, &filler{left: maxExpanded, missing: missing})
	for _, file := range files {
		if err := w.walkFile(visit{path: file, dir: filepath.Clean(src.WorkingDir)}, env); err != nil {
			return nil, err
		}
	}
	project, err := readProject(ctx, src, files, env, w)
	if err != nil {
		return nil, loaderError(err, files, w)
	}
	return &model{access: allowed, project: project, files: files, parts: w.extraFiles(files), env: env}, nil
}

// statFiles tells absent files from others.
func statFiles(files []string) error {
	var absent []string
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			absent = append(absent, filepath.Base(file))
		}
	}
	if len(absent) == 0 {
		return nil
	}
	return &Error{Kind: FileMissing, Detail: oneLine(strings.Join(absent, ", ")), All: len(absent) == len(files)}
}

// readProject lets the loader put the files together. It gets no environment but env, and opens no file that w has not seen.
func readProject(ctx context.Context, src Source, files []string, env map[string]string, w *walker) (*types.Project, error) {
	details := types.ConfigDetails{WorkingDir: filepath.Clean(src.WorkingDir), Environment: maps.Clone(env)}
	for _, file := range files {
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: file, Content: withoutVersion(w.files[file])})
	}
	return loader.LoadWithContext(ctx, details, func(o *loader.Options) {
		o.SetProjectName(projectName(src.Project), true)
		o.Profiles = src.Profiles
		if len(o.Profiles) == 0 {
			o.Profiles = []string{"*"}
		}
		o.SkipResolveEnvironment, o.SkipResolveLabels = true, true
		o.ResourceLoaders = []loader.ResourceLoader{w}
		o.Interpolate.Substitute = w.fill.substituteText
	})
}

func projectName(name string) string {
	if name = loader.NormalizeProjectName(name); name == "" {
		return "project"
	}
	return name
}

// withoutVersion empties the line of the obsolete version, about which the loader would write to the process's log.
func withoutVersion(text []byte) []byte {
	docs, err := parseNodes(text)
	if err != nil || len(docs) == 0 {
		return text
	}
	lines := bytes.Split(bytes.Clone(text), []byte("\n"))
	for _, doc := range docs {
		for i := 0; i+1 < len(doc.Content); i += 2 {
			key, value := doc.Content[i], doc.Content[i+1]
			alone := key.Line == value.Line && (i+2 >= len(doc.Content) || doc.Content[i+2].Line > value.Line)
			if key.Value == "version" && key.Column == 1 && alone && len(doc.Content) > 2 && key.Line <= len(lines) {
				lines[key.Line-1] = nil
			}
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

func listServices(model *types.Project) []Service {
	var out []Service
	for _, name := range slices.Sorted(maps.Keys(model.Services)) {
		s := model.Services[name]
		service := Service{
			Name: name, Image: strings.TrimSpace(s.Image), Profiles: s.Profiles, DependsOn: slices.Sorted(maps.Keys(s.DependsOn)),
			Awaited:  isAwaited(model, name),
			HasBuild: s.Build != nil, Labels: s.Labels, Replicas: s.GetScale(), ContainerName: s.ContainerName, SharesWith: sharesWith(&s),
		}
		for _, file := range s.EnvFiles {
			service.EnvFiles = append(service.EnvFiles, file.Path)
		}
		if ref, err := image.Parse(service.Image); err == nil {
			service.Ref = ref
		}
		for _, v := range s.Volumes {
			if m, ok := newMount(model, v); ok {
				service.Volumes = append(service.Volumes, m)
			}
		}
		out = append(out, service)
	}
	return out
}

// isAwaited reports whether a service of the project waits for the end of another one with success.
func isAwaited(model *types.Project, name string) bool {
	for _, s := range model.Services {
		if s.DependsOn[name].Condition == types.ServiceConditionCompletedSuccessfully {
			return true
		}
	}
	return false
}

// sharesWith are the services and containers whose namespaces or volumes a service uses.
func sharesWith(s *types.ServiceConfig) (out []string) {
	for _, mode := range []string{s.NetworkMode, s.Pid, s.Ipc} {
		if strings.HasPrefix(mode, SharesService) || strings.HasPrefix(mode, SharesContainer) {
			out = append(out, mode)
		}
	}
	for _, from := range s.VolumesFrom {
		prefix := SharesService
		if name, isContainer := strings.CutPrefix(from, SharesContainer); isContainer {
			prefix, from = SharesContainer, name
		}
		name, _, _ := strings.Cut(from, ":")
		out = append(out, prefix+name)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// newMount leaves out what has no name or holds no data: anonymous volumes, memory, pipes and images.
func newMount(model *types.Project, v types.ServiceVolumeConfig) (Mount, bool) {
	m := Mount{Target: v.Target, ReadOnly: v.ReadOnly}
	switch {
	case v.Source == "":
		return m, false
	case v.Type == types.VolumeTypeBind:
		m.Kind, m.Source = BindMount, filepath.Clean(v.Source)
		return m, true
	case v.Type == types.VolumeTypeVolume:
		m.Kind, m.Name = DockerVolume, v.Source
		if named := model.Volumes[v.Source]; named.Name != "" {
			m.Name = named.Name
		}
		return m, true
	}
	return m, false
}
