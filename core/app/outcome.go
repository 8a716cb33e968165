package app

import (
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/config"
	"github.com/patchbay-dev/patchbay/core/operator"
)

// rejection is a reload that was rejected.
type rejection struct {
	at     time.Time
	reason string
}

// reloadOutcome is how the last attempt to read the configuration ended. The zero value is that of a start.
type reloadOutcome struct {
	mu       sync.Mutex
	last     *rejection
	accepted time.Time
}

// record keeps the outcome of a reload.
func (o *reloadOutcome) record(diags config.Diagnostics, err error) {
	if err == nil {
		err = diags.Err()
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.last = nil
	if err != nil {
		o.last = &rejection{at: time.Now(), reason: err.Error()}
		return
	}
	o.accepted = time.Now()
}

// rejected returns the last reload if it was rejected, or nil.
func (o *reloadOutcome) rejected() *rejection {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.last
}

// describeLast returns the last reload as the operator's commands show it, or nil before the first.
func (o *reloadOutcome) describeLast() *operator.ReloadOutcome {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case o.last != nil:
		return &operator.ReloadOutcome{At: operator.FormatTime(o.last.at), Reason: o.last.reason}
	case !o.accepted.IsZero():
		return &operator.ReloadOutcome{At: operator.FormatTime(o.accepted), Accepted: true}
	}
	return nil
}
