package channels

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"net/mail"
	"net/url"
	"strings"

	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/store"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const (
	// maxEndpoint bounds the endpoint of a subscription, in bytes, maxSubscriptions how many there are.
	maxEndpoint      = 2048
	maxSubscriptions = 200
	maxLabel         = 200
)

// Subscription is a browser's subscription as the Push API tells it.
type Subscription struct {
	Endpoint string           `json:"endpoint" maxLength:"2048" example:"https://push.example.net/send/abc"`
	Keys     SubscriptionKeys `json:"keys"`
}

// SubscriptionKeys are what payloads are encrypted with.
type SubscriptionKeys struct {
	P256dh string `json:"p256dh" maxLength:"200" doc:"A point on P-256, 65 bytes in base64url." example:"BNcRdreALRFXTkOOUHK1EtK2wtaz5Ry4YfYCA_0QTpQtUbVlUls0VJXg7A8u-Ts1XbjhazAkj7I99e8QcYP7DkM"`
	Auth   string `json:"auth" maxLength:"100" doc:"16 bytes in base64url." example:"tBHItJI5svbpez7KI4CCXg"`
}

// Subscriber is a subscription as the settings show it. Whoever knows an endpoint may send to it, so that it is not shown.
type Subscriber struct {
	ID        string   `json:"id" example:"psh_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	Host      string   `json:"host" example:"push.example.net"`
	Label     string   `json:"label" doc:"What the browser said of itself when it subscribed."`
	CreatedBy string   `json:"createdBy"`
	CreatedAt api.Time `json:"createdAt"`
}

// Subscribers returns the subscriptions.
func (m *Manager) Subscribers(ctx context.Context) ([]Subscriber, error) {
	rows, err := m.readSubscriptions(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Subscriber, 0, len(rows))
	for _, r := range rows {
		one := Subscriber{ID: r.ID, Label: r.Label, CreatedBy: r.CreatedBy, CreatedAt: api.TimeOfMillis(r.CreatedAt)}
		if u, err := url.Parse(r.Endpoint); err == nil {
			one.Host = u.Host
		}
		out = append(out, one)
	}
	return out, nil
}

// Subscribe stores a subscription, in place of one with the same endpoint.
func (m *Manager) Subscribe(ctx context.Context, sub Subscription, label string) error {
	if err := checkSubscription(sub); err != nil {
		return err
	}
	if err := m.checkEndpoint(ctx, sub); err != nil {
		return err
	}
	label = strings.ToValidUTF8(label, "")
	row := subscriptionRecord{ID: store.NewID("psh"), Endpoint: sub.Endpoint, Label: label[:min(len(label), maxLabel)],
		CreatedBy: auth.Caller(ctx), CreatedAt: m.nowMillis(), UpdatedAt: m.nowMillis()}
	row.Label = strings.ToValidUTF8(row.Label, "")
	err := m.storeSubscription(ctx, row, sub.Keys)
	if errors.Is(err, gorm.ErrDuplicatedKey) {
		// The same browser was quicker, and is found now.
		err = m.storeSubscription(ctx, row, sub.Keys)
	}
	return err
}

// checkSubscription checks the form of a subscription.
func checkSubscription(sub Subscription) error {
	u, err := url.Parse(sub.Endpoint)
	switch {
	case len(sub.Endpoint) > maxEndpoint:
		return invalid("endpoint", "The endpoint must have at most %d bytes.", maxEndpoint)
	case err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && !(u.Scheme == "http" && httpd.IsLoopbackHost(u.Hostname())):
		return invalid("endpoint", "The endpoint must be an absolute https:// URL.")
	}
	point, err := decodeKey(sub.Keys.P256dh)
	if err == nil {
		_, err = ecdh.P256().NewPublicKey(point)
	}
	if err != nil {
		return invalid("keys.p256dh", "The key p256dh must be a point on P-256, 65 bytes in base64url.")
	}
	if secret, err := decodeKey(sub.Keys.Auth); err != nil || len(secret) != 16 {
		return invalid("keys.auth", "The key auth must be 16 bytes in base64url.")
	}
	return nil
}

// checkEndpoint has the channel refuse an endpoint that it would not push to, such as one in an inner network. Without a
// channel nothing is pushed, and each push is checked again.
func (m *Manager) checkEndpoint(ctx context.Context, sub Subscription) error {
	all, err := m.listChannels()
	if err != nil {
		return err
	}
	c := findChannel(all, sdk.RoleWebPush)
	if c == nil {
		return nil
	}
	to, err := newTarget(sdk.PushTarget{Endpoint: sub.Endpoint}, "", nil)
	if err != nil {
		return err
	}
	ds, err := c.ValidateTarget(ctx, to)
	if err != nil {
		return err
	}
	for _, d := range ds {
		if d.Severity == schema.Error && d.Path.String() == "endpoint" {
			return invalid("endpoint", "The endpoint is not allowed: %s.", d.Summary)
		}
	}
	return nil
}

// decodeKey decodes base64url, with or without padding.
func decodeKey(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}

// Unsubscribe deletes a subscription by its endpoint, or by the id that the settings show. deleted is false if there is none.
func (m *Manager) Unsubscribe(ctx context.Context, endpoint, id string) (deleted bool, err error) {
	if endpoint == "" && id == "" {
		return false, invalid("endpoint", "The endpoint must not be empty.")
	}
	n, err := m.deleteSubscriptions(ctx, endpoint, id)
	return n > 0, err
}

// MakeVAPIDKeys makes a key pair and stores it, and returns the public key. All subscriptions end: they are bound to the
// former one.
func (m *Manager) MakeVAPIDKeys(ctx context.Context) (publicKey string, err error) {
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return "", fmt.Errorf("make a key pair: %w", err)
	}
	publicKey = base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes())
	private := base64.RawURLEncoding.EncodeToString(key.Bytes())
	return publicKey, m.Change(ctx, NotificationChange{WebPush: &PushChange{PublicKey: &publicKey, PrivateKey: &private}})
}

// checkPushComplete checks the keys and the subject.
func (m *Manager) checkPushComplete(c *channel, set *storedSettings) error {
	has, err := c.Configured()
	if err != nil {
		return err
	}
	_, public := has["vapid_public_key"]
	_, private := has["vapid_private_key"]
	if public && private {
		return nil
	}
	if set.WebPush.PublicKey == "" {
		return invalid("webPush.vapidPublicKey", "Web Push needs a pair of VAPID keys: make one first.")
	}
	secret, err := m.openSecret(*set, set.WebPush.PrivateKey, "vapidPrivateKey")
	if err != nil {
		return err
	}
	if secret == "" {
		return invalid("webPush.vapidPrivateKey", "The private VAPID key is missing.")
	}
	raw, err := decodeKey(secret.Reveal())
	if err != nil {
		return invalid("webPush.vapidPrivateKey", "The private VAPID key must be 32 bytes in base64url.")
	}
	key, err := ecdh.P256().NewPrivateKey(raw)
	if err != nil {
		return invalid("webPush.vapidPrivateKey", "The private VAPID key must be 32 bytes in base64url.")
	}
	point, err := decodeKey(set.WebPush.PublicKey)
	if err != nil || string(point) != string(key.PublicKey().Bytes()) {
		return invalid("webPush.vapidPublicKey", "The public VAPID key does not belong to the private one.")
	}
	return checkSubject(set.WebPush.Subject)
}

func checkSubject(subject string) error {
	if subject == "" {
		return nil
	}
	if address, ok := strings.CutPrefix(subject, "mailto:"); ok {
		if a, err := mail.ParseAddress(address); err == nil && a.Address == address {
			return nil
		}
	} else if u, err := url.Parse(subject); err == nil && u.Scheme == "https" && u.Hostname() != "" && u.User == nil {
		return nil
	}
	return invalid("webPush.vapidSubject", "The subject must be mailto: and an address, or an https:// URL.")
}

// vapidSubject returns how a push service reaches the sender: what is set, else the public base URL. Some push services refuse
// addresses that do not resolve.
func (m *Manager) vapidSubject(ctx context.Context, set storedSettings) string {
	if set.WebPush.Subject != "" {
		return set.WebPush.Subject
	}
	if m.host != nil {
		if base := m.host.PublicBaseURL(ctx); strings.HasPrefix(base, "https://") {
			return base
		}
	}
	return "mailto:patchbay@localhost"
}
