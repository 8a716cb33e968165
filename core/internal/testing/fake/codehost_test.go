package fake_test

import (
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/fake"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

func TestCodeHost(t *testing.T) {
	h, ctx := fake.NewCodeHost("good"), t.Context()
	h.SetResolution("me", codehost.Resolution{Kind: codehost.KindOwner, Owner: "me", Repos: []codehost.Repo{{FullName: "me/app"}}})
	if r, err := h.Resolve(ctx, "good", "me"); err != nil || len(r.Repos) != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	if _, err := h.Resolve(ctx, "bad", "me"); client.CauseOf(err) != client.CauseDenied {
		t.Errorf("%v", err)
	}
	spec := codehost.HookSpec{URL: "https://one.example/hook", Secret: "s", Events: []string{codehost.EventPackage}, Active: true}
	hook, err := h.CreateHook(ctx, "good", "me/app", spec)
	if err != nil || h.SecretOf(hook.ID) != "s" {
		t.Fatalf("%+v, %v", hook, err)
	}
	if _, err := h.CreateHook(ctx, "good", "me/app", spec); client.CauseOf(err) != client.CauseRefused {
		t.Errorf("%v", err)
	}
	spec.Active = false
	if hook, err = h.UpdateHook(ctx, "good", "me/app", hook.ID, spec); err != nil || hook.Active {
		t.Errorf("%+v, %v", hook, err)
	}
	if hooks, err := h.Hooks(ctx, "good", "me/app"); err != nil || len(hooks) != 1 {
		t.Errorf("%+v, %v", hooks, err)
	}
	for _, want := range []client.Cause{"", client.CauseMissing} {
		if err := h.DeleteHook(ctx, "good", "me/app", hook.ID); client.CauseOf(err) != want {
			t.Errorf("%v, want %q", err, want)
		}
	}
	h.Fail("me/app", fake.CodeHostError(503, 0))
	if _, err := h.Hooks(ctx, "good", "me/app"); client.CauseOf(err) != client.CauseUnreachable {
		t.Errorf("%v", err)
	}
	if _, err := h.ParseWebhook(ctx, codehost.Delivery{}); client.CauseOf(err) != client.CauseRefused {
		t.Errorf("%v", err)
	}
	if n := len(h.Calls()); n != 10 {
		t.Errorf("%d calls", n)
	}
}
