package pages

import (
	"time"

	"github.com/a-h/templ"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/releases/syndication"
)

// liveAttributes are the attributes that keep the first page of the feed current.
func (p pages) liveAttributes(w feedView) templ.Attributes {
	if w.Cursor != "" {
		return templ.Attributes{}
	}
	return ui.Live(p.liveURL(w))
}

// isSearchable reports whether the page shows releases that a search may find.
func (w feedView) isSearchable() bool {
	return w.Status.SeesRepos && (w.Types == "" || w.Types == "releases")
}

// placeURL is the address of a focus page, with all items or with releases alone.
func (p pages) placeURL(w feedView, only bool) templ.SafeURL {
	path := w.Path
	if n := len(path) - len(releasesPath); w.Types != "" && n > 0 {
		path = path[:n]
	}
	if only {
		path += releasesPath
	}
	return templ.SafeURL(ui.Address(p.base+path, w.queryParts()...))
}

// dayName returns a day in words.
func dayName(v *ui.View, w feedView, date string) string {
	now := v.Now.In(w.Zone)
	switch date {
	case now.Format(time.DateOnly):
		return v.T("releases.today")
	case now.AddDate(0, 0, -1).Format(time.DateOnly):
		return v.T("releases.yesterday")
	}
	return date
}

// laneID is the end of the id of the text for a lane.
func laneID(lane string) string {
	if lane == "" {
		return "original"
	}
	return lane
}

// hourName writes an hour as a time of day.
func hourName(hour int) string { return time.Date(2000, 1, 1, hour, 0, 0, 0, time.UTC).Format("15:04") }

// levelID is the end of the id of the text for a level.
func levelID(level string) string {
	if level == "" {
		return "any"
	}
	return level
}

// tabID is the end of the id of the text for types of items.
func tabID(types string) string {
	if types == "" {
		return feedPath[1:]
	}
	return types
}

// feedContent says what a feed for readers has.
func feedContent(v *ui.View, f syndication.FeedToken) string {
	text := v.T("releases.tab." + tabID(f.Types))
	for _, part := range []string{f.Scope, f.Items, f.Org, f.Query} {
		if part != "" {
			text += " · " + part
		}
	}
	return text
}
