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

func TestCodeHostLists(t *testing.T) {
	h, ctx := fake.NewCodeHost("good"), t.Context()
	h.AddAccount("ada", codehost.Account{ID: "1", Login: "ada"})
	h.SetQuota(&codehost.Quota{Limit: 5, Remaining: 5})
	h.Change("me/app", func(c *fake.CodeHostContent) {
		c.Repository = &codehost.Repository{ID: "7", FullName: "me/app"}
		c.Releases = []codehost.Release{{ID: "2", NodeID: "n2", TagName: "v2"}, {ID: "1", TagName: "v1"}}
	})
	first, err := h.ListReleases(ctx, "ada", "me/app", codehost.PageRequest{Size: 1})
	if err != nil || len(first.Items) != 1 || first.Items[0].ID != "2" || first.NextCursor == "" || first.Quota.Remaining != 4 {
		t.Fatalf("%+v, %v", first, err)
	}
	same, err := h.ListReleases(ctx, "ada", "me/app", codehost.PageRequest{Size: 1, Validators: first.Validators})
	if err != nil || !same.NotModified || same.Quota.Remaining != 4 {
		t.Errorf("%+v, %v", same, err)
	}
	last, err := h.ListReleases(ctx, "ada", "me/app", codehost.PageRequest{Size: 1, Cursor: first.NextCursor})
	if err != nil || len(last.Items) != 1 || last.Items[0].ID != "1" || last.NextCursor != "" {
		t.Errorf("%+v, %v", last, err)
	}
	if got, err := h.SetReaction(ctx, "ada", "n2", "heart", true); err != nil || got.Reactions.Counts["heart"] != 1 ||
		len(got.Reactions.Viewer) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := h.ListReleases(ctx, "ada", "me/none", codehost.PageRequest{}); client.CauseOf(err) != client.CauseMissing {
		t.Errorf("%v", err)
	}
	h.SetQuota(&codehost.Quota{Limit: 5})
	if _, err := h.ListStarred(ctx, "ada", codehost.PageRequest{}); client.CauseOf(err) != client.CauseLimited {
		t.Errorf("%v", err)
	}
	h.SetAbilities(client.CodeHostAbilities{Releases: true})
	if _, err := h.ListStarred(ctx, "ada", codehost.PageRequest{}); client.CauseOf(err) != client.CauseRefused {
		t.Errorf("%v", err)
	}
}
