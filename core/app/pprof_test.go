package app

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/patchbay-dev/patchbay/core/settings"
)

// Profiles are served where they are asked for, and nowhere else.
func TestProfilesAreSwitchedOn(t *testing.T) {
	for on, want := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		a := &App{set: &settings.Settings{Core: settings.Core{Pprof: on}}, registry: prometheus.NewRegistry()}
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/heap", "/debug/pprof/trace?seconds=0.01"} {
			w := httptest.NewRecorder()
			a.adminHandler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
			if w.Code != want {
				t.Errorf("pprof %v: %s answers with %d, want %d", on, path, w.Code, want)
			}
		}
	}
}

func TestPprofSetting(t *testing.T) {
	a := startApp(t, map[string]string{"SVC_PPROF": "true"})
	for at, want := range map[string]int{a.AdminAddr(): http.StatusOK, a.Addr(): http.StatusNotFound} {
		res, err := http.Get("http://" + at + "/debug/pprof/")
		must(t, err)
		must(t, res.Body.Close())
		if res.StatusCode != want {
			t.Errorf("%s answers with %d, want %d", at, res.StatusCode, want)
		}
	}
}
