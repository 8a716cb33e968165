package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// able reports whether the plugin has a capability.
func (r *codehostRun) able(capability string) bool {
	return slices.Contains(codehost.Capabilities(r.kind.GetCapabilities()), capability)
}

// asks reports whether the host can be asked: with a token, or because it knows none.
func (r *codehostRun) asks() bool {
	return r.cfg.Token != "" || !r.able(codehost.CapViewer) && !r.able(codehost.CapWebhooks)
}

// optionalCalls checks that calls without their capability are refused.
func (r *codehostRun) optionalCalls(ctx context.Context) error {
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	c, page := r.at(r.main), codehost.PageRequest{}
	token := r.cfg.Token + "x"
	var found []error
	for _, call := range []struct {
		capability, name string
		make             func() error
	}{
		{codehost.CapWebhooks, "Hooks", func() error { return second(c.Hooks(ctx, token, "owner/repo")) }},
		{codehost.CapViewer, "Viewer", func() error { return second(c.Viewer(ctx, token)) }},
		{codehost.CapStarred, "ListStarred", func() error { return second(c.ListStarred(ctx, token, page)) }},
		{codehost.CapReleases, "ListReleases", func() error { return second(c.ListReleases(ctx, token, "owner/repo", page)) }},
		{codehost.CapTags, "ListTags", func() error { return second(c.ListTags(ctx, token, "owner/repo", page)) }},
		{codehost.CapNotifications, "ListNotifications", func() error {
			return second(c.ListNotifications(ctx, token, codehost.NotificationsRequest{}))
		}},
		{codehost.CapSocial, "ListFollowers", func() error { return second(c.ListFollowers(ctx, token, page)) }},
		{codehost.CapEvents, "ListEvents", func() error { return second(c.ListEvents(ctx, token, "login", page)) }},
		{codehost.CapAnnouncements, "ListAnnouncements", func() error {
			return second(c.ListAnnouncements(ctx, token, []string{"owner/repo"}))
		}},
		{codehost.CapReactions, "ReadReactions", func() error { return second(c.ReadReactions(ctx, token, []string{"node"})) }},
		{codehost.CapCompare, "Compare", func() error { return second(c.Compare(ctx, token, "owner/repo", "v1", "v2")) }},
		{codehost.CapOAuth, "AuthorizeURL", func() error { return second(c.AuthorizeURL(ctx, oauthRequest)) }},
	} {
		if !r.able(call.capability) {
			found = append(found, r.unsupported(call.name, r.saw(call.name, call.make())))
		}
	}
	return errors.Join(found...)
}

func second[T any](_ T, err error) error { return err }

// maxListPages bounds the lists that are read to their end.
const maxListPages = 50

// readList reads a list to its end, and checks pages and ids. key returns the id of an item.
func readList[T any](r *codehostRun, name string, list func(codehost.PageRequest) (*codehost.Page[T], error), key func(T) string) ([]T, error) {
	var all []T
	seen := map[string]bool{}
	req := codehost.PageRequest{Size: 2}
	for range maxListPages {
		page, err := list(req)
		if r.saw(name, err) != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.note(name, fmt.Sprintf("%+v", page))
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
	if r.saw(name, err) != nil {
		return fmt.Errorf("%s with validators: %w", name, err)
	}
	if !again.NotModified || items > 0 {
		return fmt.Errorf("%s: the same list with its validators should be not modified and empty; got %+v, %d items", name, again, items)
	}
	return nil
}

// releases reads what a repository has.
func (r *codehostRun) releases(ctx context.Context) error {
	if r.cfg.ReleasesOf == "" || !r.able(codehost.CapReleases) || !r.asks() {
		return skip("no repository with releases is known")
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	c, token, repo := r.at(r.main), r.cfg.Token, r.cfg.ReleasesOf
	about, err := c.FindRepository(ctx, token, repo)
	if r.saw("find repository", err) != nil {
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
	if r.able(codehost.CapTags) {
		if _, err := readList(r, "tags", func(p codehost.PageRequest) (*codehost.Page[codehost.Tag], error) {
			return c.ListTags(ctx, token, repo, p)
		}, func(x codehost.Tag) string { return x.Name }); err != nil {
			return err
		}
	}
	return r.compare(ctx, c, all)
}

// isDraft reports whether a release is a draft. Its tag need not exist, so that nothing else is asked of it.
func isDraft(r codehost.Release) bool { return r.Draft }

// compare compares the latest release with the one before, and with one that is not there.
func (r *codehostRun) compare(ctx context.Context, c *codehost.Client, all []codehost.Release) error {
	if !r.able(codehost.CapCompare) {
		return nil
	}
	got, err := c.Compare(ctx, r.cfg.Token, r.cfg.ReleasesOf, all[1].TagName, all[0].TagName)
	if r.saw("compare", err) != nil {
		return err
	}
	r.note("compare", fmt.Sprintf("%+v", got))
	if int64(len(got.Commits)) > got.TotalCommits {
		return fmt.Errorf("the comparison has %d commits of %d", len(got.Commits), got.TotalCommits)
	}
	_, err = c.Compare(ctx, r.cfg.Token, r.cfg.ReleasesOf, all[0].TagName, "conformance-no-such-tag")
	return r.upstream("comparing with a tag that is not there", r.saw("compare", err), codes.NotFound)
}

// account reads what the account of the token has.
func (r *codehostRun) account(ctx context.Context) error {
	if r.cfg.Token == "" || !r.able(codehost.CapViewer) {
		return noToken
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	c, token := r.at(r.main), r.cfg.Token
	viewer, err := c.Viewer(ctx, token)
	if r.saw("viewer", err) != nil {
		return err
	}
	if viewer.Account.ID == "" || viewer.Account.Login == "" {
		return fmt.Errorf("the viewer is %+v", viewer.Account)
	}
	if _, err := c.Viewer(ctx, ""); errs.From(err).Source != errs.Caller {
		return fmt.Errorf("without a token there is a viewer: %v", err)
	}
	if err := r.upstream("a wrong token", r.saw("viewer", second(c.Viewer(ctx, "wrong-token"))), codes.Unauthenticated, codes.PermissionDenied); err != nil {
		return err
	}
	return errors.Join(
		readOwn(ctx, r, codehost.CapStarred, "starred", c.ListStarred, func(x codehost.Starred) string { return x.Repository.ID }),
		readOwn(ctx, r, codehost.CapSocial, "owned", c.ListOwned, func(x codehost.Repository) string { return x.ID }),
		readOwn(ctx, r, codehost.CapSocial, "followers", c.ListFollowers, func(x codehost.Account) string { return x.ID }),
		readOwn(ctx, r, codehost.CapNotifications, "notifications", func(ctx context.Context, token schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Notification], error) {
			return c.ListNotifications(ctx, token, codehost.NotificationsRequest{PageRequest: p, All: true})
		}, func(x codehost.Notification) string { return x.ThreadID }),
		readOwn(ctx, r, codehost.CapEvents, "events", func(ctx context.Context, token schema.Secret, p codehost.PageRequest) (*codehost.Page[codehost.Event], error) {
			return c.ListEvents(ctx, token, viewer.Account.Login, p)
		}, func(x codehost.Event) string { return x.ID }),
	)
}

// readOwn reads a list of the account if there is the capability for it.
func readOwn[T any](
	ctx context.Context, r *codehostRun, capability, name string,
	list func(context.Context, schema.Secret, codehost.PageRequest) (*codehost.Page[T], error), key func(T) string,
) error {
	if !r.able(capability) {
		return nil
	}
	_, err := readList(r, name, func(p codehost.PageRequest) (*codehost.Page[T], error) { return list(ctx, r.cfg.Token, p) }, key)
	return err
}

// reactions adds a reaction to a release and removes it, each twice.
func (r *codehostRun) reactions(ctx context.Context) error {
	if r.cfg.Token == "" || r.cfg.ReleasesOf == "" || !r.able(codehost.CapReactions) {
		return skip("no release to react to is known")
	}
	ctx, cancel := r.bounded(ctx)
	defer cancel()
	c, token, content := r.at(r.main), r.cfg.Token, "eyes"
	page, err := c.ListReleases(ctx, token, r.cfg.ReleasesOf, codehost.PageRequest{Size: 10})
	if r.saw("releases", err) != nil {
		return err
	}
	published := slices.DeleteFunc(page.Items, isDraft)
	if len(published) == 0 || published[0].NodeID == "" {
		return errors.New("a host with reactions gives no node id of a release")
	}
	id := published[0].NodeID
	for _, present := range []bool{true, true, false, false} {
		set, err := c.SetReaction(ctx, token, id, content, present)
		if r.saw("set reaction", err) != nil {
			return err
		}
		read, err := c.ReadReactions(ctx, token, []string{id, "conformance-no-such-node"})
		if r.saw("read reactions", err) != nil {
			return err
		}
		if len(read.Items) != 1 || slices.Contains(read.Items[0].Viewer, content) != present || slices.Contains(set.Reactions.Viewer, content) != present {
			return fmt.Errorf("after setting %s to %v there is %+v, read is %+v", content, present, set.Reactions, read.Items)
		}
	}
	return nil
}
