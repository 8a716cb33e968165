package containers

import (
	"context"
	"sync"
)

// engineLead asks to lead at the engine of this node. The node that leads does what one of the nodes with the same engine must do.
type engineLead struct {
	service *Service
	role    string
	end     context.CancelFunc
	running sync.WaitGroup
}

// leadAt asks to lead where the engine is now, and gives up where it was. An engine that does not answer is led by no node.
func (l *engineLead) leadAt(ctx context.Context, found *enginePlace) {
	role := ""
	if found != nil && found.here {
		role = found.name
	}
	if role == l.role {
		return
	}
	l.stop()
	if l.role = role; role == "" {
		return
	}
	leading, end := context.WithCancel(ctx)
	l.end = end
	l.running.Go(func() {
		l.service.cfg.Cluster.Lead(leading, role, func(ctx context.Context) error {
			l.service.followEngine(ctx)
			return nil
		})
	})
}

// stop gives up what is led.
func (l *engineLead) stop() {
	if l.end != nil {
		l.end()
	}
	l.running.Wait()
}
