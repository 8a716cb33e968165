package host_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/host"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// latePlugin opens an instance and does not look at whether anybody still waits for it, as a plugin without the SDK may.
type latePlugin struct {
	pluginv1.PluginClient
	// asked is called with each Configure that is not answered; late says that none is.
	asked func()
	late  bool

	mu      sync.Mutex
	opened  []string
	removed []string
}

func (l *latePlugin) Configure(ctx context.Context, req *pluginv1.ConfigureRequest,
	_ ...grpc.CallOption) (*pluginv1.ConfigureResponse, error) {
	l.mu.Lock()
	l.opened = append(l.opened, req.GetConfig().GetInstanceId())
	late, asked := l.late, l.asked
	l.mu.Unlock()
	if !late {
		return &pluginv1.ConfigureResponse{}, nil
	}
	asked()
	<-ctx.Done()
	return nil, status.FromContextError(ctx.Err()).Err()
}

func (l *latePlugin) Remove(ctx context.Context, req *pluginv1.RemoveRequest, _ ...grpc.CallOption) (*pluginv1.RemoveResponse, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.removed = append(l.removed, req.GetInstanceId())
	if _, bounded := ctx.Deadline(); ctx.Err() != nil || !bounded {
		l.removed = append(l.removed, "without its own time")
	}
	return &pluginv1.RemoveResponse{}, nil
}

func (l *latePlugin) setLate(late bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.late = late
}

func (l *latePlugin) wantRemoved(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Equal(l.removed, want) {
		t.Errorf("removed %v, want %v", l.removed, want)
	}
}

// TestUnansweredConfigureIsUndone: whoever does not wait for an instance any more has the plugin remove it.
func TestUnansweredConfigureIsUndone(t *testing.T) {
	h := testplugin.NewHost(t, func(c *host.Config) { c.StartTimeout = time.Minute })
	calledOff := func(t *testing.T, p *host.Process, l *latePlugin, meanwhile func()) {
		t.Helper()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		l.asked = func() {
			meanwhile()
			cancel()
		}
		if _, err := p.Configure(ctx, config("a", `{}`)); status.Code(err) != codes.Canceled {
			t.Errorf("got %v", err)
		}
	}
	t.Run("canceled", func(t *testing.T) {
		l := &latePlugin{late: true}
		p, _ := host.NewServedProcess(h, l)
		calledOff(t, p, l, func() {})
		l.wantRemoved(t, "a")
	})
	t.Run("deadline", func(t *testing.T) {
		l := &latePlugin{late: true, asked: func() {}}
		p, _ := host.NewServedProcess(h, l)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if _, err := p.Configure(ctx, config("a", `{}`)); status.Code(err) != codes.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
		l.wantRemoved(t, "a")
	})
	t.Run("accepted before", func(t *testing.T) {
		l := &latePlugin{}
		p, _ := host.NewServedProcess(h, l)
		configure(t, p, "a", `{}`)
		l.setLate(true)
		calledOff(t, p, l, func() {})
		l.wantRemoved(t)
	})
	t.Run("configured anew", func(t *testing.T) {
		l := &latePlugin{late: true}
		p, _ := host.NewServedProcess(h, l)
		calledOff(t, p, l, func() {
			l.setLate(false)
			configure(t, p, "a", `{}`)
		})
		l.wantRemoved(t)
	})
	t.Run("being configured anew", func(t *testing.T) {
		l := &latePlugin{late: true}
		p, _ := host.NewServedProcess(h, l)
		begun, end := make(chan struct{}), make(chan struct{})
		calledOff(t, p, l, func() {
			ctx, cancel := context.WithCancel(t.Context())
			l.mu.Lock()
			l.asked = func() { close(begun) }
			l.mu.Unlock()
			go func() {
				defer close(end)
				_, _ = p.Configure(ctx, config("a", `{}`))
			}()
			<-begun
			t.Cleanup(func() {
				cancel()
				<-end
			})
		})
		l.wantRemoved(t)
	})
	t.Run("another life", func(t *testing.T) {
		l, next := &latePlugin{late: true}, &latePlugin{}
		p, replace := host.NewServedProcess(h, l)
		calledOff(t, p, l, func() { replace(next) })
		l.wantRemoved(t)
		next.wantRemoved(t)
	})
}
