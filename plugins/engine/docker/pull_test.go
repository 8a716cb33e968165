package docker_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/dockertest"
	"github.com/patchbay-dev/patchbay/sdk/engine"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func ignore(engine.PullProgress) error { return nil }

func TestPull(t *testing.T) {
	c := open(t, "{}")
	const password = "geheim-4711-0815"
	reg := dockertest.Registry(t, dockertest.RegistryOptions{User: "tester", Password: password})
	const size = 4 << 20
	digest := dockertest.App(t, reg, "demo/app", "1", dockertest.Behaviour{Version: "1", PadBytes: size})
	tagged, digested := reg.Host+"/demo/app:1", reg.Host+"/demo/app@"+digest
	wrong := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(wrong, []byte(`{"auths":{"`+reg.Host+`":{"username":"tester","password":"wrong-`+password+`"}}}`),
		0o600); err != nil {
		t.Fatal(err)
	}
	for _, ref := range []string{tagged, digested} {
		var last engine.PullProgress
		img, err := c.Pull(t.Context(), engine.PullRequest{Ref: ref, DockerConfig: reg.DockerConfig, Platform: "linux/amd64"},
			func(p engine.PullProgress) error {
				last = p
				return nil
			})
		if err != nil {
			t.Fatal(err)
		}
		if img.RepoDigests[0] != digested || img.Labels["org.opencontainers.image.version"] != "1" {
			t.Errorf("%+v", img)
		}
		if len(last.Active) != 0 || last.Status == "" {
			t.Errorf("%s: the last report is %+v", ref, last)
		}
		// The second pull finds the image there.
		if ref == tagged && (last.TotalLayers != 1 || last.CompletedLayers != 1 || last.TotalBytes < size ||
			last.CurrentBytes != last.TotalBytes) {
			t.Errorf("the last report is %+v", last)
		}
	}
	for _, tt := range []struct {
		name, ref, config string
		code              codes.Code
		source            errs.Source
	}{
		{"no such tag", reg.Host + "/demo/app:none", reg.DockerConfig, codes.NotFound, errs.Upstream},
		{"no such digest", reg.Host + "/demo/app@sha256:" + strings.Repeat("0", 64), reg.DockerConfig, codes.NotFound, errs.Upstream},
		{"no such repository", reg.Host + "/demo/none:1", reg.DockerConfig, codes.NotFound, errs.Upstream},
		{"no credentials", tagged, "", codes.Unauthenticated, errs.Upstream},
		{"wrong credentials", tagged, wrong, codes.Unauthenticated, errs.Upstream},
		{"no such configuration", tagged, wrong + ".none", codes.InvalidArgument, errs.Caller},
		{"no registry", "127.0.0.1:1/demo/app:1", "", codes.Unavailable, errs.Upstream},
		{"no reference", "Not/A Ref", "", codes.InvalidArgument, errs.Caller},
		{"upper case", reg.Host + "/DEMO/app:1", "", codes.InvalidArgument, errs.Caller},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Pull(t.Context(), engine.PullRequest{Ref: tt.ref, DockerConfig: tt.config}, ignore)
			wantError(t, err, tt.code, tt.source)
			if err != nil && strings.Contains(err.Error(), password) {
				t.Errorf("the error holds the password: %v", err)
			}
		})
	}
	t.Run("another platform", func(t *testing.T) {
		_, err := c.Pull(t.Context(), engine.PullRequest{Ref: tagged, DockerConfig: reg.DockerConfig, Platform: "linux/s390x"}, ignore)
		// An engine may take an image without an index for any platform.
		if err == nil {
			return
		}
		wantError(t, err, codes.NotFound, errs.Upstream)
	})
}

// statusRegistry returns the address of a registry that answers every request for a manifest with one status.
func statusRegistry(t *testing.T, status int, body string) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/" {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Retry-After", "120")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

func TestPullRefusals(t *testing.T) {
	c := open(t, "{}")
	for name, tt := range map[string]struct {
		status int
		body   string
		code   codes.Code
	}{
		"limited": {429, `{"errors":[{"code":"TOOMANYREQUESTS","message":"You have reached your pull rate limit."}]}`,
			codes.ResourceExhausted},
		"limited, no reason": {429, `slow down`, codes.ResourceExhausted},
		"denied": {403, `{"errors":[{"code":"DENIED","message":"requested access to the resource is denied"}]}`,
			codes.Unauthenticated},
		"broken":   {500, `{}`, codes.Unavailable},
		"nonsense": {200, `<html>`, codes.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := statusRegistry(t, tt.status, tt.body)
			_, err := c.Pull(t.Context(), engine.PullRequest{Ref: host + "/demo/app:1"}, ignore)
			wantError(t, err, tt.code, errs.Upstream)
		})
	}
}

func TestPullEndsWithItsCaller(t *testing.T) {
	c := open(t, "{}")
	// The registry does not answer for the manifest while the test runs.
	asked, over := make(chan struct{}, 100), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v2/" {
			asked <- struct{}{}
			<-over
		}
	}))
	defer srv.Close()
	defer close(over)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	_, err := c.Pull(ctx, engine.PullRequest{Ref: strings.TrimPrefix(srv.URL, "http://") + "/demo/app:1"}, ignore)
	if err == nil || errs.From(err).Code != codes.Canceled {
		t.Error(err)
	}
	reg := dockertest.Registry(t, dockertest.RegistryOptions{})
	dockertest.App(t, reg, "demo/app", "1", dockertest.Behaviour{Version: "1"})
	_, err = c.Pull(t.Context(), engine.PullRequest{Ref: reg.Host + "/demo/app:1"}, func(engine.PullProgress) error { return errEnough })
	if err != errEnough {
		t.Error(err)
	}
}
