// Package research makes reports from what a search finds: it searches, reads the sources, picks the passages that fit
// the question best and quotes them under numbered citations. No language model takes part, so that nothing stands in a
// report that is not in its sources.
//
// Reports are made in the background and kept in memory for a while.
package research

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Source is something that a search found. Content is what the search shows of it.
type Source struct {
	Title, URL, Content string
}

// Query is one search. Include and Exclude are domains.
type Query struct {
	Text             string
	Max              int
	Include, Exclude []string
}

// Library is where a research looks.
type Library interface {
	// Find returns sources, the best first.
	Find(ctx context.Context, q Query) ([]Source, error)
	// Read returns the whole text of a source, without markup where it can be told from the text.
	Read(ctx context.Context, address string) (string, error)
}

// Status is how far a research is, in the words of the API.
type Status string

// The states. Completed and Failed are final.
const (
	Pending    Status = "pending"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Failed     Status = "failed"
)

// Effort is how many sources are read, and how many passages of each are quoted.
type Effort struct{ Sources, Passages int }

// Task is what to research.
type Task struct {
	Input, Model     string
	Effort           Effort
	Include, Exclude []string
}

// Citation is a source of a report. Its number is its place, from 1.
type Citation struct {
	Title string `json:"title"`
	URL   string `json:"url"`
}

// Report is a research. Content (Markdown) and Sources are there once it is completed, Problem once it failed.
type Report struct {
	ID        string
	Task      Task
	Status    Status
	Created   time.Time
	Took      time.Duration
	Content   string
	Sources   []Citation
	Problem   string
	completed time.Time
	// ended is closed when the research has ended.
	ended chan struct{}
}

// Config configures a Service. Library is required, the rest has defaults.
type Config struct {
	Library Library
	Log     hclog.Logger
	Now     func() time.Time
	NewID   func() string
	// Keep is how long a finished report is kept (1 h), MaxKept how many there are at most (500): the oldest finished one
	// gives way.
	Keep    time.Duration
	MaxKept int
	// Parallel is how many are made at once (2), Timeout how long one may take (2 min).
	Parallel int
	Timeout  time.Duration
}

// ErrBusy: as many researches are under way as there may be.
var ErrBusy = errors.New("too many researches are under way")

var errGone = errors.New("the research is not kept any more")

const (
	defaultKeep     = time.Hour
	defaultMaxKept  = 500
	defaultParallel = 2
	defaultTimeout  = 2 * time.Minute
)

// Service makes and keeps reports. It is safe for concurrent use. Close it.
type Service struct {
	cfg    Config
	slots  chan struct{}
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	byID   map[string]*Report
	oldest []string
	closed bool
}

// New checks cfg and makes a Service.
func New(cfg Config) (*Service, error) {
	if cfg.Library == nil {
		return nil, errors.New("make research: it needs a library")
	}
	if cfg.Log == nil {
		cfg.Log = hclog.NewNullLogger()
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.NewID == nil {
		cfg.NewID = rand.Text
	}
	orElse(&cfg.Keep, defaultKeep)
	orElse(&cfg.MaxKept, defaultMaxKept)
	orElse(&cfg.Parallel, defaultParallel)
	orElse(&cfg.Timeout, defaultTimeout)
	s := &Service{cfg: cfg, slots: make(chan struct{}, cfg.Parallel), byID: map[string]*Report{}}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	return s, nil
}

func orElse[T int | time.Duration](v *T, fallback T) {
	if *v <= 0 {
		*v = fallback
	}
}

// Close ends what is under way and waits for it.
func (s *Service) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.done.Wait()
}

// Start begins a research and returns at once. The error is ErrBusy, or tells that the service is closed.
func (s *Service) Start(t Task) (Report, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return Report{}, errors.New("start research: the service is closed")
	}
	if !s.makeRoom() {
		return Report{}, ErrBusy
	}
	r := &Report{ID: s.cfg.NewID(), Task: t, Status: Pending, Created: s.cfg.Now(), ended: make(chan struct{})}
	s.byID[r.ID] = r
	s.oldest = append(s.oldest, r.ID)
	s.done.Go(func() { s.workOnReport(r.ID, t) })
	return *r, nil
}

// Get returns a research. One that is past its time, or never was, is not found.
func (s *Service) Get(id string) (Report, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.byID[id]
	if !ok || s.isExpired(r) {
		return Report{}, false
	}
	return *r, true
}

// Wait returns a research once it has ended. The error is that of ctx, or tells that there is no such research any more.
func (s *Service) Wait(ctx context.Context, id string) (Report, error) {
	r, ok := s.Get(id)
	if !ok {
		return r, errGone
	}
	select {
	case <-r.ended:
	case <-ctx.Done():
		return r, ctx.Err()
	}
	if r, ok = s.Get(id); !ok {
		return r, errGone
	}
	return r, nil
}

func (s *Service) isExpired(r *Report) bool {
	return !r.completed.IsZero() && s.cfg.Now().Sub(r.completed) >= s.cfg.Keep
}

// makeRoom drops what is past its time, and the oldest finished one if there are too many. It is called locked.
func (s *Service) makeRoom() bool {
	kept, victim := s.oldest[:0], ""
	for _, id := range s.oldest {
		r := s.byID[id]
		if s.isExpired(r) {
			delete(s.byID, id)
			continue
		}
		if victim == "" && !r.completed.IsZero() {
			victim = id
		}
		kept = append(kept, id)
	}
	s.oldest = kept
	if len(kept) < s.cfg.MaxKept {
		return true
	}
	if victim == "" {
		return false
	}
	delete(s.byID, victim)
	for i, id := range kept {
		if id == victim {
			s.oldest = append(kept[:i], kept[i+1:]...)
			break
		}
	}
	return true
}

// workOnReport makes one report.
func (s *Service) workOnReport(id string, t Task) {
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
	case <-s.ctx.Done():
		s.finishReport(id, "", nil, s.ctx.Err())
		return
	}
	s.changeReport(id, func(r *Report) { r.Status = InProgress })
	ctx, cancel := context.WithTimeout(s.ctx, s.cfg.Timeout)
	defer cancel()
	content, sources, err := s.composeGuarded(ctx, t)
	s.finishReport(id, content, sources, err)
}

func (s *Service) composeGuarded(ctx context.Context, t Task) (content string, sources []Citation, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("compose report: panic: %v", p)
		}
	}()
	return composeReport(ctx, s.cfg.Library, t)
}

func (s *Service) finishReport(id, content string, sources []Citation, err error) {
	if err != nil {
		s.cfg.Log.Warn("research failed", "id", id, "error", err)
	}
	s.changeReport(id, func(r *Report) {
		r.completed = s.cfg.Now()
		r.Took = r.completed.Sub(r.Created)
		close(r.ended)
		if err != nil {
			r.Status, r.Problem = Failed, describeFailure(err)
			return
		}
		r.Status, r.Content, r.Sources = Completed, content, sources
	})
}

// describeFailure says why a research failed, in words for whoever asked for it.
func describeFailure(err error) string {
	if e := errs.From(err); e.Reason == errs.ReasonExplained {
		return e.Message
	}
	return "the search did not answer"
}

func (s *Service) changeReport(id string, f func(*Report)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.byID[id]; r != nil {
		f(r)
	}
}
