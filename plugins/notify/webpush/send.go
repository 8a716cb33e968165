package webpush

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/SherClockHolmes/webpush-go"
	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/oneway"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
)

type channel struct {
	cfg   Config
	guard *httpx.Guard
	http  *httpx.Client
	pair  pair
	now   func() time.Time
	log   hclog.Logger
}

// Send implements notify.Channel.
func (c *channel) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	r, diags := c.readRecipient(to)
	if diags.HasErrors() {
		return nil, errs.BadInput("INVALID_TARGET", "%v", diags.Err())
	}
	text, receipt, err := encodeContent(n)
	if err != nil {
		return nil, err
	}
	status, header, err := c.postPush(ctx, r, n.ID, text)
	if err != nil {
		return nil, err
	}
	c.log.Debug("pushed", "id", n.ID, "host", r.endpoint.Host, "status", status)
	if err := c.toOutcome(r.endpoint.Host, status, header); err != nil {
		return nil, err
	}
	receipt.MessageIDs = []string{n.ID}
	return receipt, nil
}

// makeTopic makes the push service replace an undelivered copy of the same notification; it has 32 characters, the most that
// is permitted.
func makeTopic(id string) string {
	sum := sha256.Sum256([]byte(id))
	return encodeKey(sum[:24])
}

// postPush encrypts, signs and posts. It returns status and header of the answer.
func (c *channel) postPush(ctx context.Context, r *recipient, id string, text []byte) (int, http.Header, error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	res, err := webpush.SendNotificationWithContext(limited, text,
		&webpush.Subscription{Endpoint: r.endpoint.String(), Keys: webpush.Keys{P256dh: r.p256dh, Auth: r.auth}},
		&webpush.Options{
			HTTPClient: poster{c.http}, RecordSize: recordSize, TTL: int(c.cfg.TTL / time.Second), Urgency: webpush.Urgency(c.cfg.Urgency),
			Topic: makeTopic(id), VAPIDPublicKey: r.pair.public, VAPIDPrivateKey: r.pair.private,
			// The library puts mailto: before whatever does not begin with https:.
			Subscriber: strings.TrimPrefix(r.subject, "mailto:"),
		})
	if err != nil {
		return 0, nil, unansweredOutcome(ctx, r.endpoint, err)
	}
	defer res.Body.Close()
	return res.StatusCode, res.Header, nil
}

// poster lets the library send by our own client.
type poster struct{ client *httpx.Client }

// Do implements webpush.HTTPClient. The answer has no body.
func (p poster) Do(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	status, header, err := oneway.Do(req.Context(), p.client, &httpx.Request{Method: req.Method, URL: req.URL, Header: req.Header, Body: body})
	if err != nil {
		return nil, err
	}
	return &http.Response{StatusCode: status, Header: header, Body: http.NoBody}, nil
}

// unansweredOutcome returns the outcome of a push that got no answer. A repetition replaces the first one, so that it may be made
// although the first one may have arrived.
func unansweredOutcome(ctx context.Context, u *url.URL, err error) error {
	if e := (*errs.Error)(nil); ctx.Err() == nil && !errors.As(err, &e) {
		return errs.New(errs.Plugin, codes.InvalidArgument, "NOT_ENCRYPTED", "the message could not be encrypted and signed for %s", u.Host)
	}
	return oneway.Unanswered(ctx, u, err)
}

// toOutcome turns a status into an outcome.
func (c *channel) toOutcome(host string, status int, header http.Header) error {
	var e *errs.Error
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusNotFound, status == http.StatusGone:
		e = notify.Permanent(notify.ReasonGone, "%s answered with status %d: the subscription has ended", host, status)
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		e = notify.Temporary(httpx.RetryAfter(header.Get("Retry-After"), c.now()), errs.ReasonStatus, "%s answered with status %d", host, status)
	case status == http.StatusBadRequest, status == http.StatusUnauthorized, status == http.StatusForbidden:
		e = notify.Permanent(errs.ReasonStatus, "%s answered with status %d: the push service does not accept the VAPID keys or their subject for this subscription", host, status)
	case status == http.StatusRequestEntityTooLarge:
		e = notify.Permanent(errs.ReasonStatus, "%s answered with status 413: the message is too long for the push service", host)
	default:
		e = notify.Permanent(errs.ReasonStatus, "%s answered with status %d", host, status)
	}
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(status), Host: host}
	return e
}

// Close lets idle connections go.
func (c *channel) Close() error { return c.http.Close() }
