package engine

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Reasons of refusals that every engine shares.
const (
	ReasonBadCompose = "INVALID_COMPOSE_REQUEST"
	ReasonBadRef     = "INVALID_REFERENCE"
	ReasonBadPath    = "INVALID_PATH"
	ReasonBadID      = "INVALID_ID"
)

// maxScale is the largest number of containers of one service.
const maxScale = 10_000

var (
	projectPattern  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$`) })
	platformPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+(/[a-z0-9]+)?$`) })
)

// Check reports whether a request may be given to an engine: names that cannot be taken for options, absolute paths. The
// error is the caller's fault. The SDK calls it before Compose.
func (r *ComposeRequest) Check() error {
	bad := func(format string, args ...any) error { return errs.BadInput(ReasonBadCompose, format, args...) }
	switch {
	case len(strings.Fields(r.Bin)) == 0:
		return bad("no compose command is named")
	case !slices.Contains([]string{ActionRecreate, ActionStart, ActionStop, ActionRestart, ActionHash}, r.Action):
		return bad("the action %q is unknown", r.Action)
	case !projectPattern().MatchString(r.Project):
		return bad("the project name %q is not valid", r.Project)
	case len(r.Files) == 0:
		return bad("no compose file is named")
	case (r.Action == ActionRecreate || r.Action == ActionHash) && len(r.Services) == 0:
		return bad("%s needs the services that it is about", r.Action)
	}
	for _, p := range slices.Concat([]string{r.WorkingDir}, r.Files, r.EnvFiles) {
		if !cleanPath(p) {
			return bad("%q is not an absolute path", p)
		}
	}
	for _, n := range slices.Concat(r.Services, r.Profiles) {
		if !projectPattern().MatchString(n) {
			return bad("%q is no name of a service or profile", n)
		}
	}
	for name, n := range r.Scale {
		if !projectPattern().MatchString(name) || n < 0 || n > maxScale {
			return bad("the scale of %q must be between 0 and %d", name, maxScale)
		}
	}
	return nil
}

// Check reports whether a request may be given to an engine. The error is the caller's fault. The SDK calls it before Pull.
func (r *PullRequest) Check() error {
	if err := checkRef(r.Ref); err != nil {
		return err
	}
	if r.Platform != "" && !platformPattern().MatchString(r.Platform) {
		return errs.BadInput(ReasonBadRef, "the platform %q is not os/arch or os/arch/variant", r.Platform)
	}
	return nil
}

const maxRef = 1024

func checkRef(ref string) error {
	if ref == "" || len(ref) > maxRef || strings.HasPrefix(ref, "-") ||
		strings.ContainsFunc(ref, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return errs.BadInput(ReasonBadRef, "%.100q is not an image reference", ref)
	}
	return nil
}

func checkID(id string) error {
	if !projectPattern().MatchString(strings.TrimPrefix(id, "/")) {
		return errs.BadInput(ReasonBadID, "%.100q is not the id or name of a container", id)
	}
	return nil
}

// checkTarget checks a container and a path within it.
func checkTarget(container, p string) error {
	if err := checkID(container); err != nil {
		return err
	}
	if !cleanPath(p) {
		return errs.BadInput(ReasonBadPath, "%.200q is not an absolute path", p)
	}
	return nil
}

// cleanPath reports whether p is an absolute path without a detour.
func cleanPath(p string) bool {
	return path.IsAbs(p) && !strings.ContainsRune(p, 0) && (path.Clean(p) == p || path.Clean(p)+"/" == p)
}
