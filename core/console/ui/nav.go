package ui

import (
	"context"
	"strings"
)

const (
	// NavCookie has the groups of the navigation that were opened or closed: ids with 1 or 0, such as "nav.system-0", with dots between.
	// The script writes it.
	NavCookie = "patchbay_nav"
	// maxOpenItems is how many pages the navigation shows at most of groups that nobody has opened.
	maxOpenItems = 15
)

// openGroups returns which groups of the navigation are open, by their ids: that of the page, what was opened, and of those that
// nobody has opened or closed the first ones that fit.
func (v *View) openGroups() map[string]bool {
	out, free := map[string]bool{}, maxOpenItems
	for _, g := range v.Nav {
		for _, item := range g.Items {
			if v.Current(item) {
				out[g.TextID] = true
				free -= len(g.Items)
			}
		}
	}
	chosen := map[string]bool{}
	for entry := range strings.SplitSeq(v.folds, ".") {
		if id, state, ok := strings.Cut(entry, "-"); ok {
			chosen[id] = state == "1"
		}
	}
	for _, g := range v.Nav {
		open, known := chosen[g.foldID()]
		switch {
		case out[g.TextID]:
		case known:
			out[g.TextID] = open
		case free >= len(g.Items):
			out[g.TextID] = true
		}
		if out[g.TextID] {
			free -= len(g.Items)
		}
	}
	return out
}

// foldID returns the group's name in the cookie.
func (g NavGroup) foldID() string { return strings.ReplaceAll(g.TextID, ".", "_") }

// navCounts returns what waits on the pages of the navigation, by their addresses.
func (v *View) navCounts(ctx context.Context) map[string]int {
	if v.kit.cfg.Counts == nil || v.Principal == nil {
		return nil
	}
	return v.kit.cfg.Counts(ctx, v)
}

// sumCounts returns how much waits on the pages of a group.
func (g NavGroup) sumCounts(counts map[string]int) (n int) {
	for _, item := range g.Items {
		n += counts[item.Href]
	}
	return n
}
