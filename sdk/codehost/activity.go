package codehost

import "time"

// PageRequest asks for one page of a list.
type PageRequest struct {
	// Cursor is Meta.NextCursor of the page before; empty asks for the first page.
	Cursor string
	// Size is how many items the page should have, at most MaxPage; 0 leaves it to the plugin. A host may give fewer.
	Size int
	// Validators make the request conditional; they come from an answer to the same cursor and size. A plugin may leave them out of account.
	Validators Validators
}

// Validators are opaque and come from an earlier answer to the same request.
type Validators struct {
	ETag, LastModified string
}

// Quota is how many requests the host permits. ResetAt is zero if the host does not say.
type Quota struct {
	Limit, Remaining int64
	ResetAt          time.Time
}

// Meta is what an answer says besides its content.
type Meta struct {
	// NextCursor is empty on the last page.
	NextCursor string
	// NotModified: nothing has changed since the validators were given; the answer has no items.
	NotModified bool
	Validators  Validators
	// Quota is nil if the host does not say.
	Quota *Quota
	// PollInterval is how long the host wants to be left alone before this list is asked for again; 0 if it does not say.
	PollInterval time.Duration
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T
	Meta
}

// Account is a person, an organisation or a bot.
type Account struct {
	ID, Login, Name    string
	AvatarURL, HTMLURL string
}

// ViewerInfo is the account that a token belongs to.
type ViewerInfo struct {
	Account Account
	// Scopes are those of the token in the words of the host; empty if it does not say.
	Scopes []string
	Meta
}

// Repository is a repository with what is shown of it.
type Repository struct {
	ID string
	// FullName is owner/name.
	FullName, Description, HTMLURL string
	Private, Archived, Fork        bool
	Stars                          int64
	Owner                          Account
	// OpenGraphImageURL is the address of the preview image; CustomOpenGraphImage says that its owner chose it.
	OpenGraphImageURL    string
	CustomOpenGraphImage bool
}

// RepositoryInfo is one repository.
type RepositoryInfo struct {
	Repository Repository
	Meta
}

// Starred is a repository that the viewer has starred.
type Starred struct {
	Repository Repository
	StarredAt  time.Time
}

// Release is a release of a repository.
type Release struct {
	ID string
	// NodeID is what reactions are read and set by; empty if the host has none.
	NodeID        string
	TagName, Name string
	// Body is Markdown.
	Body, HTMLURL string
	// Times are zero if the host does not say.
	CreatedAt, PublishedAt time.Time
	Prerelease, Draft      bool
	// Reactions are counts by ReactionContents; absent ones are 0.
	Reactions map[string]int64
	Author    Account
}

// Tag is a tag of a repository.
type Tag struct {
	Name string
	// Commit is its hash.
	Commit, HTMLURL string
	// CreatedAt is zero if the host does not say.
	CreatedAt time.Time
}

// NotificationsRequest asks for a page of notifications.
type NotificationsRequest struct {
	PageRequest
	// Since leaves out what was last updated before it; zero asks for all.
	Since time.Time
	// All asks for those as well that were read.
	All bool
}

// Notification is a thread of the viewer's inbox.
type Notification struct {
	ThreadID, RepoFullName, Title string
	// SubjectType, such as "Release", and Reason, such as "subscribed", are in the words of the host.
	SubjectType, Reason string
	UpdatedAt           time.Time
	Unread              bool
	// HTMLURL is a page for people.
	HTMLURL string
}

// Stargazer is an account that has starred a repository.
type Stargazer struct {
	Account Account
	// StarredAt is zero if the host does not say.
	StarredAt time.Time
}

// The types of an Event.
const (
	EventFork    = "fork"
	EventRelease = "release"
)

// Event is something that an account did which the viewer follows.
type Event struct {
	ID string
	// Type is EventFork or EventRelease.
	Type  string
	Actor Account
	// RepoFullName is the repository that was forked or released; TargetFullName is the fork.
	RepoFullName, TargetFullName string
	// Title and TagName are those of the release.
	Title, TagName, HTMLURL string
	CreatedAt               time.Time
}

// Announcement is what a repository tells its followers.
type Announcement struct {
	ID, RepoFullName, Title string
	// Body is Markdown or plain text.
	Body, HTMLURL        string
	Author               Account
	CreatedAt, UpdatedAt time.Time
}

// ReactionContents are the words for reactions.
var ReactionContents = []string{"plus1", "minus1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}

// Reactions are those of one thing.
type Reactions struct {
	NodeID string
	// Counts are by ReactionContents; absent ones are 0.
	Counts map[string]int64
	// Viewer are the words of those that the viewer has left.
	Viewer []string
}

// ReactionInfo is the reactions of one thing after a change.
type ReactionInfo struct {
	Reactions Reactions
	Meta
}

// Commit is a commit of a Comparison. Subject is the first line of its message.
type Commit struct {
	Hash, Subject string
}

// ChangedFile is a file of a Comparison.
type ChangedFile struct {
	// Status is the host's word, such as "modified".
	Path, Status         string
	Additions, Deletions int64
	// Patch is the beginning of the unified diff; empty for a binary file.
	Patch string
}

// Comparison is what changed between two tags.
type Comparison struct {
	// Status is "ahead", "behind", "diverged" or "identical".
	Status            string
	AheadBy, BehindBy int64
	// Commits and Files may be cut; TotalCommits is not.
	Commits      []Commit
	Files        []ChangedFile
	TotalCommits int64
	HTMLURL      string
	Meta
}
