package notify

import (
	"encoding/json"

	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// The roles: what a channel can be for a host that keeps recipients and their secrets itself, and hands them over with
// each call. A role fixes the form of Target; see the types below.
const (
	RoleChat    = "chat"
	RoleEmail   = "email"
	RoleWebhook = "webhook"
	RoleWebPush = "webPush"
)

// Roles are all of them.
func Roles() []string { return []string{RoleChat, RoleEmail, RoleWebhook, RoleWebPush} }

// ChatTarget is Target.JSON for RoleChat. Target.Secret is the bot's token. Where the configuration may have them, its
// attributes are called chat_id and bot_token.
type ChatTarget struct {
	ChatID string `json:"chatId,omitempty"`
}

// WebhookTarget is Target.JSON for RoleWebhook. Target.Secret are the signing secrets, separated by white space. The
// attributes are called url and secrets.
type WebhookTarget struct {
	URL string `json:"url,omitempty"`
}

// PushTarget is Target.JSON for RoleWebPush: one subscription of a browser, as the Push API tells it, and the sender's
// public key. Target.Secret is the private key. Keys are base64url without padding. The attributes are called
// vapid_public_key, vapid_private_key and vapid_subject. A channel tells with ReasonGone that the subscription has ended.
type PushTarget struct {
	Endpoint       string   `json:"endpoint"`
	Keys           PushKeys `json:"keys"`
	VAPIDPublicKey string   `json:"vapidPublicKey,omitempty"`
	// VAPIDSubject is mailto:… or https://…, how a push service reaches the sender.
	VAPIDSubject string `json:"vapidSubject,omitempty"`
}

// PushKeys are a subscription's keys: a point on P-256 (65 bytes) and 16 random bytes.
type PushKeys struct {
	P256dh string `json:"p256dh"`
	Auth   string `json:"auth"`
}

// For RoleEmail Target.JSON is empty and Target.Secret is the SMTP URL, whose attribute is called smtp_url.

// NewTarget makes a target of a role's type, which may be nil, and a secret.
func NewTarget(v any, secret schema.Secret) (Target, error) {
	if v == nil {
		return Target{Secret: secret}, nil
	}
	raw, err := json.Marshal(v)
	return Target{JSON: raw, Secret: secret}, err
}

// ReasonGone is the reason of a Permanent error whose recipient is there no more and will not be back: the host forgets it.
const ReasonGone = "RECEIVER_GONE"
