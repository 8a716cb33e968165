package releases_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/services/releases"
)

// startNodes starts servers of several cores on one database, with the same people and the same code host.
func startNodes(t *testing.T, count int, change ...func(*releases.Settings)) (nodes []*server) {
	t.Helper()
	url := testkit.Postgres(t)
	for i := range count {
		st := testkit.SharedStore(t, url, serverMigrations()...)
		s := startServerOn(t, st, testkit.OpenCluster(t, st, fmt.Sprintf("node-%d", i), true), change...)
		if i == 0 {
			s.addPeople()
		} else {
			s.ada, s.bob, s.adaID, s.adaCookie = nodes[0].ada, nodes[0].bob, nodes[0].adaID, nodes[0].adaCookie
		}
		nodes = append(nodes, s)
	}
	return nodes
}

// TestLimitsOfNodes: who goes from core to core may begin no more sign-ins, and read no more of what is public.
func TestLimitsOfNodes(t *testing.T) {
	nodes := startNodes(t, 2, withSignIn())
	for what, tt := range map[string]struct {
		burst int
		every time.Duration
		try   func(s *server) (refused bool)
	}{
		"sign-ins": {20, 6 * time.Second, func(s *server) bool {
			_, err := s.service.BeginSignIn(t.Context(), nil, from, "")
			return fault.CodeOf(err) == fault.RateLimited
		}},
		"public pages": {60, time.Second, func(s *server) bool { return s.send("", http.MethodGet, publicEngine, nil).status == 429 }},
	} {
		began, refused := time.Now(), 0
		for i := range 2 * tt.burst {
			if tt.try(nodes[i%2]) {
				refused++
			}
		}
		if more := int(time.Since(began)/tt.every) + 1; refused < tt.burst-more {
			t.Errorf("%s: %d of %d tries were refused, and at most %d more became free", what, refused, 2*tt.burst, more)
		}
	}
}
