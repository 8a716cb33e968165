package releases_test

import (
	"context"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/brief"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	hosts "github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/services/releases/translate"
	"github.com/patchbay-dev/patchbay/core/store"
)

// TestNoQueryScans: with many users, repositories and releases, every list, look-up and job finds its rows by an index. Left out are the
// count of all repositories for metrics and administrators, the preferences of all users for the briefs of a day, and the limits of code
// hosts, of which each account has one: who asks wants all of them. So does who looks for the users who want to hear of a release: the
// index that is read from end to end has these users alone.
func TestNoQueryScans(t *testing.T) {
	testkit.ForEachDialect(t, func(t *testing.T, cfg store.Config) {
		st := testkit.OpenStore(t, cfg, auth.Migrations(), queue.Migrations(), notify.Migrations(), releases.Migrations())
		statements := testkit.WatchStatements(t, st)
		p := newPlanned(t, st)
		tables := fillReleases(t, st, p.now)
		for _, queries := range []map[string]func() error{p.repoQueries(t), p.feedQueries(t), p.accountQueries(t), p.textQueries(t)} {
			statements.CheckScans(t, st, queries, tables...)
		}
		p.checkFeed(t, tables)
	})
}

// repoQueries are those about repositories and their releases.
func (p *planned) repoQueries(t *testing.T) map[string]func() error {
	ctx, r := t.Context(), p.repos
	known := []repo.Release{{RemoteID: "e77", Hash: "h"}, {RemoteID: "e10077", Hash: "h"}}
	return map[string]func() error{
		"a repository":         func() error { _, err := r.Find(ctx, 77); return err },
		"a repository by name": func() error { _, err := r.FindByName(ctx, "codehost.main", "o77/r77"); return err },
		"a repository to see":  func() error { _, err := r.FindVisible(ctx, "usr_8", "o8/r8"); return ignore(err, repo.ErrNoRepo) },
		"saved repositories": func() error {
			return r.SaveAll(ctx, []*repo.Repo{{Host: "codehost.main", RemoteID: "r77", FullName: "o77/r77"},
				{Host: "codehost.main", RemoteID: "r78", FullName: "o78/new", Private: true}}, p.now)
		},
		"repositories that are due": func() error { _, err := r.Due(ctx, p.now, 300); return err },
		"what a user sees":          func() error { _, err := r.VisibleTo(ctx, "usr_8"); return err },
		"whether a user sees":       func() error { _, err := r.Sees(ctx, "usr_8", 77); return err },
		"whether a user sees any":   func() error { _, err := r.SeesAny(ctx, "usr_nobody"); return err },
		"stars":                     func() error { _, err := r.ListStarred(ctx, "usr_8", 100); return err },
		"followed":                  func() error { _, err := r.ListFollowed(ctx, "usr_8", 100); return err },
		"failing":                   func() error { _, err := r.ListFailing(ctx, 20); return err },
		"replaced stars":            func() error { return r.ReplaceStarred(ctx, "usr_8", "usr_8", []repo.Starred{{RepoID: 77}}) },
		"replaced own":              func() error { return r.ReplaceOwned(ctx, "usr_8", "usr_8", []int64{77}) },
		"replaced followed":         func() error { return r.ReplaceFollowed(ctx, "usr_8", []int64{78}) },
		"forgotten account":         func() error { return r.ForgetAccount(ctx, "usr_9", "usr_9") },
		"filter":                    func() error { return r.SetFilter(ctx, repo.Filter{UserID: "usr_8", RepoID: 77}) },
		"moved links":               func() error { return r.MoveLinks(ctx, 20_000, 78) },
		"published":                 func() error { _, err := r.ListPublished(ctx); return err },
		"a published one":           func() error { _, err := r.FindPublished(ctx, "o77/r77"); return ignore(err, repo.ErrNoRepo) },
		"unpublished":               func() error { return r.Unpublish(ctx, 77) },
		"releases of a repository": func() error {
			_, err := r.ListAfter(ctx, 77, &repo.Position{TS: p.now.UnixMilli(), ID: 1}, 30)
			return err
		},
		"a release":        func() error { _, _, err := r.FindRelease(ctx, 10); return err },
		"a page":           func() error { _, err := r.FindPage(ctx, "o77/r77", "v76"); return err },
		"a release by tag": func() error { _, _, err := r.FindByTag(ctx, "o77/r77", "v76"); return err },
		"the tag before": func() error {
			_, err := r.PreviousTag(ctx, repo.Release{ID: 76, RepoID: 77, TS: p.now.UnixMilli()})
			return err
		},
		"added releases":   func() error { _, err := r.AddReleases(ctx, 78, known, p.now, nil); return err },
		"other releases":   func() error { _, err := r.ListOthers(ctx, 78, map[string]bool{}); return err },
		"deleted releases": func() error { return r.DeleteReleases(ctx, 78, []string{"7800"}) },
		"changed releases": func() error { _, err := r.CountChanged(ctx, 77, p.now); return err },
		"words to index":   func() error { _, err := r.IndexMissing(ctx, 2); return err },
		"reactable":        func() error { _, err := r.ListReactable(ctx, "usr_8", []int64{76, 77, 78}); return err },
		"reactions":        func() error { return r.SetReactions(ctx, map[int64]map[string]int64{76: {"heart": 1}}) },
	}
}

// feedQueries are those about what a user reads.
func (p *planned) feedQueries(t *testing.T) map[string]func() error {
	ctx := t.Context()
	return map[string]func() error{
		"plan of a feed": func() error { _, err := p.feed.List(ctx, feed.Query{UserID: "usr_9", Limit: 30}); return err },
		"read":           func() error { return p.feed.SetRead(ctx, "usr_8", 77, true) },
		"unread":         func() error { return p.feed.SetRead(ctx, "usr_8", 77, false) },
		"what is read": func() error {
			return p.feed.MarkRead(ctx, "usr_8", []feed.Item{{Kind: feed.Release, Seq: 77}, {Kind: feed.Release, Seq: 78}})
		},
		"forgotten events": func() error { return p.feed.ForgetEvents(ctx, "usr_8", "usr_8") },
		"inbox":            func() error { _, err := p.state.ListNotifications(ctx, "usr_8", 50); return err },
		"a notification":   func() error { _, _, err := p.state.FindNotification(ctx, "usr_8", "t7"); return err },
		"unread inbox":     func() error { _, err := p.state.CountUnread(ctx, "usr_8"); return err },
		"a pause":          func() error { _, err := p.state.PausedUntil(ctx, "codehost.main", "usr_8", p.now); return err },
		"briefs":           func() error { _, err := p.briefs.List(ctx, "usr_8"); return err },
		"a brief":          func() error { _, err := p.briefs.Find(ctx, "usr_8", "brf_7"); return err },
		"missing briefs":   func() error { _, err := p.briefs.Missing(ctx, "usr_8", 8, time.UTC); return err },
		"awaiting briefs":  func() error { _, err := p.briefs.ListAwaiting(ctx, 10, 10); return err },
		"latest briefs":    func() error { _, err := p.briefs.LatestDates(ctx, p.now); return err },
		"briefs that name": func() error { _, err := p.briefs.Names(ctx, "usr_8", 77); return err },
	}
}

// accountQueries are those about accounts at code hosts.
func (p *planned) accountQueries(t *testing.T) map[string]func() error {
	ctx, a := t.Context(), p.accounts
	return map[string]func() error{
		"accounts":              func() error { _, err := a.List(ctx, "usr_8"); return err },
		"an account":            func() error { _, _, err := a.FindByID(ctx, "usr_8"); return err },
		"accounts by id":        func() error { _, err := a.ByIDs(ctx, []string{"usr_8", "usr_9"}); return err },
		"accounts that see":     func() error { _, err := a.Seeing(ctx, "usr_8", "codehost.main", 77); return err },
		"watchers":              func() error { _, err := a.WatchersOf(ctx, "codehost.main", 77); return err },
		"accounts that are due": func() error { _, err := a.Due(ctx, p.now, 20); return err },
		"schedule":              func() error { return a.SetDue(ctx, "usr_8", p.now) },
		"sign-in": func() error {
			return p.store.Tx(ctx, "sign in", func(ctx context.Context) error { _, _, err := a.LockSignIn(ctx, "codehost.main", "a8"); return err })
		},
		"begun sign-in": func() error {
			return a.AddSignIn(ctx, account.SignIn{State: "s", Browser: "b", Host: "codehost.main"}, p.now)
		},
		"ended sign-in":     func() error { _, _, err := a.TakeSignIn(ctx, "s", "b", p.now); return err },
		"preferences":       func() error { _, err := a.Preferences(ctx, "usr_8", account.Preferences{}); return err },
		"feed tokens":       func() error { _, err := a.ListFeedTokens(ctx, "usr_8"); return err },
		"a feed token":      func() error { _, _, err := a.FindFeedToken(ctx, "svc_ft_x"); return err },
		"forgotten account": func() error { return p.state.Forget(ctx, "usr_9", "usr_9") },
		"pause of a user":   func() error { _, err := p.syncer.PauseOf(ctx, "usr_8"); return err },
	}
}

// textQueries are those about translations.
func (p *planned) textQueries(t *testing.T) map[string]func() error {
	ctx, w := t.Context(), p.works
	release := int64(77)
	return map[string]func() error{
		"works by id":              func() error { _, err := w.List(ctx, []string{"tw_7", "tw_8"}); return err },
		"work of a job":            func() error { return w.ReleaseWorks(ctx, queue.Job{ID: "job7000"}) },
		"translations of releases": func() error { _, err := w.OfReleases(ctx, "zh-CN", []int64{release, 78}); return err },
		"ended translations":       func() error { _, err := w.EndedOf(ctx, "zh-CN", []int64{release, 78}); return err },
		"asked": func() error {
			_, _, err := w.Ask(ctx, []translate.Asked{{Demand: &translate.Demand{Source: translate.Source{Task: "translate", Language: "zh-CN",
				Title: "x"}}}})
			return err
		},
		"a request":    func() error { _, _, err := w.FindRequest(ctx, "usr_8", "tr_7"); return err },
		"what is old":  func() error { return w.DeleteOld(ctx) },
		"what waits":   func() error { return w.SubmitLeftOver(ctx) },
		"use of a day": func() error { _, err := w.UsageSince(ctx, p.now.Add(-24*time.Hour)); return err },
		"calls":        func() error { _, err := w.ListCalls(ctx, 10_000, 50); return err },
		"next batch": func() error {
			_, err := w.Handler().Run(ctx, &queue.Job{ID: "job_new"}, noProgress{})
			return err
		},
	}
}

// TestForeignKeysHaveIndexes: the database finds the rows that refer to a deleted one by an index. PostgreSQL looks for them with
// statements of its own, of which no plan tells. The keys are the same on both dialects, and SQLite lists them.
func TestForeignKeysHaveIndexes(t *testing.T) {
	st := testkit.OpenStore(t, testkit.SQLiteConfig(t), releases.Migrations())
	var without []string
	must(t, st.DB(t.Context()).Raw(`SELECT m.name || '.' || k."from" FROM sqlite_master m, pragma_foreign_key_list(m.name) k WHERE m.type = 'table'
		AND NOT EXISTS (SELECT 1 FROM pragma_index_list(m.name) i, pragma_index_info(i.name) c WHERE c.seqno = 0 AND c.name = k."from")
		AND NOT EXISTS (SELECT 1 FROM pragma_table_info(m.name) c WHERE c.pk = 1 AND c.name = k."from")`).Scan(&without).Error)
	if len(without) > 0 {
		t.Errorf("no index begins with %v", without)
	}
}

// checkFeed holds the statements of feeds, which do not go through gorm, against tables that they must not scan.
func (p *planned) checkFeed(t *testing.T, tables []string) {
	t.Helper()
	search, err := feed.ParseSearch("word77 after:2020-01-31")
	must(t, err)
	for name, q := range map[string]feed.Query{
		"all":          {},
		"releases":     {Types: feed.Types{Releases: true}},
		"stars":        {Types: feed.Types{Stars: true}},
		"followers":    {Types: feed.Types{Followers: true}},
		"a repository": {Scope: repo.Scope{Names: []string{"o77/r77"}}},
		"an owner":     {Scope: repo.Scope{OwnerKeys: []string{"o77"}}},
		"search":       {Search: search},
	} {
		q.UserID, q.Limit = "usr_8", 30
		m, err := p.feed.MarkQuery(t.Context(), q)
		must(t, err)
		m.Parts = append(m.Parts, hosts.NotificationMarkQuery("usr_8", 50).Parts...)
		m.Parts = append(m.Parts, brief.MarkQuery("usr_8", 50).Parts...)
		for _, part := range m.Parts {
			plan := testkit.Explain(t, p.store, testkit.Statement{SQL: p.store.Dialect().Bind(part.Rows), Vars: part.Values})
			if scanned := testkit.ScannedTables(plan, true, tables...); len(scanned) > 0 {
				t.Errorf("%s: %s\nscans %v:\n%s", name, part.Rows, scanned, plan)
			}
		}
	}
}
