package oci_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// status answers with a status and a header.
func status(code int, header ...string) func(http.ResponseWriter, *http.Request) bool {
	return func(w http.ResponseWriter, _ *http.Request) bool {
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		return true
	}
}

func TestStatuses(t *testing.T) {
	later := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	p := newProxy(t, "127.0.0.1:1")
	c := client(t, "{}")
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		code   codes.Code
		after  time.Duration
	}{
		"limited":           {status(429), codes.ResourceExhausted, 0},
		"limited, seconds":  {status(429, "Retry-After", "90"), codes.ResourceExhausted, 90 * time.Second},
		"limited, date":     {status(429, "Retry-After", later), codes.ResourceExhausted, time.Hour},
		"limited, nonsense": {status(429, "Retry-After", "soon"), codes.ResourceExhausted, 0},
		"unauthorized":      {status(401), codes.Unauthenticated, 0},
		"digest challenge":  {status(401, "Www-Authenticate", `Digest realm="x"`), codes.Unauthenticated, 0},
		"forbidden":         {status(403), codes.PermissionDenied, 0},
		"missing":           {status(404), codes.NotFound, 0},
		"broken":            {status(500), codes.Unavailable, 0},
		"busy":              {status(503, "Retry-After", "7"), codes.Unavailable, 7 * time.Second},
		"odd":               {status(418), codes.Unavailable, 0},
	} {
		p.set(tt.answer, nil)
		_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:1"})
		e := errs.From(err)
		if e == nil || e.Code != tt.code || e.Source != errs.Upstream || (e.RetryAfter-tt.after).Abs() > 2*time.Second {
			t.Errorf("%s: %+v", name, e)
		} else if e.Upstream.GetHttpStatus() == 0 || e.Upstream.GetHost() != p.host {
			t.Errorf("%s: %v", name, e.Upstream)
		}
		want := []string{"HEAD /v2/app/manifests/1"}
		if tt.code == codes.NotFound {
			// Some registries answer HEAD alone so.
			want = append(want, "GET /v2/app/manifests/1")
		}
		if got := p.requests(); !slices.Equal(got, want) {
			t.Errorf("%s: requests %q: nothing is tried again", name, got)
		}
	}
}

// change makes a change to answers of one method.
func change(method string, do func(*http.Response)) func(*http.Response) error {
	return func(r *http.Response) error {
		if r.Request.Method == method {
			do(r)
		}
		return nil
	}
}

func replace(r *http.Response, edit func(string) string) {
	raw, _ := io.ReadAll(r.Body)
	text := edit(string(raw))
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
	r.Header.Del("Content-Length")
}

func TestNonsense(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	s.push(t, "app", "1", "linux/amd64")
	digest, _ := s.pushIndex(t, "app", "many", "linux/amd64")
	p := newProxy(t, s.host)
	c := client(t, "{}")
	other := "sha256:" + strings.Repeat("ab", 32)
	for name, edit := range map[string]func(*http.Response) error{
		"wrong digest in HEAD": change("HEAD", func(r *http.Response) { r.Header.Set("Docker-Content-Digest", other) }),
		"changed manifest":     change("GET", func(r *http.Response) { replace(r, func(s string) string { return s + " " }) }),
		"no JSON":              change("GET", func(r *http.Response) { replace(r, func(string) string { return "<html>" }) }),
		"cut": change("GET", func(r *http.Response) {
			r.Body = io.NopCloser(io.LimitReader(r.Body, 10))
		}),
		"too large": change("GET", func(r *http.Response) { replace(r, func(string) string { return strings.Repeat("x", 5<<20) }) }),
	} {
		for _, ref := range []string{":1", ":many", "@" + digest} {
			p.set(nil, edit)
			_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app" + ref})
			e := errs.From(err)
			if name == "wrong digest in HEAD" && ref[0] == ':' && e != nil && e.Code == codes.NotFound {
				continue
			}
			reason := errs.ReasonProtocol
			if name == "cut" {
				reason = errs.ReasonLost
			}
			if e == nil || e.Code != codes.Unavailable || e.Reason != reason || e.Source != errs.Upstream {
				t.Errorf("%s, %s: %v", name, ref, err)
			}
		}
	}
}

// A registry that does not tell the digest in HEAD is asked with GET.
func TestHeadThatTellsNothing(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	want, by := s.pushIndex(t, "app", "many", "linux/amd64")
	p := newProxy(t, s.host)
	c := client(t, "{}")
	refuse := func(status int) func(http.ResponseWriter, *http.Request) bool {
		return func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodHead {
				w.WriteHeader(status)
			}
			return r.Method == http.MethodHead
		}
	}
	silent := func(r *http.Response) error { r.Header.Del("Docker-Content-Digest"); return nil }
	for name, set := range map[string]func(){"silent": func() { p.set(nil, silent) },
		"refused":                func() { p.set(refuse(http.StatusMethodNotAllowed), nil) },
		"missing for HEAD alone": func() { p.set(refuse(http.StatusNotFound), nil) }} {
		set()
		got, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:many", Platform: "linux/amd64"})
		if err != nil || got.Digest != want || got.PlatformDigest != by["linux/amd64"] {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if got := p.requests(); !slices.Equal(got, []string{"HEAD /v2/app/manifests/many", "GET /v2/app/manifests/many"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

func TestUnreachable(t *testing.T) {
	p := newProxy(t, "127.0.0.1:1")
	p.set(func(_ http.ResponseWriter, r *http.Request) bool { <-r.Context().Done(); return true }, nil)
	closed := testkit.FreeAddress(t)
	c := client(t, `{"timeout":"100ms"}`)
	for host, reason := range map[string]string{p.host: errs.ReasonTimeout, closed: errs.ReasonConnect} {
		began := time.Now()
		_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: host + "/app:1"})
		if e := errs.From(err); e == nil || e.Code != codes.Unavailable || e.Source != errs.Upstream || e.Reason != reason {
			t.Errorf("%s: %v", host, err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: took %s", host, took)
		}
	}
}

// Blobs are often kept elsewhere; a private address must be in allow_hosts. What belongs to the registry is not sent there.
func TestBlobsElsewhere(t *testing.T) {
	dir := t.TempDir()
	want := newServer(t, dir, "").push(t, "app", "1", "linux/amd64")
	open := newServer(t, dir, "")
	file := write(t, filepath.Join(t.TempDir(), "htpasswd"), hashed)
	s := newServer(t, dir, fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s\n", file))
	elsewhere := newProxy(t, open.host)
	var leaked atomic.Bool
	elsewhere.set(func(_ http.ResponseWriter, r *http.Request) bool {
		leaked.Store(leaked.Load() || r.Header.Get("Authorization") != "")
		return false
	}, nil)
	p := newProxy(t, s.host)
	p.set(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.Contains(r.URL.Path, "/blobs/") || r.Header.Get("Authorization") == "" {
			return false
		}
		http.Redirect(w, r, "http://"+elsewhere.host+r.URL.Path, http.StatusTemporaryRedirect)
		return true
	}, nil)
	config := login(t, p.host, user, password)
	_, err := client(t, fmt.Sprintf(`{"docker_config":%q}`, config)).Config(t.Context(), registry.ConfigRequest{Ref: p.host + "/app:1"})
	if e := errs.From(err); e == nil || e.Reason != httpx.ReasonRefused || len(elsewhere.requests()) != 0 {
		t.Errorf("without allow_hosts: %v, %d requests", err, len(elsewhere.requests()))
	}
	c := client(t, fmt.Sprintf(`{"docker_config":%q,"allow_hosts":[%q]}`, config, elsewhere.host))
	got, err := c.Config(t.Context(), registry.ConfigRequest{Ref: p.host + "/app:1"})
	if err != nil || got.Digest != want || got.Arch != "amd64" {
		t.Errorf("%+v, %v", got, err)
	}
	if n := len(elsewhere.requests()); n != 1 || leaked.Load() {
		t.Errorf("%d requests, with credentials: %v", n, leaked.Load())
	}
}

// A helper that learns the password after a refusal is asked again.
func TestHelperIsAskedAgain(t *testing.T) {
	dir := t.TempDir()
	want := newServer(t, dir, "").push(t, "app", "1", "linux/amd64")
	file := write(t, filepath.Join(t.TempDir(), "htpasswd"), hashed)
	s := newServer(t, dir, fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s\n", file))
	bin := t.TempDir()
	helper := write(t, filepath.Join(bin, "docker-credential-late"),
		"#!/bin/sh\ncat \"${0%/*}/answer\" 2>/dev/null || { echo 'credentials not found in native keychain'; exit 1; }\n")
	if err := os.Chmod(helper, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	config := write(t, filepath.Join(t.TempDir(), "config.json"), `{"credsStore":"late"}`)
	c := client(t, fmt.Sprintf(`{"docker_config":%q}`, config))
	ask := func() error {
		_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: s.host + "/app:1", Known: []string{want}})
		return err
	}
	if e := errs.From(ask()); e == nil || e.Code != codes.Unauthenticated {
		t.Errorf("before: %v", e)
	}
	write(t, filepath.Join(bin, "answer"), fmt.Sprintf(`{"Username":%q,"Secret":%q}`, user, password))
	if err := ask(); err != nil {
		t.Errorf("after: %v", err)
	}
}

func TestRedirectsThatLeadNowhere(t *testing.T) {
	p := newProxy(t, "127.0.0.1:1")
	c := client(t, "{}")
	for name, location := range map[string]string{"itself": "", "a file": "file:///etc/passwd", "no address": "http://%zz/",
		"a user": "http://u:p@127.0.0.1/"} {
		p.set(func(w http.ResponseWriter, r *http.Request) bool {
			to := location
			if to == "" {
				to = r.URL.RequestURI()
			}
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
			return true
		}, nil)
		_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:1"})
		if e := errs.From(err); e == nil || e.Code != codes.Unavailable || e.Reason != errs.ReasonProtocol {
			t.Errorf("%s: %v", name, err)
		}
		if n := len(p.requests()); n > 6 {
			t.Errorf("%s: %d requests", name, n)
		}
	}
}

// TestArtifactIsNoImage: what is under a tag and is no image, such as a chart, is an error that says so: no engine can pull it.
func TestArtifactIsNoImage(t *testing.T) {
	body := `{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":{"mediaType":"application/vnd.cncf.helm.config.v1+json","digest":"sha256:` + strings.Repeat("a", 64) + `","size":2},"layers":[]}`
	p := newProxy(t, "127.0.0.1:1")
	p.set(func(w http.ResponseWriter, r *http.Request) bool {
		w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		if r.Method != http.MethodHead {
			_, _ = io.WriteString(w, body)
		}
		return true
	}, nil)
	_, err := client(t, "{}").Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/chart:1", Platform: "linux/amd64"})
	if e := errs.From(err); e == nil || e.Code != codes.FailedPrecondition || !strings.Contains(e.Message, "helm") {
		t.Errorf("%v", err)
	}
}
