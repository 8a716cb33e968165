package docker_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// TestStoppedByRequest: a container has ended by itself only if the engine remembers its end, and no request beside it.
func TestStoppedByRequest(t *testing.T) {
	const finished, never = "2024-01-02T03:04:05.678Z", "0001-01-01T00:00:00Z"
	event := func(action string) string {
		return `{"Type":"container","Action":"` + action + `","Actor":{"ID":"c1"}}`
	}
	for name, tt := range map[string]struct {
		finished, events string
		code             int
		want             bool
	}{
		"it has ended":              {finished, event("die"), http.StatusOK, false},
		"it was stopped":            {finished, event("kill") + event("die") + event("stop"), http.StatusOK, true},
		"the stop comes last":       {finished, event("die") + event("stop"), http.StatusOK, true},
		"it was sent a signal":      {finished, event("kill") + event("die"), http.StatusOK, true},
		"the engine has forgotten":  {finished, "", http.StatusOK, true},
		"the engine fails":          {finished, `{"message":"no"}`, http.StatusInternalServerError, true},
		"the answer breaks off":     {finished, event("die") + `{"Type":`, http.StatusOK, true},
		"it does not say when":      {"", event("die"), http.StatusOK, true},
		"it says that it never did": {never, event("die"), http.StatusOK, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Api-Version", "1.41")
				w.Header().Set("Content-Type", "application/json")
				switch {
				case strings.HasSuffix(r.URL.Path, "/events"):
					w.WriteHeader(tt.code)
					_, _ = w.Write([]byte(tt.events))
				case strings.HasSuffix(r.URL.Path, "/json"):
					_, _ = w.Write([]byte(`{"Id":"c1","Name":"/c1","State":{"Status":"exited","ExitCode":0,"FinishedAt":"` + tt.finished + `"}}`))
				}
			}))
			defer srv.Close()
			l := plugintest.Load(t, docker.Declare(executable))
			c := engine.NewClient(l.Conn, l.Configure(t,
				plugintest.Config(t, engine.Kind, "local", `{"host":"tcp://`+srv.Listener.Addr().String()+`"}`)))
			got, err := c.Inspect(t.Context(), "c1")
			if err != nil || got.StoppedByRequest != tt.want {
				t.Errorf("stopped by request is %v, want %v: %v", got != nil && got.StoppedByRequest, tt.want, err)
			}
		})
	}
}
