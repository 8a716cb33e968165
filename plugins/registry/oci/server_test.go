package oci_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/plugins/registry/oci"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// server is a docker-registry on a loopback address.
type server struct{ host, dir string }

// newServer starts a registry over the files in dir; auth is its section of the configuration.
func newServer(t testing.TB, dir, auth string) *server {
	t.Helper()
	bin, err := exec.LookPath("docker-registry")
	testkit.Require(t, "docker-registry", err == nil, "install docker-registry")
	s := &server{host: testkit.FreeAddress(t), dir: dir}
	config := write(t, filepath.Join(t.TempDir(), "config.yml"), fmt.Sprintf(
		"version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage:\n  filesystem: {rootdirectory: %s}\nhttp: {addr: %q}\n%s", dir,
		s.host, auth))
	cmd := exec.Command(bin, "serve", config)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		conn, err := net.Dial("tcp", s.host)
		if err == nil {
			_ = conn.Close()
			return s
		}
		if time.Now().After(deadline) {
			t.Fatalf("the registry does not answer: %v", err)
		}
	}
}

func write(t testing.TB, path, content string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// image makes an image without layers; mark makes its digest its own.
func image(t testing.TB, platform registry.Platform, mark string) v1.Image {
	t.Helper()
	img, err := mutate.ConfigFile(mutate.MediaType(empty.Image, types.OCIManifestSchema1), &v1.ConfigFile{
		OS: platform.OS, Architecture: platform.Arch, Variant: platform.Variant,
		Created: v1.Time{Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)},
		Config:  v1.Config{Labels: map[string]string{"org.opencontainers.image.version": mark}},
		RootFS:  v1.RootFS{Type: "layers"},
	})
	if err != nil {
		t.Fatal(err)
	}
	return mutate.ConfigMediaType(img, types.OCIConfigJSON)
}

func platform(text string) registry.Platform {
	parts := append(strings.Split(text, "/"), "")
	return registry.Platform{OS: parts[0], Arch: parts[1], Variant: parts[2]}
}

func reference(t testing.TB, ref string) name.Reference {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

type hasDigest interface{ Digest() (v1.Hash, error) }

func digest(t testing.TB, of hasDigest) string {
	t.Helper()
	h, err := of.Digest()
	if err != nil {
		t.Fatal(err)
	}
	return h.String()
}

// push puts an image of one platform into the registry and returns its digest.
func (s *server) push(t testing.TB, repo, tag, on string) string {
	t.Helper()
	img := image(t, platform(on), repo+":"+tag)
	if err := remote.Write(reference(t, s.host+"/"+repo+":"+tag), img); err != nil {
		t.Fatal(err)
	}
	return digest(t, img)
}

// pushIndex puts an index into the registry, with an attestation, and returns its digest and those of the platforms.
func (s *server) pushIndex(t testing.TB, repo, tag string, on ...string) (string, map[string]string) {
	t.Helper()
	index, out := mutate.IndexMediaType(empty.Index, types.OCIImageIndex), map[string]string{}
	add := func(text string, d v1.Descriptor) {
		p := platform(text)
		img := image(t, p, repo+":"+tag+text)
		d.Platform = &v1.Platform{OS: p.OS, Architecture: p.Arch, Variant: p.Variant}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: d})
		out[text] = digest(t, img)
	}
	for _, text := range on {
		add(text, v1.Descriptor{})
	}
	add("unknown/unknown", v1.Descriptor{Annotations: map[string]string{"vnd.docker.reference.type": "attestation-manifest"}})
	if err := remote.WriteIndex(reference(t, s.host+"/"+repo+":"+tag), index); err != nil {
		t.Fatal(err)
	}
	delete(out, "unknown/unknown")
	return digest(t, index), out
}

// proxy stands before a registry: it counts requests, and answers itself where it is told to.
type proxy struct {
	host string

	mu      sync.Mutex
	got     []string
	instead func(w http.ResponseWriter, r *http.Request) bool
	change  func(*http.Response) error
}

func newProxy(t testing.TB, behind string) *proxy {
	t.Helper()
	p := &proxy{}
	target := &url.URL{Scheme: "http", Host: behind}
	forward := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(target) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 64, DisableCompression: true},
		ModifyResponse: func(r *http.Response) error {
			p.mu.Lock()
			change := p.change
			p.mu.Unlock()
			if change == nil {
				return nil
			}
			return change(r)
		},
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.mu.Lock()
		p.got = append(p.got, r.Method+" "+r.URL.RequestURI())
		instead := p.instead
		p.mu.Unlock()
		if instead == nil || !instead(w, r) {
			forward.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	p.host = strings.TrimPrefix(srv.URL, "http://")
	return p
}

// set says what is answered instead of the registry, and what is changed in its answers.
func (p *proxy) set(instead func(http.ResponseWriter, *http.Request) bool, change func(*http.Response) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.instead, p.change, p.got = instead, change, nil
}

// requests are those since the last call.
func (p *proxy) requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.got
	p.got = nil
	return out
}

// client configures an instance and calls it over the wire.
func client(t testing.TB, config string) *registry.Client {
	t.Helper()
	l := plugintest.Load(t, oci.Plugin())
	return registry.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, registry.Kind, "default", config)))
}
