package change

// The steps of a change, in order. The journal has the one that is about to be done, so that after a crash it is known
// what may have happened and what has not.
const (
	StepPull         = "pull"
	StepBackup       = "backup"
	StepTag          = "tag"
	StepUp           = "up"
	StepHealth       = "healthcheck"
	StepSync         = "sync_configured_tag"
	StepExtraTags    = "pull_extra_tags"
	StepRollbackTag  = "rollback_tag"
	StepRollbackUp   = "rollback_up"
	StepRollbackWait = "rollback_healthcheck"
	stepDone         = "done"
	// stepPrecheck is where a change fails that the checks before it refuse. Nothing was changed then, and the journal has
	// another step.
	stepPrecheck = "precheck"
)

// stepOrder is where a step stands; rollback steps come after all others.
func stepOrder(step string) int {
	for i, s := range []string{StepPull, StepBackup, StepTag, StepUp, StepHealth, StepSync, StepExtraTags, stepDone} {
		if s == step {
			return i
		}
	}
	return -1
}
