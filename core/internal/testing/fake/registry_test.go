package fake_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func TestRegistry(t *testing.T) {
	r, ctx := fake.NewRegistry(), t.Context()
	platforms := []registry.Platform{{OS: "linux", Arch: "amd64", Digest: "sha256:aa"},
		{OS: "linux", Arch: "arm64", Variant: "v8", Digest: "sha256:bb"}}
	for _, tag := range []string{"1.0", "1.1", "latest"} {
		r.Set("one.example/app", tag, fake.Image{Digest: "sha256:" + tag, Platforms: platforms})
	}
	got, err := r.Resolve(ctx, registry.ResolveRequest{Ref: "one.example/app:1.0", Platform: "linux/arm64"})
	want := &registry.Resolved{Digest: "sha256:1.0", MediaType: "application/vnd.oci.image.index.v1+json", Detailed: true,
		Platforms: platforms, PlatformDigest: "sha256:bb"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, %s", err, diff)
	}
	if got, err = r.Resolve(ctx, registry.ResolveRequest{Ref: "one.example/app", Known: []string{"sha256:latest"}}); err != nil ||
		got.Detailed {
		t.Errorf("%+v, %v", got, err)
	}
	page, err := r.Tags(ctx, registry.TagsRequest{Repository: "one.example/app", Limit: 2})
	if err != nil || len(page.Tags) != 2 || page.Next == "" {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = r.Tags(ctx, registry.TagsRequest{Repository: "one.example/app", Limit: 2, Cursor: page.Next}); err != nil ||
		len(page.Tags) != 1 || page.Next != "" {
		t.Errorf("%+v, %v", page, err)
	}
	r.Fail("one.example", fake.RegistryLimited("one.example/app:1.0", time.Minute), nil)
	_, err = r.Resolve(ctx, registry.ResolveRequest{Ref: "one.example/app:1.0"})
	if client.CauseOf(err) != client.CauseLimited || fault.As(err).RetryAfter != time.Minute {
		t.Errorf("%v", err)
	}
	if _, err = r.Resolve(ctx, registry.ResolveRequest{Ref: "one.example/app:1.0"}); err != nil {
		t.Error(err)
	}
	r.Down("one.example", fake.RegistryUnreachable("one.example/app"))
	if _, err = r.Config(ctx, registry.ConfigRequest{Ref: "one.example/app:1.0"}); client.CauseOf(err) != client.CauseUnreachable {
		t.Errorf("%v", err)
	}
	if _, err = r.Resolve(ctx, registry.ResolveRequest{Ref: "two.example/app:1.0"}); client.CauseOf(err) != client.CauseMissing {
		t.Errorf("%v", err)
	}
	if n := len(r.Calls()); n != 8 {
		t.Errorf("%d calls", n)
	}
}
