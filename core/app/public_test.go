package app

import (
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// TestPublicRoutes: what is open to everybody is listed here, so that nothing becomes so by mistake.
func TestPublicRoutes(t *testing.T) {
	a := startApp(t, nil)
	mounts, err := a.buildMounts(a.set)
	must(t, err)
	public := []string{
		"GET /", "GET /assets/", "GET /manifest.webmanifest", "GET /sw.js",
		"GET /system/sign-in", "POST /system/sign-in", "POST /system/sign-out", "GET /system/setup", "POST /system/setup",
		"POST /system/setup/look-around", "POST /system/preferences",
		"GET /system/openapi.json", "GET /system/api/docs", "GET /system/api/meta", "POST /system/api/auth/passkey/options",
		"POST /system/api/auth/passkey/verify",
		"POST /system/api/auth/session", "DELETE /system/api/auth/session", "POST /system/api/setup", "POST /system/api/setup/look-around",
		"POST /system/api/setup/check",
		"GET /openapi.json", "GET /docs", "GET /api/health", "GET /api/version", "GET /schemas/:name",
		"GET /search/openapi.json", "GET /search/docs", "GET /search/health", "GET /search/api/summary",
		"GET /mail/openapi.json", "GET /mail/docs", "GET /mail/api/meta", "POST /mail/api/auth/passkey/options",
		"POST /mail/api/auth/passkey/verify",
		"POST /mail/api/auth/session", "DELETE /mail/api/auth/session",
		"GET /releases/openapi.json", "GET /releases/docs", "OPTIONS /releases/api/*path", "GET /releases/sign-in",
		"GET /releases/sign-in/callback",
		"GET /releases/:owner/:repo/releases", "GET /releases/:owner/:repo/releases/tag/*tag",
		"GET /releases/api/public/repos/:owner/:repo/releases", "HEAD /releases/api/public/repos/:owner/:repo/releases",
	}
	for _, m := range mounts {
		for _, r := range m.Routes {
			at := r.Method + " " + strings.TrimSuffix(m.BaseURL, "/") + r.Path
			listed := slices.ContainsFunc(public, func(p string) bool {
				return at == p || (strings.HasSuffix(p, "/assets/") || strings.HasSuffix(p, "/docs")) &&
					strings.HasPrefix(at, strings.TrimSuffix(p, "/")+"/")
			})
			if (r.Policy == httpd.Public) != listed {
				t.Errorf("%s has the policy %s", at, r.Policy)
			}
		}
	}
}
