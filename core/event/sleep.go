package event

import (
	"context"
	"time"
)

// Sleep waits for d. If ctx ends before, it returns the cause at once.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
