package pages

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	service "github.com/patchbay-dev/patchbay/core/services/releases"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/translation"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
)

const (
	feedPath     = "/feed"
	releasesPath = "/releases"
	starsPath    = "/stars"
	followPath   = "/followers"
	briefsPath   = "/briefs"
	inboxPath    = "/inbox"
	reposPath    = "/repos"
	settingsPath = "/settings"
	focusPath    = "/focus"
	// accountsPath is that of the accounts at the code host.
	accountsPath = settingsPath + "/accounts"
	// feedsPath is that of the feeds for readers.
	feedsPath = settingsPath + "/feeds"
	// reactionsPath is followed by the id of a release.
	reactionsPath = "/reactions"
	// pageSize is how many items a page has.
	pageSize = 40
)

// feedPaths are the addresses of the feed: the tabs, and the focus pages with all items or with releases alone.
func feedPaths() []string {
	paths := []string{feedPath, releasesPath, starsPath, followPath}
	for _, focus := range []string{"/repo/:owner/:repo", "/repos", "/org/:org", "/mine"} {
		paths = append(paths, focusPath+focus, focusPath+focus+releasesPath)
	}
	return paths
}

// place is what the feed shows, as its address has it.
type place struct {
	feed.Choice
	// Path is that of the page below the service.
	Path string
}

// readPlace reads the address of a page.
func (p pages) readPlace(c *gin.Context) place {
	at := place{Path: strings.TrimPrefix(c.Request.URL.Path, p.base)}
	return at.setQuery(c.Query("cursor"), c.Query("items"), c.Query("q"))
}

// setQuery sets what a path and its query choose.
func (at place) setQuery(cursor, items, search string) place {
	at.Cursor, at.Limit, at.Search = cursor, pageSize, strings.TrimSpace(search)
	rest, focused := strings.CutPrefix(at.Path, focusPath+"/")
	if !focused {
		if at.Path != feedPath {
			at.Types = strings.TrimPrefix(at.Path, "/")
		}
		return at
	}
	if own, only := strings.CutSuffix(rest, releasesPath); only {
		rest, at.Types = own, "releases"
	}
	at.Scope, rest, _ = strings.Cut(rest, "/")
	switch at.Scope {
	case "repo":
		at.Items = rest
	case "repos":
		at.Items = items
	case "org":
		at.Org = rest
	}
	return at
}

// queryParts are the names and values of the address besides the path, without the cursor.
func (at place) queryParts() (parts []string) {
	if at.Scope == "repos" {
		parts = append(parts, "items", at.Items)
	}
	if at.Search != "" {
		parts = append(parts, "q", at.Search)
	}
	return parts
}

// pageAddress is where the page stands below the service, with its search and its place in the list.
func (at place) pageAddress() string {
	return ui.Address(at.Path, append(at.queryParts(), "cursor", at.Cursor)...)
}

// focusName names what the page is confined to, "" for nothing.
func (at place) focusName() string {
	if at.Scope == "repos" {
		return strings.ReplaceAll(at.Items, ",", ", ")
	}
	return at.Items + at.Org
}

// titleID is the id of the heading of the page.
func (at place) titleID() string {
	if at.Scope == "" && at.Types != "" {
		return "releases.tab." + at.Types
	}
	return "releases.nav.feed"
}

// dayGroup are the items of a day.
type dayGroup struct {
	Date  string
	Items []feed.Item
	// Brief is the id of the brief of the day, "" for none.
	Brief string
}

// feedView is what the feed shows.
type feedView struct {
	place
	Days []dayGroup
	// Filtered is how many repositories have a filter, if there is no item.
	Filtered int
	Next     string
	Status   service.Status
	// SearchError is what is wrong with the search, nil for nothing.
	SearchError *fault.Error
	Zone        *time.Location
	// Translated are the translations that there are, by the ids of releases.
	Translated map[int64]translation.Translated
}

// findTranslation returns a release in another language, nil if it is not translated.
func (w feedView) findTranslation(i feed.Item) *translation.TranslatedItem {
	t := w.Translated[i.Seq].Text
	if i.Kind != feed.Release || t == nil || t.Status != "ready" {
		return nil
	}
	return t
}

// readFeed reads a page of the feed.
func (p pages) readFeed(ctx context.Context, at place) (w feedView, err error) {
	w.place = at
	if w.Status, err = p.service.StatusOf(ctx); err != nil {
		return w, err
	}
	prefs, err := p.service.Preferences(ctx)
	if err != nil {
		return w, err
	}
	if w.Zone, err = time.LoadLocation(prefs.TimeZone); err != nil {
		return w, err
	}
	page, err := p.service.ListFeedAndReads(ctx, at.Choice)
	if f := fault.As(err); err != nil && f.Ext["field"] == "q" {
		w.SearchError = f
	} else if err != nil {
		return w, err
	}
	if w.Translated, err = p.service.TranslateItems(ctx, page.Items); err != nil {
		return w, err
	}
	briefs, err := p.service.Briefs(ctx)
	if err != nil {
		return w, err
	}
	byDate := map[string]string{}
	for _, b := range briefs {
		byDate[b.Date] = b.ID
	}
	for _, item := range page.Items {
		date := store.FromMillis(item.TS).In(w.Zone).Format(time.DateOnly)
		if n := len(w.Days); n == 0 || w.Days[n-1].Date != date {
			w.Days = append(w.Days, dayGroup{Date: date, Brief: byDate[date]})
		}
		last := &w.Days[len(w.Days)-1]
		last.Items = append(last.Items, item)
	}
	if len(page.Items) == 0 {
		followed, err := p.service.Followed(ctx)
		if err != nil {
			return w, err
		}
		w.Filtered = countFiltered(followed)
	}
	if page.Next != "" {
		w.Next = ui.Address(p.base+at.Path, append(at.queryParts(), "cursor", page.Next)...)
	}
	return w, nil
}

// activeFilter is what keeps items out of the list: the search, the tab, and what the page is confined to.
func (w feedView) activeFilter(v *ui.View, p pages) ui.Filter {
	scope, kind := w.focusName(), ""
	if w.Scope == "mine" {
		scope = v.T("releases.focus.mine")
	}
	if w.Types != "" {
		kind = v.T("releases.tab." + w.Types)
	}
	return ui.Filter{Path: p.base + feedPath, Fields: []ui.FilterField{
		{Name: "q", Label: v.T("releases.search"), Value: w.Search}, {Name: "scope", Label: v.T("releases.repo"), Value: scope},
		{Name: "types", Label: v.T("releases.tabs"), Value: kind},
	}}
}

// countFiltered returns how many repositories have a filter that may hide releases.
func countFiltered(list []follow.FollowedRepo) (n int) {
	for _, r := range list {
		if r.Filter != (follow.RepoFilter{}) {
			n++
		}
	}
	return n
}

func (p pages) redirectToFeed(c *gin.Context) { p.kit.Redirect(c, p.base+feedPath) }

func (p pages) showFeed(c *gin.Context) {
	at := p.readPlace(c)
	v := p.newView(c, at.titleID(), feedPath)
	w, err := p.readFeed(c.Request.Context(), at)
	if err != nil {
		p.kit.Fail(c, err)
		return
	}
	p.kit.Render(c, v, http.StatusOK, feedPage(v, p, w))
}

// liveURL is the address that keeps the first page current.
func (p pages) liveURL(w feedView) string {
	return ui.Address(p.base+"/live", append(w.queryParts(), "path", w.Path)...)
}

// feedLive keeps the first page of the feed current.
func (p pages) feedLive(c *gin.Context) {
	ctx := c.Request.Context()
	at := place{Path: c.Query("path")}.setQuery("", c.Query("items"), c.Query("q"))
	p.kit.Stream(c, lookEvery, nil, func(v *ui.View) (templ.Component, bool, error) {
		w, err := p.readFeed(ctx, at)
		return feedList(v, p, w), false, err
	})
}

// releaseURL is the address of the page of a release.
func (p pages) releaseURL(i feed.Item, from string) templ.SafeURL {
	return templ.SafeURL(p.base + "/" + i.RepoFullName + "/releases/tag/" + url.PathEscape(i.Tag) + "?from=" + url.QueryEscape(from))
}

// repoURL is the focus page of a repository.
func (p pages) repoURL(name string) templ.SafeURL {
	return templ.SafeURL(p.base + focusPath + "/repo/" + name)
}

// itemURL is where an item leads: to our page of a release, or to the code host.
func (p pages) itemURL(w feedView, i feed.Item) templ.SafeURL {
	if i.Kind == feed.Release {
		return p.releaseURL(i, w.pageAddress())
	}
	return templ.URL(i.HTMLURL)
}

// itemTitle names an item in words.
func itemTitle(v *ui.View, i feed.Item) string {
	switch i.Kind {
	case feed.StarReceived:
		return v.T("releases.star", "Who", "@"+i.ActorLogin, "Repo", i.RepoFullName)
	case feed.FollowerNew:
		return v.T("releases.follower", "Who", "@"+i.ActorLogin)
	case feed.RepoForked:
		return v.T("releases.fork", "Who", "@"+i.ActorLogin, "Repo", i.Title)
	case feed.ReleaseUpdate:
		return v.T("releases.update", "Who", "@"+i.ActorLogin, "Title", i.Title)
	}
	return i.Title
}

// excerptLength is how many characters of a text the feed shows.
const excerptLength = 280

// The parts of Markdown and HTML that an excerpt leaves out: images and elements, and of links their targets.
var (
	markupPattern = regexp.MustCompile(`!\[[^\]]*\]\([^)]*\)|<[^>]*>|\*\*|__|\[![A-Za-z]+\]|\[\^[^\]\s]+\]:?|:[a-z][a-z0-9_+-]*:|` + "`")
	linkPattern   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
)

// bodyExcerpt returns the beginning of a text without the marks of Markdown.
func bodyExcerpt(body string) string {
	var b strings.Builder
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(linkPattern.ReplaceAllString(markupPattern.ReplaceAllString(line, ""), "$1"))
		if line = strings.TrimSpace(strings.TrimLeft(line, "#>*-+| ")); line == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteString(" · ")
		}
		b.WriteString(line)
		if b.Len() > 4*excerptLength {
			break
		}
	}
	return texts.Truncate(b.String(), excerptLength)
}

// pictureInitial is what stands in the place of a picture.
func pictureInitial(i feed.Item) string {
	name := i.ActorLogin
	if i.Kind == feed.Release || name == "" {
		name = i.RepoFullName
	}
	for _, r := range name {
		return strings.ToUpper(string(r))
	}
	return "?"
}

// timeOfDay is the time of day of an item.
func timeOfDay(w feedView, i feed.Item) string {
	return store.FromMillis(i.TS).In(w.Zone).Format("15:04")
}
