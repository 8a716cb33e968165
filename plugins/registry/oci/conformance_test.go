package oci_test

import (
	"net/http"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/registry/oci"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	newServer(t, dir, "").pushIndex(t, "team/app", "1.0", "linux/amd64", "linux/arm64/v8")
	ts := newTokens(t)
	s := newServer(t, dir, ts.section(t))
	slow := newProxy(t, s.host)
	slow.set(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, nil)
	limited, down := newProxy(t, s.host), newProxy(t, "127.0.0.1:1")
	limited.set(status(429, "Retry-After", "60"), nil)
	config := login(t, s.host, user, password)
	conformance.TestRegistry(t, oci.Plugin(), conformance.RegistryConfig{
		Invalid: []string{
			`{"timeout":"0s"}`, `{"timeout":"1h"}`, `{"hosts":["https://one.example"]}`, `{"hosts":["a/b"]}`, `{"insecure":["UPPER case"]}`,
			`{"docker_config":"/none/config.json"}`,
		},
		Access: registry.Access{DockerConfig: config},
		Ref:    s.host + "/team/app:1.0", Platform: "linux/arm64",
		Missing:  []string{s.host + "/team/app:2.0", s.host + "/none:1"},
		Failures: map[string]codes.Code{limited.host + "/a:1": codes.ResourceExhausted, down.host + "/a:1": codes.Unavailable},
		Slow:     slow.host + "/a:1",
		Secrets:  []string{password},
	})
}
