package supervisor

import (
	"context"
	"time"
)

// deployment is how the core is installed: what an operation replaces, and where other versions come from. The steps of an operation call
// its methods in this order. After an interruption a step is done again, so that each method looks at what there is, and does what is
// still to be done. Errors are faults.
type deployment interface {
	// kindName is "container" or "unit". Texts of the pages are chosen by it.
	kindName() string
	// sourceName is where versions come from, for people.
	sourceName() string
	// nameTarget returns what is known of a target before it was fetched, or an error for one that cannot be had from the source.
	nameTarget(t Target) (Image, error)
	// awaitDriver waits until what the deployment is driven with answers.
	awaitDriver(ctx context.Context) error
	// lookAtCore notes in the operation where the core is installed and what runs.
	lookAtCore(ctx context.Context, r *run) error
	// fetchTarget fetches the target, and changes nothing that is in use.
	fetchTarget(ctx context.Context, r *run) error
	// tryTarget has the target tell its version.
	tryTarget(ctx context.Context, r *run) error
	// describePlan says what an upgrade would do.
	describePlan(o *Operation) string
	// discardTarget takes back what fetchTarget has changed. It fails silently but for a line in the log.
	discardTarget(ctx context.Context, r *run)
	// installTarget puts the target in place of what runs, and restoreFormer what ran before the operation.
	installTarget(ctx context.Context, r *run) error
	restoreFormer(ctx context.Context, r *run) error
	// watchCore returns a function that looks once whether the core of an image answers as it should.
	watchCore(r *run, want Image) func(ctx context.Context) (version, state string, err error)
	// timeAway returns how long calls have waited in all for what the deployment is driven with.
	timeAway() time.Duration
	// currentID returns the ID of the image that is in use.
	currentID(ctx context.Context) (string, error)
	// checkFormer returns an error if what ran before an operation cannot be restored any more, as far as that is known at once.
	checkFormer(o *Operation) error
	// removeUnused removes what neither runs nor can be brought back, after an operation has ended.
	removeUnused(r *run)
}
