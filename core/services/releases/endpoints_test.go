package releases_test

import (
	"net/http"
	"slices"
	"testing"
)

// TestEndpoints finds each of the 31 endpoints of the interface among the routes and in the document, and nobody without a key in them.
func TestEndpoints(t *testing.T) {
	s := startServer(t, sqlite(t))
	mount, err := s.service.MountAt("/releases")
	must(t, err)
	var routed []string
	for _, r := range mount.Routes {
		routed = append(routed, r.Method+" "+r.Path)
	}
	paths := s.want(200, "", s.ada, http.MethodGet, "/openapi.json", nil)["paths"].(dict)
	endpoints := []struct{ method, routed, documented string }{
		{"GET", "/api/me/api-keys", "/api/me/api-keys"},
		{"POST", "/api/me/api-keys", "/api/me/api-keys"},
		{"DELETE", "/api/me/api-keys/:id", "/api/me/api-keys/{id}"},
		{"GET", "/api/starred", "/api/starred"},
		{"GET", "/api/releases", "/api/releases"},
		{"GET", "/api/releases/:release_id/detail", "/api/releases/{release_id}/detail"},
		{"GET", "/api/repos/:owner/:repo/releases/tag/*rest", "/api/repos/{owner}/{repo}/releases/tag/{tag}/detail"},
		{"GET", "/api/notifications", "/api/notifications"},
		{"GET", "/api/briefs", "/api/briefs"},
		{"GET", "/api/briefs/:brief_id", "/api/briefs/{brief_id}"},
		{"GET", "/api/feed", "/api/feed"},
		{"GET", "/api/dashboard/updates", "/api/dashboard/updates"},
		{"POST", refreshPath, refreshPath},
		{"POST", togglePath, togglePath},
		{"POST", "/api/sync/starred", "/api/sync/starred"},
		{"POST", "/api/sync/releases", "/api/sync/releases"},
		{"POST", "/api/sync/notifications", "/api/sync/notifications"},
		{"POST", "/api/sync/all", "/api/sync/all"},
		{"POST", "/api/briefs/generate", "/api/briefs/generate"},
		{"GET", "/api/tasks/:task_id/events", "/api/tasks/{task_id}/events"},
		{"POST", "/api/translate/requests", "/api/translate/requests"},
		{"GET", "/api/translate/requests/:request_id", "/api/translate/requests/{request_id}"},
		{"GET", "/api/translate/requests/:request_id/stream", "/api/translate/requests/{request_id}/stream"},
		{"POST", "/api/translate/results", "/api/translate/results"},
		{"POST", "/api/translate/release", "/api/translate/release"},
		{"POST", "/api/translate/releases/batch", "/api/translate/releases/batch"},
		{"POST", "/api/translate/releases/batch/stream", "/api/translate/releases/batch/stream"},
		{"POST", "/api/translate/release/detail", "/api/translate/release/detail"},
		{"POST", "/api/translate/release/detail/batch", "/api/translate/release/detail/batch"},
		{"POST", "/api/translate/notification", "/api/translate/notification"},
		{"POST", "/api/translate/notifications/batch", "/api/translate/notifications/batch"},
	}
	if len(endpoints) != 31 {
		t.Fatalf("the interface has 31 endpoints, not %d", len(endpoints))
	}
	for _, e := range endpoints {
		if !slices.Contains(routed, e.method+" "+e.routed) {
			t.Errorf("there is no route %s %s", e.method, e.routed)
		}
		if ops, ok := paths[e.documented].(dict); !ok ||
			ops[map[string]string{"GET": "get", "POST": "post", "DELETE": "delete"}[e.method]] == nil {
			t.Errorf("the document has no %s %s", e.method, e.documented)
		}
		s.want(401, "unauthorized", "", e.method, e.documented, nil)
	}
}
