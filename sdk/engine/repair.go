package engine

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Labels that compose gives to containers.
const (
	LabelProject = "com.docker.compose.project"
	LabelService = "com.docker.compose.service"
	LabelNumber  = "com.docker.compose.container-number"
	LabelOneOff  = "com.docker.compose.oneoff"
	// LabelReplace is on containers that compose of the second generation made in place of another one.
	LabelReplace = "com.docker.compose.replace"
)

// temporaryName is what compose calls a container while it takes another one's place: the short id of one of the two
// before the name.
var temporaryName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{12}_`) })

// ProperName returns the name that compose means a container to have. It differs from the container's own name when a
// compose command was interrupted while it replaced the container.
func ProperName(c *Container) string {
	prefix := temporaryName().FindString(c.Name)
	if prefix == "" || c.Labels[LabelReplace] == c.Name {
		return c.Name
	}
	rest := strings.TrimPrefix(c.Name, prefix)
	usual := strings.ReplaceAll(strings.Join([]string{c.Labels[LabelProject], c.Labels[LabelService], c.Labels[LabelNumber]}, "-"), "_", "-")
	// The first generation renames the old container after its own id; the second names the new one after the old one's.
	if strings.HasPrefix(c.ID, strings.TrimSuffix(prefix, "_")) || c.Labels[LabelReplace] != "" ||
		strings.ReplaceAll(rest, "_", "-") == usual {
		return rest
	}
	return c.Name
}

// Repairs are what puts the containers of a project in order that an interrupted compose command has left.
type Repairs struct {
	// Keep are the containers that stay, as they are listed now.
	Keep []Container
	// Remove are the containers to remove, with none of their volumes.
	Remove []Container
	// Rename goes from the id of a container that stays to the name that it is to get once the others are removed.
	Rename map[string]string
}

// Needed reports whether anything is out of order.
func (r *Repairs) Needed() bool { return len(r.Remove)+len(r.Rename) > 0 }

// Repair finds the leftovers of interrupted compose commands among the containers of projects. Of the containers that
// stand for the same number of the same service one stays: rather one that was started than one that never was, then one
// that runs, then the one with the proper name, then the newest. Containers of other origin and those of "compose run"
// stay as they are.
func Repair(containers []Container) Repairs {
	out := Repairs{Rename: map[string]string{}}
	places := map[[3]string][]Container{}
	for _, c := range containers {
		place := [3]string{c.Labels[LabelProject], c.Labels[LabelService], c.Labels[LabelNumber]}
		if slices.Contains(place[:], "") || strings.EqualFold(c.Labels[LabelOneOff], "true") {
			out.Keep = append(out.Keep, c)
			continue
		}
		places[place] = append(places[place], c)
	}
	for _, place := range slices.SortedFunc(maps.Keys(places), func(a, b [3]string) int { return slices.Compare(a[:], b[:]) }) {
		twins := places[place]
		slices.SortStableFunc(twins, preferKept)
		kept := twins[0]
		if name := ProperName(&kept); name != kept.Name {
			out.Rename[kept.ID] = name
		}
		out.Keep, out.Remove = append(out.Keep, kept), append(out.Remove, twins[1:]...)
	}
	return out
}

// preferKept orders the containers of one place: the one to keep comes first.
func preferKept(a, b Container) int {
	return cmp.Or(
		compareBool(b.State != "created", a.State != "created"),
		compareBool(b.State == "running", a.State == "running"),
		compareBool(ProperName(&b) == b.Name, ProperName(&a) == a.Name),
		cmp.Compare(b.CreatedAt, a.CreatedAt),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}
