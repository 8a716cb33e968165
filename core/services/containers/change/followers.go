package change

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
)

// A dependent that the same job updates follows the service that it depends on. It is recreated once, with its own new image, and not
// before that with the former one. Its image is pulled before anything is recreated, so that it is away for a short time only.

// recreateLeft recreates the dependents that changes have left to later ones which did not come to it: they still share namespaces or
// volumes with containers that are gone.
func (x *Changes) recreateLeft(ctx context.Context, changes []*change) error {
	if work.IsHandover(ctx) {
		return nil
	}
	var failed error
	for _, c := range changes {
		for _, d := range c.rec.Dependents {
			if !d.Follows {
				continue
			}
			if err := c.dependentSteps().recreateOutdated(ctx, d); err != nil {
				c.r.LogError(ctx, "%s: %s, which shares namespaces or volumes with it, does not run as it did: %s", c.displayName(), d.Name, failure.Text(err))
				failed = fault.Wrap(err, fault.Conflict, "%s / %s does not run as it did: %s", c.stack.Project, d.Name, failure.Text(err))
			}
		}
	}
	return failed
}
