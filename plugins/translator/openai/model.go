package openai

import (
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/translator"
)

// maxFailures is how many failures in a row have a model cool down.
const maxFailures = 3

// model is a model of the server with what is known of it. It is safe for concurrent use.
type model struct {
	name         string
	adaptsFormat bool

	mu sync.Mutex
	// format is an index of formats. completionTokens and noTemperature say what else the server wants.
	format                          int
	completionTokens, noTemperature bool
	failures                        int
	cooling                         time.Time
}

// coolingUntil returns until when the model is cooling down; zero if it is not.
func (m *model) coolingUntil(now time.Time) time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.cooling.After(now) {
		return m.cooling
	}
	return time.Time{}
}

// noteSuccess ends a cool-down.
func (m *model) noteSuccess() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures, m.cooling = 0, time.Time{}
}

// noteFailure has the model cool down: after a limit for as long as the server said, after several other failures for cooldown.
func (m *model) noteFailure(now time.Time, outcome translator.Outcome, pause, cooldown time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.failures++
	switch {
	case outcome == translator.OutcomeRateLimited:
		m.cooling = now.Add(pause)
	case outcome != translator.OutcomeDenied && outcome != translator.OutcomeQuota && m.failures >= maxFailures:
		m.cooling = now.Add(cooldown)
	}
}
