package app

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// TestProxySecretIsAskedFor: with a secret configured, the product believes names only beside it, and the deploy check is
// content; without it the check tells that the listener is open.
func TestProxySecretIsAskedFor(t *testing.T) {
	const shared = "a secret of the proxy"
	a := startApp(t, map[string]string{
		"SVC_AUTH_ALLOWED_USER": "alice", "SVC_AUTH_PROXY_SECRET": shared, "SVC_HTTP_ADDR": "0.0.0.0:0",
	})
	get := func(secret string) (int, string) {
		h := http.Header{"X-Forwarded-User": {"alice"}}
		if secret != "" {
			h.Set("X-Patchbay-Proxy-Secret", secret)
		}
		return caller{from: proxyAddr, header: h}.send(t, "http://"+a.Addr(), http.MethodGet, "/api/settings")
	}
	for secret, want := range map[string]int{"": http.StatusUnauthorized, "another": http.StatusUnauthorized, shared: http.StatusOK} {
		if status, code := get(secret); status != want {
			t.Errorf("with the secret %q: got %d %s", secret, status, code)
		}
	}
	if got := proxyCheck(t, a, shared); got != "na" {
		t.Errorf("with a secret: the check says %q", got)
	}
}

// TestOpenLoopbackIsReported: identities are believed from this machine while others reach the listener.
func TestOpenLoopbackIsReported(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_AUTH_ALLOWED_USER": "alice", "SVC_HTTP_ADDR": "0.0.0.0:0"})
	if got := proxyCheck(t, a, ""); got != "fail" {
		t.Errorf("the check says %q", got)
	}
}

// proxyCheck is the state of the check of trusted proxies in the deploy report.
func proxyCheck(t *testing.T, a *App, secret string) (status string) {
	t.Helper()
	testkit.Eventually(t, 20*time.Second, func() bool {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr()+"/api/deploy-check/report", nil)
		must(t, err)
		req.Header.Set("X-Forwarded-User", "alice")
		req.Header.Set("X-Patchbay-Proxy-Secret", secret)
		res, err := http.DefaultClient.Do(req)
		must(t, err)
		defer func() { _ = res.Body.Close() }()
		var rep struct {
			Checks []struct{ ID, Status string }
		}
		must(t, json.NewDecoder(res.Body).Decode(&rep))
		for _, c := range rep.Checks {
			if c.ID == "core.trusted_proxies" {
				status = c.Status
			}
		}
		return status != ""
	}, "the report is there")
	return status
}
