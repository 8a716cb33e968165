package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// hasAbility reports whether the plugin has a capability.
func (r *codehostRun) hasAbility(capability string) bool {
	return slices.Contains(codehost.Capabilities(r.Kind.GetCapabilities()), capability)
}

// canAskHost reports whether the host can be asked: with a token, or because it knows none.
func (r *codehostRun) canAskHost() bool {
	return r.cfg.Token != "" || !r.hasAbility(codehost.CapViewer) && !r.hasAbility(codehost.CapWebhooks)
}

// optionalCalls checks that calls without their capability are refused.
func (r *codehostRun) optionalCalls(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, page := r.clientAt(r.MainID), codehost.PageRequest{}
	token := r.cfg.Token + "x"
	var found []error
	for _, call := range []struct {
		capability, name string
		make             func() error
	}{
		{codehost.CapWebhooks, "Hooks", func() error { return suite.ErrorAlone(c.Hooks(ctx, token, "owner/repo")) }},
		{codehost.CapViewer, "Viewer", func() error { return suite.ErrorAlone(c.Viewer(ctx, token)) }},
		{codehost.CapStarred, "ListStarred", func() error { return suite.ErrorAlone(c.ListStarred(ctx, token, page)) }},
		{codehost.CapReleases, "ListReleases", func() error { return suite.ErrorAlone(c.ListReleases(ctx, token, "owner/repo", page)) }},
		{codehost.CapTags, "ListTags", func() error { return suite.ErrorAlone(c.ListTags(ctx, token, "owner/repo", page)) }},
		{codehost.CapNotifications, "ListNotifications", func() error {
			return suite.ErrorAlone(c.ListNotifications(ctx, token, codehost.NotificationsRequest{}))
		}},
		{codehost.CapSocial, "ListFollowers", func() error { return suite.ErrorAlone(c.ListFollowers(ctx, token, page)) }},
		{codehost.CapEvents, "ListEvents", func() error { return suite.ErrorAlone(c.ListEvents(ctx, token, "login", page)) }},
		{codehost.CapAnnouncements, "ListAnnouncements", func() error {
			return suite.ErrorAlone(c.ListAnnouncements(ctx, token, []string{"owner/repo"}))
		}},
		{codehost.CapReactions, "ReadReactions", func() error { return suite.ErrorAlone(c.ReadReactions(ctx, token, []string{"node"})) }},
		{codehost.CapCompare, "Compare", func() error { return suite.ErrorAlone(c.Compare(ctx, token, "owner/repo", "v1", "v2")) }},
		{codehost.CapOAuth, "AuthorizeURL", func() error { return suite.ErrorAlone(c.AuthorizeURL(ctx, oauthRequest)) }},
	} {
		if !r.hasAbility(call.capability) {
			found = append(found, r.RequireUnsupported(call.name, r.InspectError(call.name, call.make())))
		}
	}
	return errors.Join(found...)
}

// maxListPages bounds the lists that are read to their end.
const maxListPages = 50

// readList reads a list to its end, and checks pages and ids. key returns the id of an item.
func readList[T any](r *codehostRun, name string, list func(codehost.PageRequest) (*codehost.Page[T], error),
	key func(T) string) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	req := codehost.PageRequest{Size: 2}
	for range maxListPages {
		page, err := list(req)
		if r.InspectError(name, err) != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.NoteSecrets(name, fmt.Sprintf("%+v", page))
		for _, item := range page.Items {
			if key(item) == "" || seen[key(item)] {
				return nil, fmt.Errorf("%s: the item %+v has no id, or stands twice", name, item)
			}
			seen[key(item)] = true
		}
		if err := r.checkCondition(name, req, page.Meta, func(req codehost.PageRequest) (codehost.Meta, int, error) {
			again, err := list(req)
			if err != nil {
				return codehost.Meta{}, 0, err
			}
			return again.Meta, len(again.Items), nil
		}); err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if page.NextCursor == "" {
			return all, nil
		}
		req = codehost.PageRequest{Cursor: page.NextCursor, Size: 2}
	}
	return nil, fmt.Errorf("%s: no end after %d pages", name, maxListPages)
}

// checkCondition checks that a first page which has validators is not modified when they are given back.
func (r *codehostRun) checkCondition(
	name string, req codehost.PageRequest, meta codehost.Meta, list func(codehost.PageRequest) (codehost.Meta, int, error),
) error {
	if req.Cursor != "" || meta.Validators == (codehost.Validators{}) {
		return nil
	}
	req.Validators = meta.Validators
	again, items, err := list(req)
	if r.InspectError(name, err) != nil {
		return fmt.Errorf("%s with validators: %w", name, err)
	}
	if !again.NotModified || items > 0 {
		return fmt.Errorf("%s: the same list with its validators should be not modified and empty; got %+v, %d items", name, again, items)
	}
	return nil
}

// checkReleases reads what a repository has.
func (r *codehostRun) checkReleases(ctx context.Context) error {
	if r.cfg.ReleasesOf == "" || !r.hasAbility(codehost.CapReleases) || !r.canAskHost() {
		return suite.Skip("no repository with releases is known")
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, token, repo := r.clientAt(r.MainID), r.cfg.Token, r.cfg.ReleasesOf
	about, err := c.FindRepository(ctx, token, repo)
	if r.InspectError("find repository", err) != nil {
		return err
	}
	if about.Repository.ID == "" || about.Repository.FullName == "" {
		return fmt.Errorf("the repository is %+v", about.Repository)
	}
	all, err := readList(r, "releases", func(p codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
		return c.ListReleases(ctx, token, repo, p)
	}, func(x codehost.Release) string { return x.ID })
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, isDraft)
	if len(all) < 2 {
		return fmt.Errorf("%s should have two published releases, it has %d", repo, len(all))
	}
	for i, x := range all {
		if x.TagName == "" || i > 0 && x.CreatedAt.After(all[i-1].CreatedAt) && x.PublishedAt.After(all[i-1].PublishedAt) {
			return fmt.Errorf("the release %q has no tag, or an earlier one stands before it", x.ID)
		}
	}
	if r.hasAbility(codehost.CapTags) {
		if _, err := readList(r, "tags", func(p codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
			return c.ListTags(ctx, token, repo, p)
		}, func(x codehost.Tag) string { return x.Name }); err != nil {
			return err
		}
	}
	return r.checkCompare(ctx, c, all)
}

// isDraft reports whether a release is a draft. Its tag need not exist, so that nothing else is asked of it.
func isDraft(r codehost.Release) bool { return r.Draft }

// checkCompare compares the latest release with the one before, and with one that is not there.
func (r *codehostRun) checkCompare(ctx context.Context, c *codehost.Client, all []codehost.Release) error {
	if !r.hasAbility(codehost.CapCompare) {
		return nil
	}
	got, err := c.Compare(ctx, r.cfg.Token, r.cfg.ReleasesOf, all[1].TagName, all[0].TagName)
	if r.InspectError("compare", err) != nil {
		return err
	}
	r.NoteSecrets("compare", fmt.Sprintf("%+v", got))
	if int64(len(got.Commits)) > got.TotalCommits {
		return fmt.Errorf("the comparison has %d commits of %d", len(got.Commits), got.TotalCommits)
	}
	_, err = c.Compare(ctx, r.cfg.Token, r.cfg.ReleasesOf, all[0].TagName, "conformance-no-such-tag")
	return suite.RequireUpstream("comparing with a tag that is not there", r.InspectError("compare", err), codes.NotFound)
}

// checkAccount reads what the account of the token has.
func (r *codehostRun) checkAccount(ctx context.Context) error {
	if r.cfg.Token == "" || !r.hasAbility(codehost.CapViewer) {
		return noToken
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, token := r.clientAt(r.MainID), r.cfg.Token
	viewer, err := c.Viewer(ctx, token)
	if r.InspectError("viewer", err) != nil {
		return err
	}
	if viewer.Account.ID == "" || viewer.Account.Login == "" {
		return fmt.Errorf("the viewer is %+v", viewer.Account)
	}
	if _, err := c.Viewer(ctx, ""); errs.From(err).Source != errs.Caller {
		return fmt.Errorf("without a token there is a viewer: %v", err)
	}
	if err := suite.RequireUpstream("a wrong token", r.InspectError("viewer", suite.ErrorAlone(c.Viewer(ctx, "wrong-token"))),
		codes.Unauthenticated, codes.PermissionDenied); err != nil {
		return err
	}
	return errors.Join(
		readOwn(ctx, r, codehost.CapStarred, "starred", c.ListStarred, func(x codehost.Starred) string { return x.Repository.ID }),
		readOwn(ctx, r, codehost.CapSocial, "owned", c.ListOwned, func(x codehost.Repository) string { return x.ID }),
		readOwn(ctx, r, codehost.CapSocial, "followers", c.ListFollowers, func(x codehost.Account) string { return x.ID }),
		readOwn(ctx, r, codehost.CapNotifications, "notifications",
			func(ctx context.Context, token schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Notification], error) {
				return c.ListNotifications(ctx, token, codehost.NotificationsRequest{PageRequest: p, All: true})
			}, func(x codehost.Notification) string { return x.ThreadID }),
		readOwn(ctx, r, codehost.CapEvents, "events",
			func(ctx context.Context, token schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
				return c.ListEvents(ctx, token, viewer.Account.Login, p)
			}, func(x codehost.Event) string { return x.ID }),
	)
}

// readOwn reads a list of the account if there is the capability for it.
func readOwn[T any](
	ctx context.Context, r *codehostRun, capability, name string,
	list func(context.Context, schema.Secret, codehost.PageRequest) (*codehost.Page[T], error), key func(T) string,
) error {
	if !r.hasAbility(capability) {
		return nil
	}
	_, err := readList(r, name, func(p codehost.PageRequest) (*codehost.Page[T], error) { return list(ctx, r.cfg.Token, p) }, key)
	return err
}

// checkReactions adds a reaction to a release and removes it, each twice.
func (r *codehostRun) checkReactions(ctx context.Context) error {
	if r.cfg.Token == "" || r.cfg.ReleasesOf == "" || !r.hasAbility(codehost.CapReactions) {
		return suite.Skip("no release to react to is known")
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c, token, content := r.clientAt(r.MainID), r.cfg.Token, "eyes"
	page, err := c.ListReleases(ctx, token, r.cfg.ReleasesOf, codehost.PageRequest{Size: 10})
	if r.InspectError("releases", err) != nil {
		return err
	}
	published := slices.DeleteFunc(page.Items, isDraft)
	if len(published) == 0 || published[0].NodeID == "" {
		return errors.New("a host with reactions gives no node id of a release")
	}
	id := published[0].NodeID
	for _, present := range []bool{true, true, false, false} {
		set, err := c.SetReaction(ctx, token, id, content, present)
		if r.InspectError("set reaction", err) != nil {
			return err
		}
		read, err := c.ReadReactions(ctx, token, []string{id, "conformance-no-such-node"})
		if r.InspectError("read reactions", err) != nil {
			return err
		}
		if len(read.Items) != 1 || slices.Contains(read.Items[0].Viewer, content) != present ||
			slices.Contains(set.Reactions.Viewer, content) != present {
			return fmt.Errorf("after setting %s to %v there is %+v, read is %+v", content, present, set.Reactions, read.Items)
		}
	}
	return nil
}
