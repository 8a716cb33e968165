package supervisor

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/oklog/ulid/v2"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Config says what a supervisor looks after.
type Config struct {
	Logger hclog.Logger
	// StatePath is the state file, an absolute path.
	StatePath string
	// Container says where the core's container is. Unit, if it is not nil, says that the core is a unit of systemd instead.
	Container ContainerConfig
	Unit      *UnitConfig
	// CoreURL is where the core is reached; "" to find it out.
	CoreURL string
	// Core tells what the core is doing; nil if nobody can. JobsTimeout is how long an upgrade waits for its jobs; 0 for not at all.
	Core        Core
	JobsTimeout time.Duration
	// HealthTimeout is how long a new core may take to answer (3 min).
	HealthTimeout time.Duration
}

// Supervisor replaces the core, one operation at a time.
type Supervisor struct {
	cfg     Config
	log     hclog.Logger
	journal *Journal
	// deployment is what the supervisor replaces.
	deployment deployment

	life context.Context
	stop context.CancelFunc
	work sync.WaitGroup

	// begin is held while an operation is begun.
	begin sync.Mutex
	// busy tells that an operation is worked on.
	busy atomic.Bool
}

// New opens the state file and goes on with an operation that was interrupted.
func New(cfg Config) (*Supervisor, error) {
	if cfg.HealthTimeout == 0 {
		cfg.HealthTimeout = 3 * time.Minute
	}
	s := &Supervisor{cfg: cfg, log: cfg.Logger}
	if err := s.openDeployment(); err != nil {
		return nil, err
	}
	journal, err := OpenJournal(cfg.StatePath)
	if err != nil {
		return nil, err
	}
	s.journal = journal
	s.life, s.stop = context.WithCancel(context.Background())
	all := journal.Operations()
	if i := slices.IndexFunc(all, func(o Operation) bool { return o.Status == Running }); i >= 0 {
		s.resumeOperation(&all[i])
	}
	return s, nil
}

// openDeployment chooses what the supervisor replaces.
func (s *Supervisor) openDeployment() (err error) {
	if s.cfg.Unit == nil {
		s.deployment = newContainer(s, s.cfg.Container)
		return nil
	}
	s.deployment, err = newUnit(s, *s.cfg.Unit)
	return err
}

// Close ends the supervisor. An operation that runs stays in the state file as it is, and the next start goes on with it.
func (s *Supervisor) Close() {
	s.stop()
	s.work.Wait()
	s.journal.Close()
}

// Operations returns the operations that are kept, the newest first.
func (s *Supervisor) Operations() []Operation { return s.journal.Operations() }

// Begin starts an operation and returns its id. While one runs, the same request returns that one's id and another one is
// refused with fault.Conflict.
func (s *Supervisor) Begin(r Request) (id string, err error) {
	if r.Target.Tag == "" && r.Target.Digest == "" {
		r.Target.Tag = "latest"
	}
	if err := checkTarget(r); err != nil {
		return "", err
	}
	s.begin.Lock()
	defer s.begin.Unlock()
	if running := s.runningOperation(); running != nil {
		if running.Request == r && running.Step != StepRollback && running.Step != StepRollbackWait {
			return running.ID, nil
		}
		return "", fault.New(fault.Conflict, "The operation %s is running: wait until it has ended.", running.ID).With("reason",
			"operation_running").With("opId", running.ID)
	}
	target, err := s.deployment.nameTarget(r.Target)
	if err != nil {
		return "", err
	}
	now := time.Now().UTC()
	o := &Operation{
		ID: "sup_" + ulid.Make().String(), Status: Running, Request: r, Step: StepPrecheck, Message: "Looking at what runs", Target: target,
		Started: now, Updated: now,
	}
	return o.ID, s.startOperation(o)
}

// BeginRollback starts to bring back what ran before the last upgrade that was not taken back yet. id is that of the upgrade, or
// "" for the last one. What runs must be what the upgrade has left.
func (s *Supervisor) BeginRollback(ctx context.Context, id string) error {
	s.begin.Lock()
	defer s.begin.Unlock()
	if running := s.runningOperation(); running != nil {
		return fault.New(fault.InvalidArgument, "The operation %s is running: wait until it has ended.", running.ID).With("reason",
			"operation_running")
	}
	o, err := s.lastUpgrade(id)
	if err != nil {
		return err
	}
	current, err := s.deployment.currentID(ctx)
	if err != nil {
		return err
	}
	if current != o.Target.ID && current != o.Previous.ID {
		return fault.New(fault.InvalidArgument, "The core was changed after the upgrade %s, but not by the supervisor.",
			o.ID).With("reason", "changed_since")
	}
	o.Status, o.Step, o.Failure, o.Updated = Running, StepRollback, "It was asked for by hand.", time.Now().UTC()
	return s.startOperation(o)
}

// lastUpgrade returns the last operation that has changed what runs and was not taken back.
func (s *Supervisor) lastUpgrade(id string) (*Operation, error) {
	for _, o := range s.journal.Operations() {
		if !o.hasReplaced() || o.Status == RolledBack {
			continue
		}
		if id != "" && o.ID != id {
			return nil, fault.New(fault.InvalidArgument, "opId: only the last upgrade, %s, can be rolled back.", o.ID).With("reason", "not_the_last")
		}
		return &o, s.deployment.checkFormer(&o)
	}
	return nil, fault.New(fault.InvalidArgument, "There is no upgrade to roll back.").With("reason", "nothing_to_roll_back")
}

// runningOperation returns the operation that runs, or nil.
func (s *Supervisor) runningOperation() *Operation {
	if !s.busy.Load() {
		return nil
	}
	for _, o := range s.journal.Operations() {
		if o.Status == Running {
			return &o
		}
	}
	return nil
}

// startOperation stores an operation and works on it until it ends or the supervisor does.
func (s *Supervisor) startOperation(o *Operation) error {
	if err := s.journal.Put(*o); err != nil {
		return err
	}
	s.resumeOperation(o)
	return nil
}

// resumeOperation works on an operation that is in the state file.
func (s *Supervisor) resumeOperation(o *Operation) {
	s.busy.Store(true)
	s.work.Go(func() {
		defer s.busy.Store(false)
		r := &run{s: s, op: o}
		r.runSteps(s.life)
	})
}

// maxTag and the digest's form are those of the OCI distribution specification.
const maxTag = 128

// checkTarget returns an error that names the member of a request that is wrong.
func checkTarget(r Request) error {
	tag, digest := r.Target.Tag, r.Target.Digest
	switch {
	case r.Mode != Apply && r.Mode != DryRun:
		return fault.New(fault.InvalidArgument, `mode must be "apply" or "dry-run".`).With("field", "mode")
	case len(tag) > maxTag || tag != "" && !isTag(tag):
		return fault.New(fault.InvalidArgument, "target.tag must be at most %d letters, digits, dots, dashes and underscores.",
			maxTag).With("field", "tag")
	case digest != "" && !isDigest(digest):
		return fault.New(fault.InvalidArgument, "target.digest must be sha256: with 64 digits in hexadecimal.").With("field", "digest")
	}
	return nil
}

func isTag(text string) bool {
	return !strings.ContainsRune(".-", rune(text[0])) && strings.IndexFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.-", c)
	}) < 0
}

func isDigest(text string) bool {
	rest, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(rest) == 64 && strings.Trim(rest, "0123456789abcdef") == ""
}
