package docker_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/engine/docker"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// TestEngineID: an engine that makes up an id for each call, as Podman does, is known by its machine.
func TestEngineID(t *testing.T) {
	var calls atomic.Int64
	for name, tt := range map[string]struct {
		id   func() string
		code int
		want string
	}{
		"Docker": {func() string { return "one" }, http.StatusOK, "one"},
		"Podman": {func() string { return fmt.Sprint("call ", calls.Add(1)) }, http.StatusOK, "host machine"},
		"proxy":  {func() string { return "" }, http.StatusForbidden, ""},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			w.Header().Set("Content-Type", "application/json")
			if !strings.HasSuffix(r.URL.Path, "/info") {
				_, _ = w.Write([]byte(`{"Version":"1.0","Os":"linux","Arch":"amd64"}`))
				return
			}
			w.WriteHeader(tt.code)
			_, _ = fmt.Fprintf(w, `{"ID":%q,"Name":"machine"}`, tt.id())
		}))
		defer srv.Close()
		config := plugintest.Config(t, engine.Kind, "local", `{"host":"tcp://`+srv.Listener.Addr().String()+`"}`)
		l := plugintest.Load(t, docker.Declare(executable))
		c := engine.NewClient(l.Conn, l.Configure(t, config))
		for range 2 {
			if info, err := c.Info(t.Context(), ""); err != nil || info.ID != tt.want {
				t.Errorf("%s: %+v, %v", name, info, err)
			}
		}
	}
}
