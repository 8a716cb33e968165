package app

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestPagesWarn: settings that are not for production stand on every page, for whoever looks.
func TestPagesWarn(t *testing.T) {
	for _, tc := range []struct {
		name string
		env  map[string]string
		want []string
		not  []string
	}{
		{"Neither", nil, nil, []string{"allow_anonymous_in_dev", "DEV_OPEN_ADMIN"}},
		{"Anonymous", map[string]string{"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "true"}, []string{"allow_anonymous_in_dev"},
			[]string{"DEV_OPEN_ADMIN"}},
		{"Open", map[string]string{"DEV_OPEN_ADMIN": "true"}, []string{"DEV_OPEN_ADMIN"}, []string{"allow_anonymous_in_dev"}},
		{"AnonymousButAllowlist", map[string]string{"SVC_AUTH_ALLOW_ANONYMOUS_IN_DEV": "true", "SVC_AUTH_ALLOWED_USER": "alice"}, nil,
			[]string{"allow_anonymous_in_dev"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			a := startApp(t, tc.env)
			for _, path := range []string{"/system", "/system/sign-in", "/search/tokens"} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+a.Addr()+path, nil)
				must(t, err)
				req.Header.Set("Accept", "text/html")
				res, err := http.DefaultClient.Do(req)
				must(t, err)
				raw, err := io.ReadAll(res.Body)
				must(t, err)
				must(t, res.Body.Close())
				page := string(raw)
				if !strings.Contains(page, "<main") {
					t.Fatalf("%s is no page: %d", path, res.StatusCode)
				}
				for _, w := range tc.want {
					if !strings.Contains(page, w) {
						t.Errorf("%s does not warn of %s", path, w)
					}
				}
				for _, w := range tc.not {
					if strings.Contains(page, w) {
						t.Errorf("%s warns of %s", path, w)
					}
				}
			}
		})
	}
}
