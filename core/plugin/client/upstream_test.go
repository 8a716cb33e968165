package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testplugin"
	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// newUpstreams starts the plugin with a registry and a code host. retire takes them away.
func newUpstreams(t *testing.T, timeout time.Duration, seen *[]string) (client.Registry, client.CodeHost, func()) {
	t.Helper()
	handles, retire := openUpstreams(t, timeout, registry.Kind, codehost.Kind)
	hear := func(_, operation string, _, _ time.Duration, _ error) { *seen = append(*seen, operation) }
	return client.NewRegistry(handles[0], hear), client.NewCodeHost(handles[1], hear), retire
}

// openUpstreams starts the plugin with an instance of each kind. retire takes them away.
func openUpstreams(t *testing.T, timeout time.Duration, kinds ...string) (handles []*catalog.Handle, retire func()) {
	t.Helper()
	var instances []catalog.Desired
	for _, kind := range kinds {
		instances = append(instances, catalog.Desired{Kind: kind, Name: "up", Spec: testplugin.Spec(testplugin.Upstream), Timeout: timeout})
	}
	return startInstances(t, instances...)
}

func TestRegistryFacade(t *testing.T) {
	var seen []string
	r, _, retire := newUpstreams(t, 300*time.Millisecond, &seen)
	ctx := t.Context()
	if hosts, err := r.Hosts(ctx); err != nil || len(hosts) != 1 {
		t.Errorf("%v, %v", hosts, err)
	}
	got, err := r.Resolve(ctx, registry.ResolveRequest{Access: registry.Access{DockerConfig: "/c"}, Ref: "one.example/a:1",
		Known: []string{"x", "y"}})
	want := &registry.Resolved{
		Digest: "sha256:1", MediaType: "/c", Detailed: true, PlatformDigest: "x,y",
		Platforms: []registry.Platform{{OS: "linux", Arch: "arm64", Variant: "v8", Digest: "sha256:2"}},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	page, err := r.Tags(ctx, registry.TagsRequest{Repository: "one.example/a", Cursor: "c", Limit: 5})
	if diff := cmp.Diff(&registry.TagsPage{Tags: []string{"a", "c"}, Next: "next"}, page); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	config, err := r.Config(ctx, registry.ConfigRequest{Ref: "one.example/a:1", Platform: "arm"})
	if err != nil || config.Arch != "arm" || config.Labels["a"] != "b" || config.Created.UnixMilli() != 1_700_000_000_123 {
		t.Errorf("%+v, %v", config, err)
	}
	if hosts, err := r.Credentials(ctx, registry.Access{}, []string{"a", "b"}); err != nil || len(hosts) != 1 {
		t.Errorf("%v, %v", hosts, err)
	}
	if diff := cmp.Diff([]string{"hosts", "resolve", "tags", "config", "credentials"}, seen); diff != "" {
		t.Error(diff)
	}
	retire()
	if _, err := r.Hosts(ctx); !errors.Is(err, catalog.ErrRetired) {
		t.Errorf("after a reload: %v", err)
	}
}

func TestUpstreamErrors(t *testing.T) {
	var seen []string
	r, h, _ := newUpstreams(t, 300*time.Millisecond, &seen)
	for _, tt := range []struct {
		end   string
		code  fault.Code
		cause client.Cause
		after time.Duration
	}{
		{testplugin.EndLimited, fault.UpstreamUnavailable, client.CauseLimited, testplugin.LimitedFor},
		{testplugin.EndDenied, fault.UpstreamUnavailable, client.CauseDenied, 0},
		{testplugin.EndMissing, fault.UpstreamUnavailable, client.CauseMissing, 0},
		{testplugin.EndDown, fault.UpstreamUnavailable, client.CauseUnreachable, 0},
		{testplugin.EndHang, fault.UpstreamUnavailable, client.CauseUnreachable, 0},
		{testplugin.EndPanic, fault.PluginUnavailable, client.CauseOther, 0},
	} {
		_, first := r.Resolve(t.Context(), registry.ResolveRequest{Ref: "one.example/" + tt.end})
		_, second := h.Hooks(t.Context(), "t", "a/"+tt.end)
		for _, err := range []error{first, second} {
			f := fault.As(err)
			if f == nil || f.Code != tt.code || client.CauseOf(err) != tt.cause || f.RetryAfter != tt.after {
				t.Errorf("%s: %q, %v", tt.end, client.CauseOf(err), err)
			}
		}
	}
	if _, err := r.Tags(t.Context(), registry.TagsRequest{Repository: "a"}); client.CauseOf(err) != client.CauseRefused ||
		fault.CodeOf(err) != fault.InvalidRequest {
		t.Errorf("no limit: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := r.Config(gone, registry.ConfigRequest{Ref: testplugin.EndHang}); fault.CodeOf(err) != fault.ClientClosedRequest {
		t.Errorf("a caller that left: %v", err)
	}
	_, err := r.Resolve(t.Context(), registry.ResolveRequest{Ref: testplugin.EndCrash})
	if fault.CodeOf(err) != fault.PluginUnavailable || client.CauseOf(err) != client.CauseOther {
		t.Errorf("a crash: %q, %v", client.CauseOf(err), err)
	}
	testkit.Eventually(t, within, func() bool { _, err := r.Hosts(t.Context()); return err == nil }, "the plugin is back")
}

func TestCodeHostFacade(t *testing.T) {
	var seen []string
	_, h, _ := newUpstreams(t, 5*time.Second, &seen)
	ctx := t.Context()
	got, err := h.Resolve(ctx, "token", "a")
	want := &codehost.Resolution{Kind: codehost.KindOwner, Owner: "a", Warnings: []string{"w"},
		Repos: []codehost.Repo{{FullName: "a/b", Visibility: "token", LastActivity: time.UnixMilli(1_700_000_000_123)}}}
	if diff := cmp.Diff(want, got, cmpopts.EquateApproxTime(0)); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	spec := codehost.HookSpec{URL: "https://one.example/", Secret: "s", Events: []string{"package"}, Active: true}
	made, err := h.CreateHook(ctx, "t", "a/b", spec)
	if diff := cmp.Diff(&codehost.Hook{ID: "1", URL: spec.URL, Events: spec.Events, Active: true, ContentType: "s"}, made); err != nil ||
		diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	changed, err := h.UpdateHook(ctx, "t", "a/b", "9", spec)
	if err != nil || changed.ID != "9" {
		t.Errorf("%+v, %v", changed, err)
	}
	hooks, err := h.Hooks(ctx, "t", "a/b")
	if err != nil || len(hooks) != 1 || !hooks[0].Active {
		t.Errorf("%+v, %v", hooks, err)
	}
	if err := h.DeleteHook(ctx, "t", "a/b", "1"); err != nil {
		t.Error(err)
	}
	d := codehost.Delivery{Event: "package", Body: []byte("published"), Secret: "s", Signature: "s"}
	hook, err := h.ParseWebhook(ctx, d)
	if diff := cmp.Diff(&codehost.Webhook{Event: "package", Action: "published", Owner: "a", FullName: "a/b", Package: "c",
		PackageType: "container", Tags: []string{"1"}, Digest: "sha256:1"}, hook); err != nil || diff != "" {
		t.Errorf("%v, %s", err, diff)
	}
	d.Signature = "x"
	if _, err := h.ParseWebhook(ctx, d); errs.From(err).Reason != codehost.ReasonInvalidSignature {
		t.Errorf("%v", err)
	}
	if diff := cmp.Diff([]string{"resolve", "createhook", "updatehook", "hooks", "deletehook", "parsewebhook", "parsewebhook"},
		seen); diff != "" {
		t.Error(diff)
	}
}
