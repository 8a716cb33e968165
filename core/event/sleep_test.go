package event_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/event"
)

func TestSleep(t *testing.T) {
	if err := event.Sleep(t.Context(), time.Millisecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("stopped")
	cancel(cause)
	if err := event.Sleep(ctx, time.Hour); !errors.Is(err, cause) {
		t.Errorf("a context that has ended: %v", err)
	}
}
