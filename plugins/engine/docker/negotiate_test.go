package docker_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
)

// TestFirstCallsAtOnce: calls that are an instance's first together agree on one version with an old engine, and it is asked once.
func TestFirstCallsAtOnce(t *testing.T) {
	var mu sync.Mutex
	asked := map[string]int{}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.URL.Path]++
		mu.Unlock()
		w.Header().Set("Api-Version", "1.41")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[]"))
	}))
	defer srv.Close()
	l := plugintest.Load(t, docker.Declare(executable))
	id := l.Configure(t, plugintest.Config(t, engine.Kind, "local", `{"host":"tcp://`+srv.Listener.Addr().String()+`"}`))
	c := engine.NewClient(l.Conn, id)
	calls := []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := c.Containers(ctx, engine.Filter{Labels: []string{"role"}})
			return err
		},
		func(ctx context.Context) error {
			_, err := l.Plugin.Health(ctx, &pluginv1.HealthRequest{InstanceId: id})
			return err
		},
	}
	var done sync.WaitGroup
	for i := range 8 * len(calls) {
		done.Go(func() {
			if err := calls[i%len(calls)](t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	done.Wait()
	// Each check of the health is such a question as well.
	if n := asked["/_ping"]; n != 8+1 {
		t.Errorf("the engine was asked %d times for its version", n)
	}
	for path := range asked {
		if path != "/_ping" && !strings.HasPrefix(path, "/v1.41/") {
			t.Errorf("asked for %s", path)
		}
	}
}

// TestVersionIsNotTold: an engine behind a proxy that refuses the question for its version is asked in the client's own.
func TestVersionIsNotTold(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/_ping" {
			http.Error(w, "forbidden", http.StatusForbidden)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[]"))
	}))
	defer srv.Close()
	l := plugintest.Load(t, docker.Declare(executable))
	c := engine.NewClient(l.Conn, l.Configure(t,
		plugintest.Config(t, engine.Kind, "local", `{"host":"tcp://`+srv.Listener.Addr().String()+`"}`)))
	if _, err := c.Containers(t.Context(), engine.Filter{}); err != nil {
		t.Error(err)
	}
}
