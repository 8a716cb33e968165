package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/patchbay-dev/patchbay/core/services/containers/host"
	"github.com/patchbay-dev/patchbay/sdk/engine"
)

// TestGathering: commands that are asked for while one runs are run as one, and each for itself where that fails.
func TestGathering(t *testing.T) {
	for _, fails := range []bool{false, true} {
		t.Run(fmt.Sprintf("fails %v", fails), func(t *testing.T) {
			var mu sync.Mutex
			var ran [][]string
			g, first, goOn := &gathering{}, make(chan struct{}), make(chan struct{})
			do := func(_ context.Context, call host.ComposeCall) error {
				mu.Lock()
				defer mu.Unlock()
				ran = append(ran, slices.Sorted(slices.Values(call.Services)))
				if len(ran) == 1 {
					close(first)
					<-goOn
				}
				if fails && slices.Contains(call.Services, "bad") {
					return errors.New("bad")
				}
				return nil
			}
			calls := []host.ComposeCall{
				{Action: engine.ActionRecreate, Services: []string{"first"}, Scale: map[string]int{"first": 1}},
				{Action: engine.ActionRecreate, Services: []string{"good"}},
				{Action: engine.ActionRecreate, Services: []string{"bad"}, Scale: map[string]int{"bad": 2}},
				{Action: engine.ActionRecreate, Services: []string{"stopped"}, NoStart: true},
			}
			errs := make([]error, len(calls))
			var all sync.WaitGroup
			for i, call := range calls {
				all.Go(func() { errs[i] = g.runCommand(context.Background(), nil, call, do) })
				if i == 0 {
					<-first
				}
			}
			for waiting := 0; waiting < 3; {
				g.mu.Lock()
				waiting = len(g.waiting)
				g.mu.Unlock()
			}
			close(goOn)
			all.Wait()
			has := func(names ...string) bool {
				return slices.ContainsFunc(ran, func(r []string) bool { return slices.Equal(r, names) })
			}
			if !has("first") || !has("bad", "good") || !has("stopped") || fails != (has("good") && has("bad")) {
				t.Errorf("ran %v", ran)
			}
			for i, err := range errs {
				if (err != nil) != (fails && i == 2) {
					t.Errorf("%v: %v", calls[i].Services, err)
				}
			}
		})
	}
}
