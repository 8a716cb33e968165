package oci_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

const (
	mediaIndex    = "application/vnd.oci.image.index.v1+json"
	mediaManifest = "application/vnd.oci.image.manifest.v1+json"
)

func TestResolve(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	p := newProxy(t, s.host)
	c := client(t, "{}")
	single := s.push(t, "team/app", "single", "linux/arm64/v8")
	index, by := s.pushIndex(t, "team/app", "many", "linux/amd64", "linux/arm64/v8", "linux/arm/v6", "linux/arm/v7")
	all := []registry.Platform{
		{OS: "linux", Arch: "amd64", Digest: by["linux/amd64"]}, {OS: "linux", Arch: "arm64", Variant: "v8", Digest: by["linux/arm64/v8"]},
		{OS: "linux", Arch: "arm", Variant: "v6", Digest: by["linux/arm/v6"]},
		{OS: "linux", Arch: "arm", Variant: "v7", Digest: by["linux/arm/v7"]},
	}
	for _, tt := range []struct {
		id, platform string
		want         *registry.Resolved
	}{
		{":many", "linux/amd64", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all,
			PlatformDigest: by["linux/amd64"]}},
		{":many", "linux/arm64", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all,
			PlatformDigest: by["linux/arm64/v8"]}},
		{":many", "linux/aarch64", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all,
			PlatformDigest: by["linux/arm64/v8"]}},
		{":many", "linux/arm/v7", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all,
			PlatformDigest: by["linux/arm/v7"]}},
		{":many", "linux/arm", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all}},
		{":many", "windows/amd64", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all}},
		{":many", "", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all}},
		{"@" + index, "linux/amd64", &registry.Resolved{Digest: index, MediaType: mediaIndex, Detailed: true, Platforms: all,
			PlatformDigest: by["linux/amd64"]}},
		{":single", "linux/amd64", &registry.Resolved{Digest: single, MediaType: mediaManifest, Detailed: true, PlatformDigest: single,
			Platforms: []registry.Platform{{OS: "linux", Arch: "arm64", Variant: "v8", Digest: single}}}},
	} {
		got, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/team/app" + tt.id, Platform: tt.platform})
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s %s: %v, %s", tt.id, tt.platform, err, diff)
		}
	}
	p.requests()
	got, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/team/app:many", Known: []string{"sha256:x", index}})
	if diff := cmp.Diff(&registry.Resolved{Digest: index, MediaType: mediaIndex}, got); err != nil || diff != "" {
		t.Errorf("known: %v, %s", err, diff)
	}
	if got := p.requests(); !slices.Equal(got, []string{"HEAD /v2/team/app/manifests/many"}) {
		t.Errorf("a known digest costs %q", got)
	}
}

// TestAskedConditionally: a registry that gives ETags is asked whether its answer has changed, and the result is the same.
func TestAskedConditionally(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	p := newProxy(t, s.host)
	c := client(t, "{}")
	var got []string
	watch := func(w http.ResponseWriter, r *http.Request) bool {
		got = append(got, r.Method+" "+r.Header.Get("If-None-Match"))
		return false
	}
	statuses := func(resp *http.Response) error {
		got = append(got, resp.Status)
		return nil
	}
	quote := func(digest string) string { return `"` + digest + `"` }
	first := s.push(t, "app", "1", "linux/amd64")
	resolve := func(want string, asked ...string) {
		t.Helper()
		got = nil
		res, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:1", DigestOnly: true})
		if diff := cmp.Diff(&registry.Resolved{Digest: want, MediaType: mediaManifest}, res); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
		if !slices.Equal(got, asked) {
			t.Errorf("asked %q, want %q", got, asked)
		}
	}
	p.set(watch, statuses)
	resolve(first, "HEAD ", "200 OK")
	resolve(first, "HEAD "+quote(first), "304 Not Modified")
	second := s.push(t, "app", "1", "linux/arm64")
	resolve(second, "HEAD "+quote(first), "200 OK")
	resolve(second, "HEAD "+quote(second), "304 Not Modified")
	// A registry whose ETag is not the digest is asked as before.
	for _, etag := range []string{"", `"1"`} {
		p.set(watch, func(resp *http.Response) error {
			resp.Header.Set("Etag", etag)
			return nil
		})
		next := s.push(t, "app", "1", "linux/s390x/v"+strconv.Itoa(len(etag)))
		resolve(next, "HEAD "+quote(second))
		resolve(next, "HEAD ")
		p.set(watch, nil)
		second = s.push(t, "app", "1", "linux/arm64")
		resolve(second, "HEAD ")
	}
}

func TestWhatDoesNotExist(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	s.push(t, "app", "1", "linux/amd64")
	s.pushIndex(t, "app", "many", "linux/amd64", "linux/arm64")
	c := client(t, "{}")
	for _, do := range []func() error{
		func() error {
			_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: s.host + "/app:2"})
			return err
		},
		func() error {
			_, err := c.Config(t.Context(), registry.ConfigRequest{Ref: s.host + "/none:1"})
			return err
		},
		func() error {
			_, err := c.Config(t.Context(), registry.ConfigRequest{Ref: s.host + "/app:many", Platform: "linux/s390x"})
			return err
		},
		func() error {
			_, err := c.Tags(t.Context(), registry.TagsRequest{Repository: s.host + "/none", Limit: 10})
			return err
		},
	} {
		e := errs.From(do())
		if e == nil || e.Code != codes.NotFound || e.Source != errs.Upstream || e.Upstream.GetHttpStatus() == 0 {
			t.Errorf("got %+v", e)
		}
	}
}

func TestBadInput(t *testing.T) {
	c := client(t, `{"hosts":["one.example","docker.io"]}`)
	hosts, err := c.Hosts(t.Context())
	if diff := cmp.Diff([]string{"one.example", "docker.io"}, hosts); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	for name, err := range map[string]error{
		"upper case":   second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "one.example/App:1"})),
		"scheme":       second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "https://one.example/app:1"})),
		"other host":   second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "two.example/app:1"})),
		"climbing":     second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "one.example/../app:1"})),
		"short digest": second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "one.example/app@sha256:abc"})),
		"platform":     second(c.Resolve(t.Context(), registry.ResolveRequest{Ref: "one.example/app:1", Platform: "linux"})),
		"long":         second(c.Config(t.Context(), registry.ConfigRequest{Ref: "one.example/" + strings.Repeat("a/", 5000) + "x"})),
		"tag":          second(c.Tags(t.Context(), registry.TagsRequest{Repository: "one.example/app:1", Limit: 1})),
		"limit":        second(c.Tags(t.Context(), registry.TagsRequest{Repository: "one.example/app", Limit: registry.MaxTags + 1})),
		"no limit":     second(c.Tags(t.Context(), registry.TagsRequest{Repository: "one.example/app"})),
		"cursor":       second(c.Tags(t.Context(), registry.TagsRequest{Repository: "one.example/app", Limit: 1, Cursor: "x"})),
		"no config": second(c.Resolve(t.Context(),
			registry.ResolveRequest{Ref: "one.example/app:1", Access: registry.Access{DockerConfig: "/none/config.json"}})),
	} {
		if e := errs.From(err); name != "no config" && (e == nil || e.Source != errs.Caller || e.Code != codes.InvalidArgument) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestConfig(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	single := s.push(t, "app", "1", "linux/arm64/v8")
	_, by := s.pushIndex(t, "app", "many", "linux/amd64", "linux/arm64/v8")
	_, one := s.pushIndex(t, "app", "one", "linux/riscv64")
	c := client(t, "{}")
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		tag, platform string
		want          registry.ImageConfig
	}{
		{"1", "", registry.ImageConfig{Digest: single, OS: "linux", Arch: "arm64", Variant: "v8"}},
		{"1", "linux/amd64", registry.ImageConfig{Digest: single, OS: "linux", Arch: "arm64", Variant: "v8"}},
		{"many", "linux/amd64", registry.ImageConfig{Digest: by["linux/amd64"], OS: "linux", Arch: "amd64"}},
		{"many", "linux/arm64", registry.ImageConfig{Digest: by["linux/arm64/v8"], OS: "linux", Arch: "arm64", Variant: "v8"}},
		{"one", "", registry.ImageConfig{Digest: one["linux/riscv64"], OS: "linux", Arch: "riscv64"}},
	} {
		got, err := c.Config(t.Context(), registry.ConfigRequest{Ref: s.host + "/app:" + tt.tag, Platform: tt.platform})
		if err != nil {
			t.Fatalf("%s: %v", tt.tag, err)
		}
		if len(got.Labels) != 1 || !strings.HasPrefix(got.Labels["org.opencontainers.image.version"], "app:"+tt.tag) {
			t.Errorf("%s: labels %v", tt.tag, got.Labels)
		}
		got.Labels, tt.want.Created = nil, at
		if diff := cmp.Diff(&tt.want, got); diff != "" {
			t.Errorf("%s %s: %s", tt.tag, tt.platform, diff)
		}
	}
}

// allTags follows the cursors to the end.
func allTags(t *testing.T, c *registry.Client, repository string, limit int) (tags []string, pages int) {
	t.Helper()
	for cursor := ""; ; pages++ {
		page, err := c.Tags(t.Context(), registry.TagsRequest{Repository: repository, Limit: limit, Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		tags = append(tags, page.Tags...)
		if cursor = page.Next; cursor == "" {
			return tags, pages + 1
		}
		if pages > 100 {
			t.Fatal("there is no end")
		}
	}
}

func TestTags(t *testing.T) {
	s := newServer(t, t.TempDir(), "")
	var want []string
	for i := range 7 {
		want = append(want, fmt.Sprintf("1.0.%d", i))
		s.push(t, "app", want[i], "linux/amd64")
	}
	c := client(t, "{}")
	for _, limit := range []int{1, 3, 7, 100} {
		got, _ := allTags(t, c, s.host+"/app", limit)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("limit %d: %s", limit, diff)
		}
	}
}
