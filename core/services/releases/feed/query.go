package feed

import (
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	// DefaultLimit is how many items a page has that asks for no number.
	DefaultLimit = 30
	// MaxLimit is the longest page.
	MaxLimit = 100
	// MaxScopeRepos is how many repositories a scope names at most.
	MaxScopeRepos = 12
)

// Types chooses items by their kinds. The zero value chooses all.
type Types struct {
	Releases, Stars, Followers bool
}

// isAll reports whether all kinds are chosen.
func (t Types) isAll() bool { return t == Types{} }

// Query chooses items for a user.
type Query struct {
	UserID string
	Types  Types
	Scope  repo.Scope
	// Search has releases alone chosen, if it is set.
	Search Search
	Limit  int
	// Cursor is that of the page before, "" for the first page.
	Cursor string
}

// wantsReleases reports whether releases are chosen.
func (q *Query) wantsReleases() bool { return q.Types.isAll() || q.Types.Releases }

// eventKinds returns the kinds of events that are chosen. In a scope there are no followers.
func (q *Query) eventKinds() (kinds []Kind) {
	if q.Search.isSet() {
		return nil
	}
	if q.Types.isAll() {
		kinds = []Kind{Announcement, ReleaseUpdate, RepoForked}
	}
	if q.Types.isAll() || q.Types.Stars {
		kinds = append(kinds, StarReceived)
	}
	if (q.Types.isAll() || q.Types.Followers) && !q.Scope.IsSet() {
		kinds = append(kinds, FollowerNew)
	}
	return kinds
}

// ParseTypes reads a list of types with commas. An empty list, and all, choose everything.
func ParseTypes(text, field string) (t Types, err error) {
	for _, word := range splitList(text) {
		switch strings.ToLower(word) {
		case "all":
			return Types{}, nil
		case "releases", "release":
			t.Releases = true
		case "stars", "star":
			t.Stars = true
		case "followers", "follower":
			t.Followers = true
		case "notifications", "notification", "inbox":
			return t, badQuery(field, "The feed has no notifications: ask for /api/notifications.")
		default:
			return t, badQuery(field, "%s must be all, releases, stars or followers.", field)
		}
	}
	return t, nil
}

// ParseScope reads what confines a list to repositories. owners returns the logins of the user, for the scope mine.
func ParseScope(scope, items, org string, owners func() ([]string, error)) (out repo.Scope, err error) {
	switch strings.ToLower(strings.TrimSpace(scope)) {
	case "":
		return out, nil
	case "repo":
		return parseRepos(items, 1, "scope=repo needs items=owner/name.")
	case "repos":
		return parseRepos(items, MaxScopeRepos, "")
	case "org":
		org = strings.Trim(strings.TrimSpace(org), "/")
		if _, err := repo.ParseName(org + "/x"); err != nil {
			return out, badQuery("org", "scope=org needs org, the name of an owner.")
		}
		return repo.Scope{OwnerKeys: []string{repo.KeyOf(org)}}, nil
	case "mine":
		logins, err := owners()
		out.Nothing = len(logins) == 0
		for _, login := range logins {
			out.OwnerKeys = append(out.OwnerKeys, repo.KeyOf(login))
		}
		return out, err
	}
	return out, badQuery("scope", "scope must be repo, repos, org or mine.")
}

// parseRepos reads a list of at most limit repositories. missing is the message for an empty one, which is allowed without.
func parseRepos(items string, limit int, missing string) (out repo.Scope, err error) {
	out.Names = []string{}
	seen := map[string]bool{}
	for _, item := range splitList(items) {
		name, err := repo.ParseName(item)
		if err != nil {
			return out, badQuery("items", "items must be repositories as owner/name, with commas between them.")
		}
		if key := repo.KeyOf(name); !seen[key] {
			seen[key], out.Names = true, append(out.Names, name)
		}
	}
	switch {
	case len(out.Names) == 0 && missing != "":
		return out, badQuery("items", "%s", missing)
	case len(out.Names) > limit:
		return out, badQuery("items", "items may name %d repositories at most.", limit)
	}
	return out, nil
}

// splitList returns the parts of a list with commas, without empty ones.
func splitList(text string) []string {
	parts := strings.Split(text, ",")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(s string) bool { return s == "" })
}

func badQuery(field, format string, args ...any) error {
	return fault.New(fault.BadRequest, format, args...).With("field", field)
}

// ClampLimit returns how many items a page has.
func ClampLimit(n int) int { return min(max(n, 1), MaxLimit) }

// after returns where the page before ends; nil for the first page.
func (q *Query) after() (*place, error) {
	if q.Cursor == "" {
		return nil, nil
	}
	var p place
	if err := store.DecodeCursor(q.Cursor, &p); err != nil || p.Rank < 1 || p.Rank > releaseRank {
		return nil, badQuery("cursor", "The cursor is not one that this feed gave out.")
	}
	return &p, nil
}
