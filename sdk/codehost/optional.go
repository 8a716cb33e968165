package codehost

import (
	"context"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Capabilities of a code host. Each names an interface that it implements.
const (
	// CapWebhooks: WebhookHost.
	CapWebhooks = "WEBHOOKS"
	// CapViewer: ViewerHost.
	CapViewer = "VIEWER"
	// CapStarred: StarHost.
	CapStarred = "STARRED"
	// CapReleases: ReleaseHost.
	CapReleases = "RELEASES"
	// CapTags: TagHost.
	CapTags = "TAGS"
	// CapNotifications: NotificationHost.
	CapNotifications = "NOTIFICATIONS"
	// CapSocial: SocialHost.
	CapSocial = "SOCIAL"
	// CapEvents: EventHost.
	CapEvents = "EVENTS"
	// CapAnnouncements: AnnouncementHost.
	CapAnnouncements = "ANNOUNCEMENTS"
	// CapReactions: ReactionHost.
	CapReactions = "REACTIONS"
	// CapCompare: CompareHost.
	CapCompare = "COMPARE"
	// CapOAuth: OAuthHost.
	CapOAuth = "OAUTH"
)

// Limits that the SDK checks before a code host sees a request.
const (
	// MaxPage is the largest PageRequest.Size.
	MaxPage = 100
	// MaxAnnouncementRepos is how many repositories one call of ListAnnouncements may name.
	MaxAnnouncementRepos = 20
	// MaxReactionNodes is how many node ids one call of ReadReactions may name.
	MaxReactionNodes = 100
)

// WebhookHost is a code host that sends webhooks: CapWebhooks.
type WebhookHost interface {
	// Hooks lists all hooks of a repository, owner/name.
	Hooks(ctx context.Context, token schema.Secret, repo string) ([]Hook, error)
	// CreateHook, UpdateHook and DeleteHook change them. Deleting one that does not exist is NOT_FOUND.
	CreateHook(ctx context.Context, token schema.Secret, repo string, spec HookSpec) (*Hook, error)
	UpdateHook(ctx context.Context, token schema.Secret, repo, id string, spec HookSpec) (*Hook, error)
	DeleteHook(ctx context.Context, token schema.Secret, repo, id string) error
	// ParseWebhook checks the signature over the raw body, in constant time and before it looks at anything else, and
	// then reads the delivery. It is pure: no network.
	ParseWebhook(ctx context.Context, d Delivery) (*Webhook, error)
}

// ViewerHost is a code host that tells whose a token is: CapViewer.
type ViewerHost interface {
	// Viewer returns the account that the token belongs to.
	Viewer(ctx context.Context, token schema.Secret) (*ViewerInfo, error)
}

// StarHost is a code host on which repositories are starred: CapStarred.
type StarHost interface {
	// ListStarred lists the repositories that the viewer has starred, the latest star first.
	ListStarred(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Starred], error)
}

// ReleaseHost is a code host with releases: CapReleases. An empty token asks for what everybody may see.
type ReleaseHost interface {
	// FindRepository returns a repository, owner/name. One that was renamed is returned under its present name.
	FindRepository(ctx context.Context, token schema.Secret, repo string) (*RepositoryInfo, error)
	// ListReleases lists the releases of a repository, the latest first.
	ListReleases(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Release], error)
}

// TagHost is a code host that lists tags: CapTags.
type TagHost interface {
	// ListTags lists the tags of a repository, in the host's order.
	ListTags(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Tag], error)
}

// NotificationHost is a code host with an inbox: CapNotifications.
type NotificationHost interface {
	// ListNotifications lists the notifications of the viewer, the latest first.
	ListNotifications(ctx context.Context, token schema.Secret, req NotificationsRequest) (*Page[Notification], error)
}

// SocialHost is a code host that tells who stars and follows: CapSocial.
type SocialHost interface {
	// ListOwned lists the repositories that belong to the viewer.
	ListOwned(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Repository], error)
	// ListStargazers lists who has starred a repository, in the host's order.
	ListStargazers(ctx context.Context, token schema.Secret, repo string, page PageRequest) (*Page[Stargazer], error)
	// ListFollowers lists who follows the viewer.
	ListFollowers(ctx context.Context, token schema.Secret, page PageRequest) (*Page[Account], error)
}

// EventHost is a code host that tells what followed accounts do: CapEvents.
type EventHost interface {
	// ListEvents lists forks and releases by accounts that login follows, the latest first. login is the viewer.
	ListEvents(ctx context.Context, token schema.Secret, login string, page PageRequest) (*Page[Event], error)
}

// AnnouncementHost is a code host whose repositories announce: CapAnnouncements.
type AnnouncementHost interface {
	// ListAnnouncements lists the latest announcements of at most MaxAnnouncementRepos repositories. Repositories that do
	// not exist, or have none, are left out.
	ListAnnouncements(ctx context.Context, token schema.Secret, repos []string) (*Page[Announcement], error)
}

// ReactionHost is a code host with reactions to releases: CapReactions.
type ReactionHost interface {
	// ReadReactions returns those of at most MaxReactionNodes things. What does not exist, or is hidden, is left out.
	ReadReactions(ctx context.Context, token schema.Secret, nodeIDs []string) (*Page[Reactions], error)
	// SetReaction adds or removes one of ReactionContents. Setting what is there already succeeds.
	SetReaction(ctx context.Context, token schema.Secret, nodeID, content string, present bool) (*ReactionInfo, error)
}

// CompareHost is a code host that compares tags: CapCompare.
type CompareHost interface {
	// Compare returns what changed in a repository from the tag base to the tag head.
	Compare(ctx context.Context, token schema.Secret, repo, base, head string) (*Comparison, error)
}

// abilities tells for each capability whether a code host implements its interface.
var abilities = map[string]func(CodeHost) bool{
	CapWebhooks:      implements[WebhookHost],
	CapViewer:        implements[ViewerHost],
	CapStarred:       implements[StarHost],
	CapReleases:      implements[ReleaseHost],
	CapTags:          implements[TagHost],
	CapNotifications: implements[NotificationHost],
	CapSocial:        implements[SocialHost],
	CapEvents:        implements[EventHost],
	CapAnnouncements: implements[AnnouncementHost],
	CapReactions:     implements[ReactionHost],
	CapCompare:       implements[CompareHost],
	CapOAuth:         implements[OAuthHost],
}

func implements[T any](h CodeHost) bool {
	_, ok := h.(T)
	return ok
}

// Capabilities returns the capabilities of a plugin from what it declares. One that declares none is from before there were
// any, and is a WebhookHost.
func Capabilities(declared []string) []string {
	if len(declared) == 0 {
		return []string{CapWebhooks}
	}
	return declared
}
