package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

type send = func(ctx context.Context, b *box, n *notify.Notification, to notify.Target) (*notify.Receipt, error)

// goodChannel is a plugin that keeps the contract; tests change single parts of it.
type goodChannel struct {
	def      notify.Definition[boxConfig]
	send     send
	validate func(to notify.Target) schema.Diagnostics
	describe func(*pluginv1.Kind)

	mu  sync.Mutex
	ids []string
}

type boxConfig struct {
	Mode string `patchbay:"mode,default=good,enum=good|slow|busy|gone|lost"`
}

type box struct {
	plugin *goodChannel
	inst   notify.Instance
	mode   string
}

func newGoodChannel() *goodChannel {
	g := &goodChannel{describe: func(*pluginv1.Kind) {}}
	g.def = notify.Definition[boxConfig]{
		Image: true, PerUserTarget: true, MaxTextBytes: 1 << 20, TargetSchema: `{"type":"object"}`,
		Build: func(inst notify.Instance, cfg boxConfig) (notify.Open, schema.Diagnostics) {
			return func(context.Context) (notify.Channel, error) { return &box{plugin: g, inst: inst, mode: cfg.Mode}, nil }, nil
		},
	}
	g.send = func(ctx context.Context, b *box, n *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
		return b.deliver(ctx, n)
	}
	g.validate = func(to notify.Target) schema.Diagnostics {
		var in struct{ Chat int }
		if json.Unmarshal(to.JSON, &in) != nil || in.Chat < 1 {
			return schema.Errorf(schema.At("chat"), "must be positive")
		}
		return nil
	}
	return g
}

func (b *box) Send(ctx context.Context, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	return b.plugin.send(ctx, b, n, to)
}

func (b *box) ValidateTarget(to notify.Target) schema.Diagnostics { return b.plugin.validate(to) }

func (b *box) deliver(ctx context.Context, n *notify.Notification) (*notify.Receipt, error) {
	switch b.mode {
	case "slow":
		<-ctx.Done()
		return nil, ctx.Err()
	case "busy":
		return nil, notify.Temporary(time.Second, "BUSY", "busy")
	case "gone":
		return nil, notify.Permanent("GONE", "gone")
	case "lost":
		return nil, notify.Unknown("the connection was lost")
	}
	b.plugin.note(n.ID)
	return &notify.Receipt{MessageIDs: []string{"1"}, Delivered: []notify.Part{notify.PartTitle, notify.PartImage}}, nil
}

func (g *goodChannel) note(id string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ids = append(g.ids, id)
}

func (g *goodChannel) received() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.ids)
}

func (g *goodChannel) plugin() framework.Plugin {
	return framework.Plugin{Name: "good", Version: "1.0.0", Kinds: []framework.Kind{described{notify.New(g.def), g.describe}}}
}

func (g *goodChannel) config() NotifyConfig {
	to := notify.Target{JSON: []byte(`{"chat":1}`), Secret: key}
	return NotifyConfig{
		Invalid: []string{`{"mode":"bad"}`}, Target: to, BadTargets: []string{`{"chat":0}`, `{}`}, Received: g.received,
		Timeout: 10 * time.Second, Prompt: time.Second, Slow: &NotifyCase{JSON: `{"mode":"slow"}`, Target: to},
		Failures: []NotifyCase{
			{JSON: `{"mode":"busy"}`, Target: to, Outcome: notify.Retryable},
			{JSON: `{"mode":"gone"}`, Target: to, Outcome: notify.Refused},
			{JSON: `{"mode":"lost"}`, Target: to, Outcome: notify.Uncertain},
		},
	}
}

func TestGoodChannelPasses(t *testing.T) {
	g := newGoodChannel()
	wantWhole(t, runSuite(t, g.plugin(), g.config(), Notify))
}

// A channel that takes no recipients and about which nothing is known but its configuration.
func TestPlainChannelPasses(t *testing.T) {
	g := newGoodChannel()
	g.def.PerUserTarget, g.def.TargetSchema = false, ""
	if err := runSuite(t, g.plugin(), NotifyConfig{}, Notify).Err(); err != nil {
		t.Error(err)
	}
}

func TestWrongChannels(t *testing.T) {
	when := func(pick func(*box, *notify.Notification) bool, then send) func(*goodChannel) {
		return func(g *goodChannel) {
			g.send = func(ctx context.Context, b *box, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
				if pick(b, n) {
					return then(ctx, b, n, to)
				}
				return b.deliver(ctx, n)
			}
		}
	}
	id := func(part string) func(*box, *notify.Notification) bool {
		return func(_ *box, n *notify.Notification) bool { return strings.Contains(n.ID, part) }
	}
	says := func(r *notify.Receipt, err error) send {
		return func(context.Context, *box, *notify.Notification, notify.Target) (*notify.Receipt, error) {
			return r, err
		}
	}
	slow := func(b *box, _ *notify.Notification) bool { return b.mode == "slow" }
	for _, tt := range []struct {
		name   string
		want   []string
		change func(*goodChannel)
	}{
		{"another service", []string{"describe"},
			func(g *goodChannel) { g.describe = func(k *pluginv1.Kind) { k.Service = "other.v1.Channel" } }},
		{"schema of a string", []string{"descriptor"}, func(g *goodChannel) { g.def.TargetSchema = `{"type":"string"}` }},
		{"targets without saying so", []string{"descriptor"},
			func(g *goodChannel) { g.describe = func(k *pluginv1.Kind) { k.Capabilities = nil } }},
		{"accepts any target", []string{"target"}, func(g *goodChannel) { g.validate = func(notify.Target) schema.Diagnostics { return nil } }},
		{"delivers no part", []string{"send"}, when(id("least"), says(nil, nil))},
		{"a part twice", []string{"send"}, when(id("least"),
			func(_ context.Context, b *box, n *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
				b.plugin.note(n.ID)
				return &notify.Receipt{Delivered: []notify.Part{notify.PartTitle, notify.PartTitle}}, nil
			})},
		{"an image without the capability", []string{"send"}, func(g *goodChannel) { g.def.Image = false }},
		{"says sent and is not", []string{"send"}, when(id("least"), says(&notify.Receipt{Delivered: []notify.Part{notify.PartTitle}}, nil))},
		{"drops repetitions", []string{"repetition"}, func(g *goodChannel) {
			g.send = func(ctx context.Context, b *box, n *notify.Notification, _ notify.Target) (*notify.Receipt, error) {
				if n.ID == "conformance-repetition" && slices.Contains(g.received(), n.ID) {
					return &notify.Receipt{Delivered: []notify.Part{notify.PartTitle}}, nil
				}
				return b.deliver(ctx, n)
			}
		}},
		{"fails at repetitions", []string{"repetition"}, when(id("repetition"), says(nil, notify.Permanent("SEEN", "seen")))},
		{"large payloads break it", []string{"large-payload"}, when(id("large"), says(nil, errors.New("too large")))},
		{"fails at once", []string{"concurrency"}, when(id("concurrent"), says(nil, notify.Temporary(0, "BUSY", "busy")))},
		{"goes on after the end", []string{"cancel", "deadline"},
			when(slow, func(context.Context, *box, *notify.Notification, notify.Target) (*notify.Receipt, error) {
				time.Sleep(3 * time.Second)
				return nil, nil
			})},
		{"calls a busy one gone", []string{"failures"},
			when(func(b *box, _ *notify.Notification) bool { return b.mode == "busy" }, says(nil, notify.Permanent("GONE", "gone")))},
		{"does not classify", []string{"failures"},
			when(func(b *box, _ *notify.Notification) bool { return b.mode == "gone" }, says(nil, errors.New("gone")))},
		{"odd reason", []string{"errors"}, when(func(b *box, _ *notify.Notification) bool { return b.mode == "gone" },
			says(nil, notify.Permanent("it is gone", "gone")))},
		{"panics", []string{"panics"}, when(id("large"),
			func(context.Context, *box, *notify.Notification, notify.Target) (*notify.Receipt, error) { panic("oh") })},
		{"secret in the log", []string{"credential"},
			when(id("least"), func(ctx context.Context, b *box, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
				b.inst.Log.Debug("sending", "with", to.Secret.Reveal())
				return b.deliver(ctx, n)
			})},
		{"secret in an error", []string{"credential"},
			when(id("large"), func(_ context.Context, _ *box, _ *notify.Notification, to notify.Target) (*notify.Receipt, error) {
				return nil, notify.Permanent("NO", "refused with %s", to.Secret.Reveal())
			})},
		{"secret in a warning", []string{"credential"},
			when(id("large"), func(_ context.Context, _ *box, _ *notify.Notification, to notify.Target) (*notify.Receipt, error) {
				return &notify.Receipt{Delivered: []notify.Part{notify.PartTitle}, Warnings: []string{to.Secret.Reveal()}}, nil
			})},
		{"secret in a diagnostic", []string{"credential"}, func(g *goodChannel) {
			validate := g.validate
			g.validate = func(to notify.Target) schema.Diagnostics {
				return append(validate(to), schema.Warnf(nil, "the secret is %s", to.Secret.Reveal())...)
			}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodChannel()
			tt.change(g)
			wantFailures(t, runSuite(t, g.plugin(), g.config(), Notify), tt.want...)
		})
	}
}

// A channel that refuses its target fails in all that sends. Whether its answer comes before the end of a call that is cut short depends
// on the machine, so that those checks may pass.
func TestChannelRefusesItsTarget(t *testing.T) {
	g := newGoodChannel()
	g.validate = func(notify.Target) schema.Diagnostics { return schema.Errorf(nil, "no") }
	rep := runSuite(t, g.plugin(), g.config(), Notify)
	rep.Results = slices.DeleteFunc(rep.Results, func(res report.Result) bool { return res.Name() == "cancel" || res.Name() == "deadline" })
	wantFailures(t, rep, "target", "send", "repetition", "concurrency", "failures")
}

// What the SDK does not permit is wrong on the wire.
func TestWrongChannelsOnTheWire(t *testing.T) {
	for _, tt := range []struct {
		name  string
		want  []string
		twist twist
	}{
		{"accepts any notification", []string{"bad-notification"}, func(_ context.Context, _ string, req, reply any, next func() error) error {
			if r, ok := req.(*notifyv1.SendRequest); ok && strings.Contains(r.Notification.Id, "bad") {
				r.Notification = (&notifyv1.Notification{Id: "x", Kind: "k", Title: &notifyv1.Text{Plain: "t"}})
			}
			return next()
		}},
		{"another reason for unknown instances", []string{"unknown-instance"},
			func(_ context.Context, _ string, req, _ any, next func() error) error {
				err := next()
				if _, ok := req.(*notifyv1.SendRequest); ok && err != nil && errs.From(err).Reason == errs.ReasonUnknownInstance {
					return errs.NotFound("NO_INSTANCE", "no").GRPCStatus().Err()
				}
				return err
			}},
		{"another id", []string{"send", "repetition"}, func(_ context.Context, _ string, req, _ any, next func() error) error {
			if r, ok := req.(*notifyv1.SendRequest); ok && strings.HasPrefix(r.Notification.Id, "conformance-") {
				r.Notification.Id = "own"
			}
			return next()
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			g := newGoodChannel()
			l := plugintest.LoadWith(t, g.plugin(), hclog.NewNullLogger())
			wantFailures(t, Notify(t.Context(), wire{l.Conn, tt.twist}, g.config()), tt.want...)
		})
	}
}
