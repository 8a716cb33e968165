package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/oneway"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

type channel struct {
	cfg     Config
	guard   *httpx.Guard
	http    *httpx.Client
	url     *url.URL
	keys    [][]byte
	headers http.Header
	now     func() time.Time
	log     hclog.Logger
}

// parseAddress checks an address. The error does not hold it: it may be a secret.
func (c *channel) parseAddress(raw string) (*url.URL, error) {
	if raw == "" {
		return nil, errors.New("there is no address to post to")
	}
	if err := schema.CheckUserInfo(raw); err != nil {
		return nil, fmt.Errorf("address %w", err)
	}
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("address cannot be parsed")
	}
	u.Fragment, u.RawFragment = "", ""
	return u, c.guard.CheckURL(u)
}

// Send implements notify.Channel.
func (c *channel) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	u, keys, diags := c.readRecipient(to)
	if diags.HasErrors() {
		return nil, errs.BadInput("INVALID_TARGET", "%v", diags.Err())
	}
	body, receipt, err := encodeContent(n)
	if err != nil {
		return nil, err
	}
	header := c.headers.Clone()
	header["Content-Type"] = []string{"application/json"}
	signRequest(header, keys, n.ID, c.now(), body)
	status, answer, err := c.postRequest(ctx, &httpx.Request{Method: http.MethodPost, URL: u, Header: header, Body: body})
	if err != nil {
		return nil, err
	}
	c.log.Debug("posted", "id", n.ID, "host", u.Host, "status", status)
	if err := c.toOutcome(u.Host, status, answer); err != nil {
		return nil, err
	}
	receipt.MessageIDs = []string{n.ID}
	if len(keys) == 0 {
		receipt.Warnings = append(receipt.Warnings, "there is no signing secret: the receiver cannot tell who sent this")
	}
	return receipt, nil
}

// postRequest returns status and header; what else the receiver says does not matter.
func (c *channel) postRequest(ctx context.Context, req *httpx.Request) (int, http.Header, error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	status, header, err := oneway.Do(limited, c.http, req)
	if err != nil {
		return 0, nil, oneway.Unanswered(ctx, req.URL, err)
	}
	return status, header, nil
}

// toOutcome turns a status into an outcome.
func (c *channel) toOutcome(host string, status int, header http.Header) error {
	var e *errs.Error
	switch {
	case status >= 200 && status <= 299:
		return nil
	case status == http.StatusRequestTimeout, status == http.StatusTooManyRequests, status >= 500:
		e = notify.Temporary(httpx.RetryAfter(header.Get("Retry-After"), c.now()), errs.ReasonStatus, "%s answered with status %d", host, status)
	case status == http.StatusGone:
		e = notify.Permanent(notify.ReasonGone, "%s answered with status 410: it wants no more notifications", host)
	default:
		e = notify.Permanent(errs.ReasonStatus, "%s answered with status %d", host, status)
	}
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(status), Host: host}
	return e
}

// envelope is the body of a notification without a payload.
type envelope struct {
	Kind     string    `json:"kind"`
	Version  int       `json:"schemaVersion"`
	SentAt   time.Time `json:"sentAt"`
	Severity string    `json:"severity"`
	Human    human     `json:"human"`
	Links    []link    `json:"links"`
}

type human struct {
	Title   string `json:"title"`
	Summary string `json:"summary"`
	Detail  string `json:"detail"`
}

type link struct {
	Label string `json:"label"`
	URL   string `json:"url"`
}

// encodeContent returns the body, and a receipt with the parts of the notification that are in it.
func encodeContent(n *notify.Notification) ([]byte, *notify.Receipt, error) {
	if len(n.Payload) > 0 {
		return n.Payload, &notify.Receipt{Delivered: []notify.Part{notify.PartPayload}}, nil
	}
	out := envelope{
		Kind: n.Kind, Version: n.Version, SentAt: n.SentAt.UTC(), Severity: n.Severity.String(),
		Human: human{Title: n.Title.Plain, Summary: n.Summary.Plain, Detail: n.Detail.Plain}, Links: []link{},
	}
	for _, l := range n.Links {
		out.Links = append(out.Links, link(l))
	}
	body, err := json.Marshal(out)
	return body, &notify.Receipt{Delivered: []notify.Part{notify.PartTitle, notify.PartSummary, notify.PartDetail, notify.PartLinks}}, err
}

// Close lets idle connections go.
func (c *channel) Close() error { return c.http.Close() }
