package supervisor

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// coreJobs are the jobs of a core, one answer after the other; the last one stays.
type coreJobs struct {
	mu      sync.Mutex
	answers [][]string
	err     error
	// asked is called with each answer.
	asked func()
	// others are the cores that are being upgraded, one answer after the other; nil: none. begun and over count the calls.
	others      []string
	begun, over int
}

// BeginUpgrade implements Core.
func (c *coreJobs) BeginUpgrade(context.Context) (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.begun++
	if c.asked != nil {
		c.asked()
	}
	if c.err != nil || len(c.others) == 0 {
		return "", c.err
	}
	other := c.others[0]
	c.others = c.others[1:]
	return other, nil
}

// EndUpgrade implements Core.
func (c *coreJobs) EndUpgrade(context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over++
	return c.err
}

// CoreVersion implements Core.
func (c *coreJobs) CoreVersion(context.Context) (string, error) {
	return "", errors.New("not asked for")
}

// RunningJobs implements Core.
func (c *coreJobs) RunningJobs(context.Context) ([]string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asked != nil {
		c.asked()
	}
	if c.err != nil {
		return nil, c.err
	}
	out := c.answers[0]
	if len(c.answers) > 1 {
		c.answers = c.answers[1:]
	}
	return out, nil
}

// superviseAsking runs a supervisor that asks a core before it replaces it, and publishes an image to upgrade to.
func superviseAsking(t *testing.T, core *coreJobs, jobsTimeout time.Duration) (*site, *Supervisor) {
	t.Helper()
	s := newSite(t)
	core.asked = func() {
		if calls := s.engine.CallsOf("compose"); len(calls) > 0 {
			t.Errorf("the core was asked after %v", calls)
		}
	}
	sup := s.supervise(t, func(c *Config) { c.Core, c.JobsTimeout = core, jobsTimeout })
	s.engine.Publish(repository+":latest", imageOfVersion("2"))
	return s, sup
}

// TestUpgradeWaitsForJobs: nothing is replaced while jobs of the core run, for as long as the settings say; a core that cannot be asked is
// replaced, and the log tells all of it.
func TestUpgradeWaitsForJobs(t *testing.T) {
	two := []string{"containers.update", "mail.sweep", "containers.update"}
	for name, tt := range map[string]struct {
		jobs  *coreJobs
		limit time.Duration
		says  []string
	}{
		"they end": {&coreJobs{answers: [][]string{two, {"mail.sweep"}, nil}}, time.Minute,
			[]string{"jobs of the core: 2 × containers.update, 1 × mail.sweep", "jobs of the core: 1 × mail.sweep", "No job of the core runs"}},
		"they do not": {&coreJobs{answers: [][]string{two}}, time.Millisecond,
			[]string{"After 1ms there still runs: 2 × containers.update, 1 × mail.sweep. It goes on when"}},
		"no core": {&coreJobs{err: errors.New("no core runs with this configuration")}, time.Minute,
			[]string{"does not say whether jobs run, and is replaced anyway: no core runs"}},
		"not waited for": {&coreJobs{answers: [][]string{two}}, 0, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, sup := superviseAsking(t, tt.jobs, tt.limit)
			if _, err := sup.Begin(Request{Mode: Apply, RollbackOnFailure: true}); err != nil {
				t.Fatal(err)
			}
			o := ended(t, sup, Succeeded)
			for _, want := range tt.says {
				if !slices.ContainsFunc(o.Logs, func(l LogLine) bool { return strings.Contains(l.Message, want) }) {
					t.Errorf("the log does not say %q: %+v", want, o.Logs)
				}
			}
			if asked := slices.ContainsFunc(o.Logs, func(l LogLine) bool { return strings.Contains(l.Message, "jobs") }); asked != (tt.says != nil) {
				t.Errorf("the log tells of jobs: %v", asked)
			}
		})
	}
}
