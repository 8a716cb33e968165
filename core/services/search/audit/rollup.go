package audit

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The scopes of a roll-up: all requests, those of a token, those of an upstream key.
const (
	ScopeAll   = "all"
	ScopeToken = "token"
	ScopeKey   = "key"
)

const (
	// StepFine is the width of the finest roll-ups, in seconds.
	StepFine = 300
	// StepHour is the width of the roll-ups by the hour, in seconds.
	StepHour = 3600
	// StepEver stands for the sum since the beginning.
	StepEver = 0
	// buckets is the number of classes of the latency histogram.
	buckets = 14
	// rollupEvery is how old the roll-ups may be. A crash loses none of them: they are made anew from the audit rows.
	rollupEvery = 10 * time.Second
	// StreamLimit bounds a streamed answer as a whole, and with it how long a request may take.
	StreamLimit = 30 * time.Minute
	// fineFor and hoursFor are how long the roll-ups of each width are kept.
	fineFor  = 48 * time.Hour
	hoursFor = 400 * 24 * time.Hour
)

// rollupKey names a row of the roll-ups.
type rollupKey struct {
	Scope     string
	Subject   string
	Step      int64
	Start     int64
	Operation string
}

// rollups adds up what the audit has written and stores the sums now and then.
type rollups struct {
	store *Store
	log   hclog.Logger
	now   func() time.Time

	// storing is held while sums go to the database.
	storing sync.Mutex

	mu      sync.Mutex
	pending map[rollupKey]*RequestSums
	// writer is this core's, 0 for a core alone; pending goes up to the request that is the writer's upTo-th to end.
	writer, upTo int64
	closing      sync.Once
	stop         chan struct{}
	done         chan struct{}
}

func newRollups(store *Store, log hclog.Logger, now func() time.Time) *rollups {
	return &rollups{store: store, log: log, now: now, pending: map[rollupKey]*RequestSums{}, stop: make(chan struct{}),
		done: make(chan struct{})}
}

// start keeps the stored sums fresh until close.
func (r *rollups) start() {
	go func() {
		defer close(r.done)
		tick := time.NewTicker(rollupEvery)
		defer tick.Stop()
		for {
			select {
			case <-r.stop:
				return
			case <-tick.C:
				if err := r.flush(context.Background()); err != nil {
					r.log.Error("cannot store statistics, retrying", "error", err)
				}
			}
		}
	}()
}

// close stores the rest and notes that nothing has to be made anew at the next start.
func (r *rollups) close(ctx context.Context) {
	r.closing.Do(func() { close(r.stop) })
	<-r.done
	err := r.flush(ctx)
	switch {
	case err != nil:
	case r.writer == 0:
		err = r.store.SetMark(ctx, MarkRollups, CleanEnd)
	default:
		_, err = r.store.settleWriter(ctx, r.writer, r.now())
	}
	if err != nil {
		r.log.Error("cannot store the last statistics; rebuilt at the next start", "error", err)
	}
}

// beginWriter begins the sums of another writer. Those of the former one were added by the core that has ended it.
func (r *rollups) beginWriter(id int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.pending)
	r.writer, r.upTo = id, 0
}

// addEntries adds written requests that have ended to the sums.
func (r *rollups) addEntries(entries []Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range entries {
		if e := &entries[i]; e.Outcome != Open {
			r.upTo = max(r.upTo, e.endedSeq)
			r.addOne(e)
		}
	}
}

func (r *rollups) addOne(e *Entry) {
	one := newSums(e)
	for _, k := range rollupKeys(e) {
		s := r.pending[k]
		if s == nil {
			s = &RequestSums{}
			r.pending[k] = s
		}
		s.AddScaled(&one, 1)
	}
}

// rollupKeys returns the rows that a request adds to.
func rollupKeys(e *Entry) []rollupKey {
	out := make([]rollupKey, 0, 9)
	at := e.Time.Unix()
	for _, w := range [...]struct{ scope, subject string }{{ScopeAll, ""}, {ScopeToken, e.TokenID}, {ScopeKey, e.KeyID}} {
		if w.scope != ScopeAll && w.subject == "" {
			continue
		}
		out = append(out,
			rollupKey{w.scope, w.subject, StepFine, at - at%StepFine, e.Operation},
			rollupKey{w.scope, w.subject, StepHour, at - at%StepHour, e.Operation},
			rollupKey{w.scope, w.subject, StepEver, 0, e.Operation})
	}
	return out
}

// flush stores what has been added up.
func (r *rollups) flush(ctx context.Context) error {
	r.storing.Lock()
	defer r.storing.Unlock()
	r.mu.Lock()
	taken, writer, upTo := r.pending, r.writer, r.upTo
	r.pending = map[rollupKey]*RequestSums{}
	r.mu.Unlock()
	if len(taken) == 0 {
		return nil
	}
	rest := taken
	var err error
	if writer == 0 {
		rest, err = r.store.addRollups(ctx, taken, r.now())
	} else {
		_, err = r.store.addWriterRollups(ctx, writer, upTo, taken, r.now())
	}
	if err == nil {
		return nil
	}
	// Sums that were not stored are added to those that came meanwhile.
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writer != writer {
		return err
	}
	for k, s := range rest {
		if have := r.pending[k]; have != nil {
			s.AddScaled(have, 1)
		}
		r.pending[k] = s
	}
	return err
}

// dropUnstored drops what has been added up since the last store.
func (r *rollups) dropUnstored() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.pending)
}

// restoreSums computes roll-ups again from the audit rows after a crash, from the time on from which some may not have been
// stored.
func (r *rollups) restoreSums(ctx context.Context) error {
	mark, err := r.store.ReadMark(ctx, MarkRollups)
	if err != nil {
		return err
	}
	if mark == CleanEnd {
		// From now on this process may end badly too, also before it has stored anything.
		return r.store.SetMark(ctx, MarkRollups, r.now().UnixMilli())
	}
	// A streamed answer may belong to the hour before the last store.
	from := time.UnixMilli(mark).Add(-StreamLimit)
	hour := from.Unix() - from.Unix()%StepHour
	if mark == 0 {
		hour = 0
	}
	fresh := newRollups(r.store, r.log, r.now)
	if err := r.store.eachSince(ctx, time.Unix(hour, 0), fresh.addOne); err != nil {
		return err
	}
	stored, err := r.store.rollupsSince(ctx, hour)
	if err != nil {
		return err
	}
	diff := fresh.pending
	for i := range stored {
		k, s := stored[i].rollupKey, &stored[i].RequestSums
		if k.Step == StepHour {
			ever := rollupKey{k.Scope, k.Subject, StepEver, 0, k.Operation}
			subtractStored(diff, ever, s)
		}
		subtractStored(diff, k, s)
	}
	for k, s := range diff {
		if s.empty() {
			delete(diff, k)
		}
	}
	if len(diff) > 0 {
		r.log.Info("statistics rebuilt from stored requests", "rows", len(diff))
	}
	_, err = r.store.addRollups(ctx, diff, r.now())
	return err
}

func subtractStored(from map[rollupKey]*RequestSums, k rollupKey, s *RequestSums) {
	have := from[k]
	if have == nil {
		have = &RequestSums{}
		from[k] = have
	}
	have.AddScaled(s, -1)
}

// forEachUnstored calls to with a copy of each matching sum that has not reached the database yet.
func (r *rollups) forEachUnstored(match func(rollupKey) bool, to func(rollupKey, *RequestSums)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k, s := range r.pending {
		if match(k) {
			c := *s
			to(k, &c)
		}
	}
}

// lifetimeSums returns the sums of all requests of subjects since the first one.
func (r *rollups) lifetimeSums(ctx context.Context, scope string, subjects []string) (map[string]*RequestSums, error) {
	// Sums that are on their way to the database are in neither place for a moment.
	r.storing.Lock()
	defer r.storing.Unlock()
	out, err := r.store.rollupsEver(ctx, scope, subjects)
	if err != nil {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, s := range subjects {
		wanted[s] = true
		if out[s] == nil {
			out[s] = &RequestSums{}
		}
	}
	r.forEachUnstored(func(k rollupKey) bool { return k.Step == StepEver && k.Scope == scope && wanted[k.Subject] },
		func(k rollupKey, s *RequestSums) { out[k.Subject].AddScaled(s, 1) })
	return out, nil
}

// MarkRollups names the mark of the last store; CleanEnd stands there after an end in good order.
const (
	MarkRollups = "rollups"
	CleanEnd    = -1
)

// lastStart returns the beginning of the steps of a width that hold a time.
func lastStart(t time.Time, step int64) int64 { return t.Unix() - t.Unix()%step }
