package kit

import (
	"regexp"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
)

// Supervised is a compose project whose service plays the core, with a supervisor that looks after it.
type Supervised struct {
	*Core
	Bin       dockertest.ComposeBin
	Reg       *dockertest.Reg
	Repo, Dir string
	// Daemon is the engine of the project.
	Daemon *dockertest.Daemon
}

// UpgradeState is what the tests read of the state of self-upgrade.
type UpgradeState struct {
	State, OpID string
	Target      struct{ Tag, Digest, Version string }
	Previous    struct{ Tag, Digest, Version string }
	Progress    struct{ Step, Message string }
	Operations  []struct {
		OpID, State string
		Logs        []struct{ Level, Msg string }
	}
}

var supervisorAddress = regexp.MustCompile(`supervisor is ready: address=(http://\S+)`)

// Start runs the supervisor and waits until it listens.
func (s *Supervised) Start() {
	s.T.Helper()
	s.Launch()
	select {
	case line := <-s.ready:
		s.Base = supervisorAddress.FindStringSubmatch(line)[1]
	case <-s.Ended:
		s.T.Fatalf("the supervisor ended at its start: %v\n%s", s.err, s.Logs())
	case <-time.After(Patience * StartWithin):
		s.T.Fatalf("the supervisor is not ready after %s\n%s", Patience*StartWithin, s.Logs())
	}
}
