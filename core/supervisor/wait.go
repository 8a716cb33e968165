package supervisor

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
	"github.com/patchbay-dev/patchbay/core/fault"
)

// lookEvery is the pause between two looks at what is waited for.
const lookEvery = 500 * time.Millisecond

// awaitCore waits until the core of an image answers as it should, and returns the version that it tells. It fails at once when that
// cannot happen any more. The time in which what drives the deployment is away does not count.
func (r *run) awaitCore(ctx context.Context, want Image) (version string, failure error) {
	look, away := r.s.deployment.watchCore(r, want), r.s.deployment.timeAway()
	for began := time.Now(); ; {
		version, state, err := look(ctx)
		if err != nil || state == "" {
			return version, err
		}
		if time.Since(began) > r.s.cfg.HealthTimeout+r.s.deployment.timeAway()-away {
			return "", fault.New(fault.Conflict, "The core did not become healthy within %s: %s", r.s.cfg.HealthTimeout, state)
		}
		if err := event.Sleep(ctx, lookEvery); err != nil {
			return "", err
		}
	}
}

// checkAnswer returns what a look at the core of an image has found, from the version that it told and the error of asking: a core that
// does not answer is waited for, and one with another version is an error.
func checkAnswer(told string, failure error, want Image) (version, state string, err error) {
	switch {
	case failure != nil:
		return "", "it does not answer: " + failure.Error(), nil
	case want.Version != "" && told != want.Version:
		return "", "", fault.New(fault.Conflict, "The core reports the version %s instead of %s.", told, want.Version)
	}
	return told, "", nil
}

// addedSentence returns what an engine adds to a message, after a space; "" for nothing.
func addedSentence(text string) string {
	if text = lastLines(text); text != "" {
		return " " + text
	}
	return ""
}

// maxTail is how much of the output of compose stands in a message, in bytes.
const maxTail = 500

// lastLines returns the end of an output, in one line.
func lastLines(tail string) string {
	tail = strings.Join(strings.Fields(tail), " ")
	if n := len(tail) - maxTail; n > 0 {
		tail = "…" + strings.ToValidUTF8(tail[n:], "")
	}
	return tail
}
