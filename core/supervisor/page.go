package supervisor

import "slices"

// maxDigest is the length of a digest in characters.
const maxDigest = 71

// shownStatus returns the word by which the console knows a state.
func shownStatus(s Status) string {
	if s == Succeeded {
		return "success"
	}
	return string(s)
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// trackedStep is a step as the page shows it.
type trackedStep struct {
	step           Step
	class, current string
}

// trackSteps returns the steps of an operation with how far each has come. A core alone waits for no other, so that step is among them only
// while it lasts.
func trackSteps(o *Operation) (out []trackedStep) {
	order := []Step{StepPrecheck, StepPull, StepCheck, StepJobs, StepApply, StepWait, StepDone}
	switch {
	case o.Step == StepTurn:
		order = slices.Insert(order, 3, StepTurn)
	case o.Status == RolledBack || o.Step == StepRollback || o.Step == StepRollbackWait:
		order = []Step{StepRollback, StepRollbackWait, StepDone}
	case o.Request.Mode == DryRun:
		order = []Step{StepPrecheck, StepPull, StepCheck, StepDone}
	}
	at := slices.Index(order, o.Step)
	for i, s := range order {
		t := trackedStep{step: s, current: "false"}
		switch {
		case i < at || o.Step == StepDone:
			t.class = "done"
		case i == at && o.Status == Failed:
			t.class = "failed"
		case i == at:
			t.class, t.current = "now", "step"
		}
		out = append(out, t)
	}
	return out
}
