package mail

import (
	"maps"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestDeployCheck: administrators have the deployment checked; local domains need no records.
func TestDeployCheck(t *testing.T) {
	r := newReceiver(t, testkit.SQLiteConfig(t))
	if got := r.call("ada:member", "GET", "/api/deploy-check", ""); got.status != 403 {
		t.Errorf("a member: %d", got.status)
	}
	if r.svc.LastDeployReport() != nil {
		t.Error("there is a report before anybody asked")
	}
	failed := map[string]string{}
	for _, c := range r.get("root:admin", "/api/deploy-check").list("checks") {
		if c["status"] == "fail" {
			failed[c["id"].(string)], _ = c["subject"].(string)
		}
	}
	// Nothing answers at the resolver of this service.
	want := map[string]string{"listener": "127.0.0.1:0", "mx": "inbox.test", "address": "mx.inbox.test", "certificate": "mx.inbox.test"}
	if !maps.Equal(failed, want) {
		t.Errorf("failed: %v, want %v", failed, want)
	}
	if last := r.svc.LastDeployReport(); last == nil || last.Failed() != len(want) {
		t.Errorf("kept: %+v", last)
	}
}
