package compose

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/compose-spec/compose-go/v2/dotenv"
	"github.com/compose-spec/compose-go/v2/types"
)

// Expected is what compose would create a service's containers with. Members that the files say nothing about are nil
// or empty: they come from the image or from the engine.
type Expected struct {
	// Env goes from name to the values that compose may give: the two generations read files of variables differently.
	Env map[string][]string
	// Unresolved goes from the name of an environment variable, or "command" and "entrypoint", to the variables in it
	// that nothing gives a value.
	Unresolved          map[string][]string
	Command, Entrypoint []string
	User, WorkingDir    string
	// Mounts are volumes and bind mounts; an anonymous volume has no name. Elsewhere are paths where compose mounts what
	// is none of both.
	Mounts    []Mount
	Elsewhere []string
	// Networks are the engine's names. NetworkMode, PIDMode and IPCMode are in the words of the file.
	Networks                      []string
	NetworkMode, PIDMode, IPCMode string
	VolumesFrom                   []string
	// Ports are "host address:host port:port/protocol".
	Ports  []string
	Labels map[string]string
	// Limits in bytes, billionths of a processor and processes; 0 without one. Optional limits are those that only the
	// second generation applies.
	Memory, NanoCPUs, PIDs                         int64
	OptionalMemory, OptionalNanoCPUs, OptionalPIDs int64
	// Restart is a policy; empty where the files name none.
	Restart         string
	Privileged      bool
	CapAdd, CapDrop []string
	// HasEnvFiles tells that variables come from files.
	HasEnvFiles bool
	// Settings are further ones, as engine.ImageConfig has them.
	Settings map[string]string
}

// EntryCommand and EntryEntrypoint are the entries of Unresolved that are no environment variables.
const (
	EntryCommand    = "command"
	EntryEntrypoint = "entrypoint"
)

// Expect reads what compose would create a service with. inherited are the variables of the environment in which compose
// runs; they win over those in files. It reads env_file entries, unlike Load.
func Expect(ctx context.Context, src Source, service string, inherited map[string]string) (*Expected, error) {
	src.inherited = inherited
	return readBounded(ctx, func() (*Expected, error) {
		missing := map[string]bool{}
		m, err := loadModel(ctx, src, func(name string) (string, bool) {
			missing[name] = true
			return "", false
		})
		if err != nil {
			return nil, err
		}
		out, err := m.expectedService(service)
		if err != nil {
			return nil, err
		}
		// Each variable without a value is given one to see where it goes. Where that cannot stand, it is no text.
		for _, name := range slices.Sorted(maps.Keys(missing)) {
			m, err := loadModel(ctx, src, func(asked string) (string, bool) { return marker, asked == name })
			if err != nil {
				continue
			}
			if seen, err := m.expectedService(service); err == nil {
				out.markUnresolved(name, seen)
			}
		}
		return out, nil
	})
}

// marker stands for the value of a variable that has none.
const marker = "patchbay-unresolved-variable"

func (e *Expected) markUnresolved(variable string, seen *Expected) {
	note := func(entry string, values []string) {
		if slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, marker) }) &&
			!slices.Contains(e.Unresolved[entry], variable) {
			e.Unresolved[entry] = append(e.Unresolved[entry], variable)
		}
	}
	for name, values := range seen.Env {
		note(name, values)
	}
	note(EntryCommand, seen.Command)
	note(EntryEntrypoint, seen.Entrypoint)
}

func (m *model) expectedService(name string) (*Expected, error) {
	s, ok := m.project.Services[name]
	if !ok {
		return nil, &Error{Kind: NoServices, Detail: oneLine("there is no service " + name)}
	}
	out := &Expected{
		Env: map[string][]string{}, Unresolved: map[string][]string{}, Command: s.Command, Entrypoint: s.Entrypoint, User: s.User,
		WorkingDir:  s.WorkingDir,
		NetworkMode: s.NetworkMode, PIDMode: s.Pid, IPCMode: s.Ipc, VolumesFrom: s.VolumesFrom, Labels: s.Labels, Restart: s.Restart,
		Memory: int64(s.MemLimit), NanoCPUs: nanoCPUs(s.CPUS), PIDs: max(0, s.PidsLimit), Privileged: s.Privileged, CapAdd: s.CapAdd,
		CapDrop: s.CapDrop, Settings: listSettings(m.project, &s), HasEnvFiles: len(s.EnvFiles) > 0,
	}
	if err := out.takeEnvironment(&s, m); err != nil {
		return nil, err
	}
	out.takeMounts(m.project, &s)
	for key := range s.Networks {
		named := m.project.Networks[key].Name
		if named == "" {
			named = key
		}
		out.Networks = append(out.Networks, named)
	}
	slices.Sort(out.Networks)
	for _, p := range s.Ports {
		out.Ports = append(out.Ports, fmt.Sprintf("%s:%s:%d/%s", p.HostIP, p.Published, p.Target, p.Protocol))
	}
	if s.Deploy != nil && s.Deploy.Resources.Limits != nil {
		limits := s.Deploy.Resources.Limits
		out.OptionalMemory, out.OptionalNanoCPUs, out.OptionalPIDs = int64(limits.MemoryBytes), nanoCPUs(float32(limits.NanoCPUs)), limits.Pids
	}
	if s.Deploy != nil && s.Deploy.RestartPolicy != nil && out.Restart == "" {
		// Only the second generation applies it.
		out.Restart = restartAny
	}
	return out, nil
}

// restartAny is a restart policy that depends on the generation of compose.
const restartAny = "*"

func nanoCPUs(cpus float32) int64 {
	// A float32 has no exact tenths: 0.1 is written as it was meant.
	exact, _ := strconv.ParseFloat(strconv.FormatFloat(float64(cpus), 'g', -1, 32), 64)
	return int64(exact*1e9 + 0.5)
}

// takeEnvironment merges the files of variables and the entries of the service; these win.
func (e *Expected) takeEnvironment(s *types.ServiceConfig, m *model) error {
	for _, file := range s.EnvFiles {
		if _, err := os.Stat(file.Path); err != nil && !bool(file.Required) {
			continue
		}
		filled, err := m.access.readVariables([]string{file.Path}, m.env)
		if err != nil {
			return err
		}
		raw, err := dotenv.UnmarshalWithLookup(m.access.escapedFile(file.Path), func(string) (string, bool) { return "", false })
		if err != nil {
			raw = nil
		}
		for name, value := range filled {
			e.Env[name] = []string{value}
			if plain, ok := raw[name]; ok && plain != value {
				e.Env[name] = append(e.Env[name], plain)
			}
		}
	}
	for name, value := range s.Environment {
		switch outer, known := m.env[name]; {
		case value != nil:
			e.Env[name] = []string{*value}
		case known:
			e.Env[name] = []string{outer}
		default:
			// Passed on from an environment that does not have it.
			delete(e.Env, name)
			e.Unresolved[name] = []string{name}
		}
	}
	return nil
}

// escapedFile is the text of a file of variables in which none is filled in, as compose of the first generation reads it.
func (a access) escapedFile(path string) string {
	text, err := a.readEnv(path)
	if err != nil {
		return ""
	}
	return strings.ReplaceAll(string(text), "$", "$$")
}

func (e *Expected) takeMounts(project *types.Project, s *types.ServiceConfig) {
	for _, v := range s.Volumes {
		target := filepath.Clean(v.Target)
		if m, ok := newMount(project, v); ok {
			m.Target = target
			e.Mounts = append(e.Mounts, m)
		} else if v.Type == types.VolumeTypeVolume {
			e.Mounts = append(e.Mounts, Mount{Kind: DockerVolume, Target: target, ReadOnly: v.ReadOnly})
		} else {
			e.Elsewhere = append(e.Elsewhere, target)
		}
	}
	for _, c := range s.Configs {
		e.Elsewhere = append(e.Elsewhere, mountTarget(c.Target, "/"+c.Source))
	}
	for _, c := range s.Secrets {
		e.Elsewhere = append(e.Elsewhere, mountTarget(c.Target, "/run/secrets/"+c.Source))
	}
	for _, t := range s.Tmpfs {
		path, _, _ := strings.Cut(t, ":")
		e.Elsewhere = append(e.Elsewhere, filepath.Clean(path))
	}
}

// mountTarget is where a config or a secret is mounted.
func mountTarget(named, usual string) string {
	switch {
	case named == "":
		return usual
	case !filepath.IsAbs(named):
		return filepath.Join(filepath.Dir(usual), named)
	}
	return filepath.Clean(named)
}

// RestartMatches reports whether a container with the policy has what the files ask for.
func (e *Expected) RestartMatches(policy string) bool {
	wanted, _, _ := strings.Cut(e.Restart, ":")
	if wanted == "" {
		wanted = "no"
	}
	return wanted == restartAny || wanted == policy
}

// plainVariable is a variable without a default or another operator.
var plainVariable = regexp.MustCompile(`\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))`)

// plainVariables are the names of the variables in a text that have no default.
func plainVariables(text string) map[string]bool {
	out := map[string]bool{}
	for _, m := range plainVariable.FindAllStringSubmatch(strings.ReplaceAll(text, "$$", ""), -1) {
		out[m[1]+m[2]] = true
	}
	return out
}
