package conformance

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// NotifyCase is an instance and a recipient, for calls that do not end well.
type NotifyCase struct {
	// JSON is a config block; empty means NotifyConfig.JSON.
	JSON   string
	Target notify.Target
	// Outcome is what a Send must end with.
	Outcome notify.Outcome
}

// NotifyConfig tells how to use a notify plugin. The suite really sends: some dozens of notifications.
type NotifyConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// Target is the recipient of all notifications; empty leaves it to the instance.
	Target notify.Target
	// BadTargets are recipients, as JSON, that ValidateTarget must refuse.
	BadTargets []string
	// Failures are sends that must fail, with the outcome that they must report.
	Failures []NotifyCase
	// Slow is a send that does not end by itself within 10 seconds; its Outcome does not count. Without it the sample
	// stands in, and little is learnt about cancelled calls.
	Slow *NotifyCase
	// Received returns the ids that the other side got so far, in order, from notifications of this run; nil if that
	// cannot be known.
	Received func() []string
	// Secrets are the secrets in JSON, Target, Failures and Slow: texts that are found nowhere else.
	Secrets []string
	// BaseDir is the directory of the configuration file; DataDir is a directory below which each instance gets its own.
	// Empty DataDir makes a temporary one.
	BaseDir string
	DataDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout time.Duration
	Prompt  time.Duration
}

// notifyRun is one run of the suite.
type notifyRun struct {
	*suite.Run
	cfg  NotifyConfig
	desc *notify.Descriptor
}

// Notify runs all checks of the notify kind over a connection to a plugin. The plugin is stopped at the end; its process
// is the caller's to end.
func Notify(ctx context.Context, conn grpc.ClientConnInterface, cfg NotifyConfig) report.Report {
	secrets := append([]string{cfg.Target.Secret.Reveal()}, cfg.Secrets...)
	b, done := suite.New(conn, notify.Kind, notify.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, DataDir: cfg.DataDir, Logs: cfg.Logs,
		Timeout: cfg.Timeout, Prompt: cfg.Prompt, Secrets: secrets,
	})
	defer done()
	r := &notifyRun{Run: b, cfg: cfg}
	b.Answers = r.instanceAnswers
	return r.Perform(ctx, suite.Checks{Descriptor: r.checkDescriptor, List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "target", Perform: r.checkTarget},
		{Name: "send", Perform: r.sendAll},
		{Name: "repetition", Perform: r.checkRepetition},
		{Name: "bad-notification", Perform: r.badNotification},
		{Name: "large-payload", Perform: r.largePayload},
		{Name: "concurrency", Perform: r.checkConcurrency},
		{Name: "cancel", Perform: suite.CancelEarly(r.cutShort)},
		{Name: "deadline", Perform: suite.ExpireEarly(r.cutShort)},
		{Name: "failures", Perform: r.checkFailures},
	}})
}

func (r *notifyRun) checkDescriptor(context.Context) (err error) {
	if r.desc, err = notify.ParseDescriptor(r.Kind); err != nil {
		return err
	}
	if r.desc.MaxTextBytes < 0 {
		return fmt.Errorf("max_text_bytes is %d", r.desc.MaxTextBytes)
	}
	if r.desc.TargetSchema == "" {
		return nil
	}
	if !r.HasCapability(notify.CapPerUserTarget) {
		return fmt.Errorf("there is a target schema, and the capability %s is missing", notify.CapPerUserTarget)
	}
	var s struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal([]byte(r.desc.TargetSchema), &s); err != nil || s.Type != "object" {
		return fmt.Errorf("the target schema is no JSON Schema of an object: type %q, %v", s.Type, err)
	}
	return nil
}

// instanceAnswers asks for a check of the target: that sends nothing.
func (r *notifyRun) instanceAnswers(ctx context.Context, id string) bool {
	_, err := r.validateTarget(ctx, id, r.cfg.Target)
	return suite.IsPresent(err)
}

func (r *notifyRun) validateTarget(ctx context.Context, id string, to notify.Target) (schema.Diagnostics, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	ds, err := notify.NewClient(r.Conn, id).ValidateTarget(ctx, to)
	for _, d := range ds {
		r.NoteSecrets("diagnostic of a target", d.String())
	}
	return ds, err
}

// sendNotification delivers n at an instance and keeps an eye on what comes back.
func (r *notifyRun) sendNotification(ctx context.Context, id string, n *notify.Notification, to notify.Target) (*notify.Receipt, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	receipt, err := notify.NewClient(r.Conn, id).Send(ctx, n, to)
	if err != nil {
		return nil, r.InspectError("send", err)
	}
	for _, text := range append(receipt.Warnings, receipt.MessageIDs...) {
		r.NoteSecrets("receipt", text)
	}
	return receipt, nil
}

func (r *notifyRun) unknownInstance(ctx context.Context) error {
	return errors.Join(
		r.CheckUnknownInstances(func(id string) error {
			return suite.ErrorAlone(r.sendNotification(ctx, id, r.newSample("unknown"), r.cfg.Target))
		}),
		r.CheckUnknownInstances(func(id string) error {
			_, err := r.validateTarget(ctx, id, r.cfg.Target)
			return r.InspectError("validate target", err)
		}))
}

func (r *notifyRun) checkTarget(ctx context.Context) error {
	ds, err := r.validateTarget(ctx, r.MainID, r.cfg.Target)
	if err != nil {
		return r.InspectError("validate target", err)
	}
	if ds.HasErrors() {
		return fmt.Errorf("the good target is refused: %w", ds.Err())
	}
	for _, bad := range append([]string{`[]`, `"x"`, `{"`, `null`}, r.cfg.BadTargets...) {
		to := notify.Target{JSON: []byte(bad), Secret: r.cfg.Target.Secret}
		ds, err := r.validateTarget(ctx, r.MainID, to)
		if err != nil {
			return fmt.Errorf("the target %s: %w", bad, r.InspectError("validate target", err))
		}
		if !ds.HasErrors() {
			return fmt.Errorf("the target %s should be refused, got: %v", bad, ds)
		}
		if err := r.checkRefusal(ctx, r.newSample("bad-target"), to); err != nil {
			return fmt.Errorf("the target %s: %w", bad, err)
		}
	}
	return nil
}
