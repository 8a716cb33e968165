// Package feed reads the feed: the releases of the repositories that a user sees, and what happened around the user, the newest
// first.
package feed

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
)

// Kind is what an item is.
type Kind string

// The kinds.
const (
	Release       Kind = "release"
	Announcement  Kind = "announcement"
	ReleaseUpdate Kind = "release_update"
	RepoForked    Kind = "repo_forked"
	StarReceived  Kind = "repo_star_received"
	FollowerNew   Kind = "follower_received"
)

// Rank is the place of a kind among items of the same time, the highest first.
func (k Kind) Rank() int {
	switch k {
	case Release:
		return releaseRank
	case Announcement, ReleaseUpdate:
		return 4
	case RepoForked:
		return 3
	case StarReceived:
		return 2
	}
	return 1
}

// releaseRank is the rank of releases, which is above that of all events.
const releaseRank = 5

// Item is an item of the feed. Texts that it does not have are empty.
type Item struct {
	Kind Kind
	// Seq is the id of the release, or of the event among events. TS is in Unix milliseconds.
	Seq int64
	TS  int64
	// RepoFullName and what follows is of the repository.
	RepoFullName, AvatarURL, ImageURL string
	CustomImage                       bool
	Title, Body, HTMLURL              string
	// EntryURL is what HTMLURL was when the item was found.
	EntryURL string
	// ChangedAt is when the content of a release was found changed, 0 if it never was. It is in Unix milliseconds.
	ChangedAt     int64
	BodyTruncated bool
	// ActorLogin, ActorAvatar and ActorURL are of who caused an event.
	ActorLogin, ActorAvatar, ActorURL string
	// Tag, Prerelease, NodeID and Reactions are of a release. Reactions are the counts as JSON.
	Tag               string
	Prerelease        bool
	NodeID, Reactions string
	// Read says that the user has read the release.
	Read bool
}

// TagBeside returns the tag of a release whose title does not have it, "" otherwise.
func (i *Item) TagBeside() string {
	if i.Kind != Release || strings.Contains(i.Title, i.Tag) {
		return ""
	}
	return i.Tag
}

// ID returns the id of the item in answers.
func (i *Item) ID() string {
	if i.Kind == Release {
		return strconv.FormatInt(i.Seq, 10)
	}
	return eventIDPrefix + strconv.FormatInt(i.Seq, 10)
}

// eventIDPrefix begins the ids of events.
const eventIDPrefix = "evt_"

// place is where an item stands in the feed.
type place struct {
	TS   int64 `json:"t"`
	Rank int   `json:"r"`
	Seq  int64 `json:"i"`
}

// newPlace returns where an item stands.
func newPlace(i *Item) place { return place{i.TS, i.Kind.Rank(), i.Seq} }

// isBefore reports whether one place is nearer to the beginning of the feed than another.
func (p place) isBefore(q place) bool {
	if p.TS != q.TS {
		return p.TS > q.TS
	}
	if p.Rank != q.Rank {
		return p.Rank > q.Rank
	}
	return p.Seq > q.Seq
}

// Event is an event of a user as it is stored.
type Event struct {
	ID     int64 `gorm:"primaryKey"`
	UserID string
	// AccountID is the account with which it was read.
	AccountID string
	Kind      Kind
	// EventRank is the rank of Kind.
	EventRank int
	TS        int64 `gorm:"column:ts"`
	// EventKey is the same for the same event.
	EventKey string
	// RepoID is 0 for a repository that is not stored.
	RepoID        int64
	RepoFullName  string
	NameKey       string
	OwnerKey      string
	Title         string
	Body          string
	BodyTruncated bool
	HTMLURL       string `gorm:"column:html_url"`
	ActorLogin    string
	ActorAvatar   string
	ActorURL      string `gorm:"column:actor_url"`
}

// TableName implements gorm's Tabler.
func (Event) TableName() string { return "release_events" }

// setRepo sets the repository of an event by its name.
func (e *Event) setRepo() {
	e.EventRank, e.NameKey, e.OwnerKey = e.Kind.Rank(), repo.KeyOf(e.RepoFullName), repo.KeyOf(repo.OwnerOf(e.RepoFullName))
}

// ShownTitle returns the title of an item. Stars and followers have none.
func (i *Item) ShownTitle() string {
	if i.Kind == ReleaseUpdate && i.Title == "" {
		return i.RepoFullName + " released"
	}
	return i.Title
}

// ActorName returns who caused an event. An account that is deleted is shown as ghost, as code hosts do.
func (i *Item) ActorName() string { return cmp.Or(i.ActorLogin, "ghost") }
