// Package repo keeps repositories, their releases, and who sees them. Each repository and release is stored once for all users.
package repo

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Everybody is the user of the links by which everybody sees a repository.
const Everybody = ""

// Repo is a repository as it is stored. Times are Unix milliseconds, 0 for none.
type Repo struct {
	ID int64 `gorm:"primaryKey"`
	// Host is the reference of the code host's instance; RemoteID is the host's id, "" until it is known.
	Host     string
	RemoteID string
	// FullName is owner/name. NameKey and OwnerKey are in lower case.
	FullName    string
	NameKey     string
	OwnerKey    string
	Description string
	HTMLURL     string `gorm:"column:html_url"`
	Private     bool
	AvatarURL   string
	ImageURL    string
	// CustomImage says that the owner chose the preview image.
	CustomImage  bool
	ReleaseCount int64
	// SyncedAt is the last success, DueAt when the releases are read next, Failures how often that has failed since.
	SyncedAt  int64
	DueAt     int64
	Failures  int
	ErrorCode string
	Error     string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (Repo) TableName() string { return "release_repos" }

// Link says why a user sees a repository.
type Link struct {
	UserID   string `gorm:"primaryKey"`
	RepoID   int64  `gorm:"primaryKey;autoIncrement:false"`
	Starred  bool
	Owned    bool
	Followed bool
	// Visible says that the user sees the repository: it is starred or followed, or owned and the user wants to see such.
	Visible bool
	// StarredAt is 0 if the host does not say, or for a repository without a star.
	StarredAt int64
}

// TableName implements gorm's Tabler.
func (Link) TableName() string { return "release_links" }

// Release is a release as it is stored. Times are Unix milliseconds, 0 for none.
type Release struct {
	ID       int64 `gorm:"primaryKey"`
	RepoID   int64
	RemoteID string
	// NodeID is what reactions are read by, "" if the host has none.
	NodeID string
	Tag    string
	// Title is the name, or else the tag.
	Title string
	// Body is Markdown, cut at maxBody characters if BodyTruncated is set.
	Body          string
	BodyTruncated bool
	HTMLURL       string `gorm:"column:html_url"`
	// TS is the time by which releases are sorted: of the publication, or else of the creation, or else when it was found.
	TS          int64 `gorm:"column:ts"`
	PublishedAt int64
	Prerelease  bool
	// Level is the part of the version that the release raises; see LevelOf.
	Level Level
	// SearchText is what keywords are looked for in: title and tag in lower case.
	SearchText string
	// Reactions are the counts as JSON, "" for none.
	Reactions string
	// Hash is that of the content, by which changes are found; "" for one that a former version has stored.
	Hash string
	// EntryURL is what HTMLURL was when the release was found.
	EntryURL string `gorm:"column:entry_url"`
	// Indexed says that the words of the release are in the index as they are now.
	Indexed   bool
	UpdatedAt int64 `gorm:"autoUpdateTime:false"`
	CreatedAt int64 `gorm:"autoCreateTime:false"`
	// FullBody is the whole text, before it is stored.
	FullBody string `gorm:"-"`
}

// TableName implements gorm's Tabler.
func (Release) TableName() string { return "release_entries" }

// Filter says what a user does not want to see of a repository.
type Filter struct {
	UserID        string `gorm:"primaryKey"`
	RepoID        int64  `gorm:"primaryKey;autoIncrement:false"`
	Muted         bool
	NoPrereleases bool
	// MinLevel hides releases of a lower level. Releases without a version are shown.
	MinLevel Level
	// Keyword hides releases whose title and tag do not have it, in any case; "" hides none.
	Keyword string
}

// TableName implements gorm's Tabler.
func (Filter) TableName() string { return "release_filters" }

// IsEmpty reports whether the filter hides nothing.
func (f Filter) IsEmpty() bool {
	return !f.Muted && !f.NoPrereleases && f.MinLevel == 0 && f.Keyword == ""
}

const maxNamePart = 100

// ParseName reads owner/name, with slashes around it, and returns it without these.
func ParseName(text string) (string, error) {
	name := strings.Trim(strings.TrimSpace(text), "/")
	owner, rest, ok := strings.Cut(name, "/")
	if !ok || !isNamePart(owner) || !isNamePart(rest) {
		return "", fault.New(fault.BadRequest, "Write a repository as owner/name.")
	}
	return name, nil
}

// isNamePart reports whether a text can be the name of an owner or of a repository.
func isNamePart(s string) bool {
	if s == "" || len(s) > maxNamePart || s == "." || s == ".." {
		return false
	}
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
		default:
			return false
		}
	}
	return true
}

// KeyOf returns a name in the form in which names are compared.
func KeyOf(name string) string { return strings.ToLower(name) }

// OwnerOf returns the owner of owner/name.
func OwnerOf(fullName string) string {
	owner, _, _ := strings.Cut(fullName, "/")
	return owner
}
