package containers

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/containers/notice"
)

const (
	// placeEvery is how often a node looks whether its engine answers, placeTime how long it waits for that.
	placeEvery = 10 * time.Second
	placeTime  = 5 * time.Second
	// engineIDLength is how much of the id of an engine stands in the name of its place.
	engineIDLength = 40
)

// enginePlace is the engine at which jobs begin. here says that it is this node's, and answers.
type enginePlace struct {
	name string
	here bool
}

// places finds out where the jobs of the service begin, if nodes share the database.
type places struct {
	service *Service
	found   atomic.Pointer[enginePlace]
	// asked has the engine looked at soon.
	asked chan struct{}
}

func newPlaces(s *Service) *places { return &places{service: s, asked: make(chan struct{}, 1)} }

// applyTo has jobs begin where their engine is, if nodes share the database. News is sent by any node.
func (p *places) applyTo(handlers []queue.Handler) []queue.Handler {
	if !p.service.cfg.Cluster.Shared() {
		return handlers
	}
	for i := range handlers {
		if handlers[i].Type != notice.JobType {
			handlers[i].Place = p.findPlace
		}
	}
	return handlers
}

// findPlace is the Place of the service's handlers.
func (p *places) findPlace() (name string, here bool) {
	if found := p.found.Load(); found != nil {
		return found.name, found.here
	}
	return "", false
}

// askSoon has the engine looked at soon.
func (p *places) askSoon() {
	select {
	case p.asked <- struct{}{}:
	default:
	}
}

// watchEngine finds out now and then which engine this node has, and leads there if no other node does, until ctx ends.
func (p *places) watchEngine(ctx context.Context) {
	lead := engineLead{service: p.service}
	defer lead.stop()
	for ctx.Err() == nil {
		if err := p.updatePlace(ctx); err != nil && ctx.Err() == nil {
			p.service.log.Warn("cannot tell the other nodes of the engine, retrying", "error", err)
		}
		lead.leadAt(ctx, p.found.Load())
		timer := time.NewTimer(placeEvery)
		select {
		case <-ctx.Done():
		case <-p.asked:
		case <-timer.C:
		}
		timer.Stop()
	}
}

// updatePlace asks the engine who it is. Where it does not answer, new jobs are for the engine that a node had last.
func (p *places) updatePlace(ctx context.Context) error {
	s := p.service
	asked, cancel := context.WithTimeout(ctx, placeTime)
	defer cancel()
	last := ""
	if _, err := s.repo.ReadSetting(ctx, settingPlace, &last); err != nil {
		return err
	}
	found := enginePlace{name: last}
	if info, err := s.engine().Info(asked, ""); err == nil {
		id := cmp.Or(info.ID, "without an id")
		found = enginePlace{name: "engine " + id[:min(len(id), engineIDLength)], here: true}
	}
	if before := p.found.Load(); before != nil && *before == found {
		return nil
	}
	var here []string
	if found.here {
		here = []string{found.name}
	}
	if found.here && found.name != last {
		if err := s.repo.PutSetting(ctx, settingPlace, found.name, s.now()); err != nil {
			return err
		}
	}
	if err := s.cfg.Cluster.SetPlaces(ctx, here); err != nil {
		return err
	}
	p.found.Store(&found)
	return nil
}
