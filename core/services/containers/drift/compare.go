package drift

import (
	"cmp"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// comparison is one container beside what compose would create. image is the one that it has; nil where it is gone.
type comparison struct {
	expected *compose.Expected
	running  *engine.Detail
	image    *engine.Image
	out      *ServiceDrift
}

func (c *comparison) addDrift(field, name, change string) {
	c.out.Drift = append(c.out.Drift, Drift{Field: field, Name: name, Change: change})
}

func (c *comparison) addDifference(different bool, field string) {
	if different {
		c.addDrift(field, "", Changed)
	}
}

func normalizeCapabilities(names []string) []string {
	out := []string{}
	for _, n := range names {
		out = append(out, strings.TrimPrefix(strings.ToUpper(n), "CAP_"))
	}
	slices.Sort(out)
	return out
}

// composeVariable matches variables that compose sets by itself: proxies from the client's configuration, and what the
// first generation tells a swarm's scheduler about a container that it recreates.
var composeVariable = regexp.MustCompile(`(?i)^((http|https|ftp|no|all)_proxy|affinity:container)$`)

func parseVariables(list []string) map[string]string {
	out := map[string]string{}
	for _, entry := range list {
		name, value, _ := strings.Cut(entry, "=")
		out[name] = value
	}
	return out
}

func (c *comparison) compareEnvironment(image engine.ImageConfig) {
	running, usual := parseVariables(c.running.Config.Env), parseVariables(image.Env)
	for name, accepted := range c.expected.Env {
		value, there := running[name]
		if there && slices.Contains(accepted, value) {
			continue
		}
		if unresolved := c.expected.Unresolved[name]; value != "" && len(unresolved) > 0 {
			c.out.Unresolved = append(c.out.Unresolved, unresolved...)
			continue
		}
		change := Changed
		if !there {
			change = Added
		}
		c.addDrift("environment", name, change)
	}
	for name, value := range running {
		_, expected := c.expected.Env[name]
		given, ofImage := usual[name]
		switch {
		case expected, ofImage && given == value, composeVariable.MatchString(name):
		case value != "" && len(c.expected.Unresolved[name]) > 0:
			c.out.Unresolved = append(c.out.Unresolved, c.expected.Unresolved[name]...)
		case ofImage:
			c.addDrift("environment", name, Changed)
		default:
			c.addDrift("environment", name, Removed)
		}
	}
}

// compareProgram compares command, entrypoint, user and working directory. If the image is gone, its defaults are not
// compared.
func (c *comparison) compareProgram(image engine.ImageConfig) {
	e, run := c.expected, c.running.Config
	entrypoint, command := e.Entrypoint, e.Command
	if entrypoint == nil {
		entrypoint = image.Entrypoint
		if command == nil {
			command = image.Command
		}
	}
	known := c.image != nil
	for _, part := range []struct {
		entry           string
		wanted, running []string
		given           bool
	}{
		{compose.EntryEntrypoint, entrypoint, run.Entrypoint, e.Entrypoint != nil},
		{compose.EntryCommand, command, run.Command, e.Command != nil || e.Entrypoint != nil},
	} {
		if !part.given && !known || slices.Equal(part.wanted, part.running) || len(strings.Join(part.wanted, "")) == 0 &&
			len(strings.Join(part.running, "")) == 0 {
			continue
		}
		if unresolved := e.Unresolved[part.entry]; len(unresolved) > 0 {
			c.out.Unresolved = append(c.out.Unresolved, unresolved...)
			continue
		}
		c.addDrift(part.entry, "", Changed)
	}
	c.addDifference(cmp.Or(e.User, image.User) != run.User && (known || e.User != ""), "user")
	c.addDifference(path.Clean("/"+cmp.Or(e.WorkingDir, image.WorkingDir)) != path.Clean("/"+run.WorkingDir) && (known || e.WorkingDir != ""),
		"workingDir")
}

func (c *comparison) compareMounts() {
	wanted := map[string]compose.Mount{}
	for _, m := range c.expected.Mounts {
		wanted[m.Target] = m
	}
	there := map[string]bool{}
	for _, m := range c.running.Mounts {
		at := filepath.Clean(m.Destination)
		there[at] = true
		w, expected := wanted[at]
		switch {
		case !expected:
			// Anonymous volumes are the image's, and compose carries them over.
			if m.Type != "tmpfs" && !isAnonymous(m) && !slices.Contains(c.expected.Elsewhere, at) && len(c.expected.VolumesFrom) == 0 {
				c.addDrift("mount", at, Removed)
			}
		case m.ReadOnly != w.ReadOnly,
			w.Kind == compose.BindMount && (m.Type != "bind" || filepath.Clean(m.Source) != w.Source),
			w.Kind == compose.DockerVolume && (m.Type != "volume" || w.Name != m.Name && (w.Name != "" || !isAnonymous(m))):
			c.addDrift("mount", at, Changed)
		}
	}
	for at := range wanted {
		if !there[at] {
			c.addDrift("mount", at, Added)
		}
	}
}

var anonymousVolume = regexp.MustCompile(`^[0-9a-f]{64}$`)

func isAnonymous(m engine.Mount) bool {
	return m.Type == "volume" && anonymousVolume.MatchString(m.Name)
}

// compareNetworks compares networks by name, and modes: one of "service:…" or "container:…" is the namespace of some container.
func (c *comparison) compareNetworks() {
	e, run := c.expected, c.running.Config
	for _, mode := range []struct{ field, wanted, running string }{
		{"networkMode", e.NetworkMode, run.NetworkMode}, {"pidMode", e.PIDMode, run.PIDMode}, {"ipcMode", e.IPCMode, run.IPCMode},
	} {
		wanted, running := sharedMode(mode.wanted), sharedMode(mode.running)
		if wanted == "" && running != sharedNamespace && running != "host" && running != "none" {
			continue
		}
		c.addDifference(wanted != running, mode.field)
	}
	if e.NetworkMode == "" && sharedMode(run.NetworkMode) != sharedNamespace {
		c.compareSets("network", e.Networks, run.Networks)
	}
}

const sharedNamespace = "container"

func sharedMode(mode string) string {
	if strings.HasPrefix(mode, "service:") || strings.HasPrefix(mode, "container:") {
		return sharedNamespace
	}
	return mode
}

// withoutAnyAddress writes ports that are open on every address as compose files do.
func withoutAnyAddress(ports []string) []string {
	return lists.ConvertAll(ports, func(p string) string { return strings.TrimPrefix(p, "0.0.0.0") })
}

// compareSets adds a drift for each element that is in only one of the lists.
func (c *comparison) compareSets(field string, wanted, running []string) {
	for _, w := range wanted {
		if !slices.Contains(running, w) {
			c.addDrift(field, w, Added)
		}
	}
	for _, r := range running {
		if !slices.Contains(wanted, r) {
			c.addDrift(field, r, Removed)
		}
	}
}

func (c *comparison) compareLabels() {
	var usual map[string]string
	if c.image != nil {
		usual = c.image.Labels
	}
	for name, value := range c.expected.Labels {
		switch now, there := c.running.Labels[name]; {
		case !there:
			c.addDrift("label", name, Added)
		case now != value:
			c.addDrift("label", name, Changed)
		}
	}
	for name, value := range c.running.Labels {
		_, expected := c.expected.Labels[name]
		given, ofImage := usual[name]
		if expected || ofImage && given == value || c.image == nil || strings.HasPrefix(name, "com.docker.compose.") {
			continue
		}
		c.addDrift("label", name, Removed)
	}
}

// MaxTold is how many differences or variables an error names.
const MaxTold = 8

// Describe names differences for people.
func Describe(all []Drift) string {
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = strings.TrimSpace(strings.Join([]string{d.Field, d.Name}, " ")) + " " + d.Change
	}
	return texts.JoinSome(out, MaxTold)
}
