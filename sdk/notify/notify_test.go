package notify_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

type channel struct {
	send func(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error)
}

func (c *channel) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	return c.send(ctx, n, to)
}

func (c *channel) ValidateTarget(to notify.Target) schema.Diagnostics {
	if string(to.JSON) == `{"chat":0}` {
		return schema.Errorf(schema.At("chat"), "must not be 0")
	}
	return nil
}

// client serves a channel and calls it.
func client(t *testing.T, targets bool, c *channel) *notify.Client {
	t.Helper()
	def := notify.Definition[struct{}]{
		Image: true, PerUserTarget: targets, MaxTextBytes: 4096,
		Build: func(notify.Instance, struct{}) (notify.Open, schema.Diagnostics) {
			return func(context.Context) (notify.Channel, error) { return c, nil }, nil
		},
	}
	l := plugintest.Load(t, framework.Plugin{Name: "p", Version: "1.0.0", Kinds: []framework.Kind{notify.New(def)}})
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "ops", `{}`)))
}

func whole() *notify.Notification {
	return &notify.Notification{
		ID: "n-1", Kind: "search.key_invalid", Version: 2, SentAt: time.UnixMilli(1_700_000_000_123).UTC(), Severity: notify.Error,
		Title: notify.Text{Plain: "t", Markdown: "*t*", HTML: "<i>t</i>"}, Summary: notify.Text{Plain: "s"}, Detail: notify.Text{Plain: "d"},
		Links: []notify.Link{{Label: "l", URL: "https://example.com/"}}, Payload: []byte(`{"a":1}`), Image: []byte("png"),
	}
}

func TestEverythingArrives(t *testing.T) {
	var got *notify.Notification
	var at notify.Target
	want := &notify.Receipt{MessageIDs: []string{"1", "2"}, Delivered: []notify.Part{notify.PartTitle, notify.PartImage},
		Warnings: []string{"shortened"}}
	c := client(t, true, &channel{send: func(_ context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
		got, at = n, to
		return want, nil
	}})
	to := notify.Target{JSON: []byte(`{"chat":1}`), Secret: "s3cret"}
	receipt, err := c.Send(t.Context(), whole(), to)
	if err != nil || !reflect.DeepEqual(receipt, want) {
		t.Fatalf("receipt %+v, %v", receipt, err)
	}
	if !reflect.DeepEqual(got, whole()) || !reflect.DeepEqual(at, to) {
		t.Errorf("got %+v to %+v", got, at)
	}
}

func TestWhatTheSDKRefuses(t *testing.T) {
	sent := 0
	ch := &channel{send: func(context.Context, *notify.Notification, notify.Target) (*notify.Receipt, error) {
		sent++
		return nil, nil
	}}
	with, without := client(t, true, ch), client(t, false, ch)
	change := func(f func(*notify.Notification)) *notify.Notification { n := whole(); f(n); return n }
	for name, c := range map[string]struct {
		client *notify.Client
		n      *notify.Notification
		to     notify.Target
	}{
		"id":            {with, change(func(n *notify.Notification) { n.ID = "a b" }), notify.Target{}},
		"title":         {with, change(func(n *notify.Notification) { n.Title = notify.Text{} }), notify.Target{}},
		"payload":       {with, change(func(n *notify.Notification) { n.Payload = []byte("{") }), notify.Target{}},
		"empty":         {with, &notify.Notification{}, notify.Target{}},
		"target":        {with, whole(), notify.Target{JSON: []byte(`[]`)}},
		"bad target":    {with, whole(), notify.Target{JSON: []byte(`{"chat":0}`)}},
		"no targets":    {without, whole(), notify.Target{JSON: []byte(`{}`)}},
		"target secret": {without, whole(), notify.Target{Secret: "x"}},
	} {
		_, err := c.client.Send(t.Context(), c.n, c.to)
		if e := errs.From(err); e == nil || e.Source != errs.Caller || notify.OutcomeOf(err) != notify.Refused {
			t.Errorf("%s: %v", name, err)
		}
	}
	if sent != 0 {
		t.Errorf("%d were sent", sent)
	}
	if receipt, err := without.Send(t.Context(), whole(), notify.Target{}); err != nil || receipt == nil || sent != 1 {
		t.Errorf("without a target: %+v, %v", receipt, err)
	}
	ds, err := with.ValidateTarget(t.Context(), notify.Target{JSON: []byte(`{"chat":0}`)})
	if err != nil || len(ds) != 1 || ds[0].Path.String() != "chat" {
		t.Errorf("diagnostics %v, %v", ds, err)
	}
}

func TestOutcomesCrossTheWire(t *testing.T) {
	// A call that was cut off may still be ending when the next one begins.
	var next atomic.Pointer[error]
	fail := func(err error) { next.Store(&err) }
	c := client(t, false, &channel{send: func(ctx context.Context, _ *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
		err := *next.Load()
		if err == nil {
			<-ctx.Done()
			return nil, fmt.Errorf("send: %w", ctx.Err())
		}
		return nil, err
	}})
	for _, tt := range []struct {
		err  error
		want notify.Outcome
	}{
		{notify.Temporary(7*time.Second, "BUSY", "come back"), notify.Retryable},
		{fmt.Errorf("wrapped: %w", notify.Permanent("GONE", "no such chat")), notify.Refused},
		{notify.Unknown("connection lost after sending"), notify.Uncertain},
		{errors.New("not classified"), notify.Uncertain},
		{errs.BadInput("INVALID_TARGET", "no"), notify.Refused},
		{errs.Unavailable(errs.ReasonConnect, "no connection"), notify.Retryable},
		{nil, notify.Uncertain},
	} {
		fail(tt.err)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		if tt.err == nil {
			ctx, cancel = context.WithTimeout(t.Context(), 30*time.Millisecond)
		}
		_, err := c.Send(ctx, whole(), notify.Target{})
		cancel()
		if got := notify.OutcomeOf(err); got != tt.want {
			t.Errorf("%v: outcome %s, want %s", tt.err, got, tt.want)
		}
	}
	fail(notify.Temporary(7*time.Second, "BUSY", "come back"))
	_, err := c.Send(t.Context(), whole(), notify.Target{})
	if e := errs.From(err); e.RetryAfter != 7*time.Second || e.Reason != "BUSY" {
		t.Errorf("got %+v", e)
	}
}

func TestOutcomeOfOtherErrors(t *testing.T) {
	for name, tt := range map[string]struct {
		err  error
		want notify.Outcome
	}{
		"none":               {nil, notify.Delivered},
		"process died":       {status.Error(codes.Unavailable, "error reading from server: EOF"), notify.Uncertain},
		"panic":              {errs.New(errs.Plugin, codes.Internal, errs.ReasonPanic, "x"), notify.Uncertain},
		"instance is gone":   {errs.New(errs.Host, codes.FailedPrecondition, errs.ReasonUnknownInstance, "x"), notify.Retryable},
		"service is missing": {status.Error(codes.Unimplemented, "x"), notify.Refused},
		"cancelled":          {status.Error(codes.Canceled, "x"), notify.Uncertain},
	} {
		if got := notify.OutcomeOf(tt.err); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
	for o, want := range map[notify.Outcome]string{notify.Delivered: "delivered", notify.Retryable: "temporary", notify.Refused: "permanent",
		notify.Uncertain: "unknown"} {
		if o.String() != want {
			t.Errorf("%d is called %s", o, o)
		}
	}
}

func TestDeclaration(t *testing.T) {
	build := func(notify.Instance, struct{}) (notify.Open, schema.Diagnostics) { return nil, nil }
	for name, d := range map[string]notify.Definition[struct{}]{
		"no build":              {},
		"negative text":         {Build: build, MaxTextBytes: -1},
		"schema without target": {Build: build, TargetSchema: `{"type":"object"}`},
	} {
		if _, err := notify.New(d).Describe(); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	k, err := notify.New(notify.Definition[struct{}]{Build: build, HTML: true, PerUserTarget: true, Idempotent: true,
		MaxTextBytes: 5}).Describe()
	if err != nil {
		t.Fatal(err)
	}
	d, err := notify.ParseDescriptor(k)
	if err != nil || !d.Has(notify.CapHTML) || !d.Has(notify.CapIdempotent) || !d.Has(notify.CapPerUserTarget) || d.Has(notify.CapImage) ||
		d.MaxTextBytes != 5 {
		t.Errorf("descriptor %+v, %v", d, err)
	}
}

func TestTextParts(t *testing.T) {
	text := notify.Text{Plain: "x"}
	whole := notify.Notification{Title: text, Summary: text, Detail: text, Links: []notify.Link{{URL: "https://example.com"}}}
	for want, n := range map[string]notify.Notification{
		fmt.Sprint([]notify.Part{notify.PartTitle}):                                                          {Title: text},
		fmt.Sprint([]notify.Part{notify.PartTitle, notify.PartDetail}):                                       {Title: text, Detail: text},
		fmt.Sprint([]notify.Part{notify.PartTitle, notify.PartSummary, notify.PartDetail, notify.PartLinks}): whole,
	} {
		if got := fmt.Sprint(n.TextParts()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
