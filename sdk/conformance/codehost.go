package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CodeHostDelivery is a webhook request, and what reading it must come to.
type CodeHostDelivery struct {
	Delivery codehost.Delivery
	// Want is what it says; nil if Reason is what the error must have.
	Want   *codehost.Webhook
	Reason string
}

// CodeHostConfig tells how to use a code host plugin.
type CodeHostConfig struct {
	// JSON is a config block that the plugin accepts; empty means one without members. Invalid are blocks that it must
	// refuse, beyond those that the suite makes from the schema.
	JSON    string
	Invalid []string
	// Token is accepted by the host. Without it nothing is asked of the host.
	Token schema.Secret
	// Inputs are what persons type, each with the kind that it must be resolved as.
	Inputs map[string]string
	// Repo is a repository, owner/name, whose hooks the suite may change; it takes away what it made. Empty leaves those
	// checks out. Missing is one that does not exist.
	Repo, Missing string
	// ReleasesOf is a repository with two published releases at least, to the latest of which the suite may react; it takes its
	// reaction away. Empty leaves those checks out.
	ReleasesOf string
	// Deliveries are signed webhook requests.
	Deliveries []CodeHostDelivery
	// Slow is an input that the host does not answer within 10 seconds; empty leaves those checks out.
	Slow string
	// BaseDir is the directory of the configuration file.
	BaseDir string
	// Logs returns what the plugin has logged so far; nil if that cannot be known.
	Logs func() string
	// Timeout bounds each call (30 s). Prompt bounds the end of a call whose context has ended, and the removal of an
	// instance that serves no call (5 s).
	Timeout, Prompt time.Duration
}

// hookSecret is the secret of the hooks that the suite makes.
const hookSecret = "conformance-hook-secret-4f1c"

type codehostRun struct {
	*suite.Run
	cfg CodeHostConfig
}

// CodeHost runs all checks of the codehost kind over a connection to a plugin. The plugin is stopped at the end; its
// process is the caller's to end.
func CodeHost(ctx context.Context, conn grpc.ClientConnInterface, cfg CodeHostConfig) report.Report {
	secrets := []string{cfg.Token.Reveal(), hookSecret}
	for _, d := range cfg.Deliveries {
		secrets = append(secrets, d.Delivery.Secret.Reveal())
	}
	b, done := suite.New(conn, codehost.Kind, codehost.Service, suite.Settings{
		JSON: cfg.JSON, Invalid: cfg.Invalid, BaseDir: cfg.BaseDir, Logs: cfg.Logs, Timeout: cfg.Timeout, Prompt: cfg.Prompt, Secrets: secrets,
	})
	defer done()
	r := &codehostRun{Run: b, cfg: cfg}
	b.Answers = func(ctx context.Context, id string) bool {
		_, err := r.parseDelivery(ctx, id, codehost.Delivery{Event: codehost.EventPackage, Body: []byte("{}"), Secret: "x"})
		return suite.IsPresent(err)
	}
	return r.Perform(ctx, suite.Checks{List: []suite.Check{
		{Name: "unknown-instance", Perform: r.unknownInstance},
		{Name: "forged", Perform: r.checkForgedDeliveries},
		{Name: "deliveries", Perform: r.checkDeliveries},
		{Name: "bad-request", Perform: r.badRequest},
		{Name: "resolve", Perform: r.resolveAll},
		{Name: "token", Perform: r.wrongToken},
		{Name: "missing", Perform: r.checkMissing},
		{Name: "optional-calls", Perform: r.optionalCalls},
		{Name: "hooks", Perform: r.checkHooks},
		{Name: "account", Perform: r.checkAccount},
		{Name: "releases", Perform: r.checkReleases},
		{Name: "reactions", Perform: r.checkReactions},
		{Name: "oauth", Perform: r.checkOAuth},
		{Name: "cancel", Perform: suite.CancelEarly(r.cutShort)},
		{Name: "deadline", Perform: suite.ExpireEarly(r.cutShort)},
	}})
}

func (r *codehostRun) clientAt(id string) *codehost.Client { return codehost.NewClient(r.Conn, id) }

func (r *codehostRun) parseDelivery(ctx context.Context, id string, d codehost.Delivery) (*codehost.Webhook, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	got, err := r.clientAt(id).ParseWebhook(ctx, d)
	return got, r.InspectError("parse webhook", err)
}

func (r *codehostRun) resolveInput(ctx context.Context, id string, token schema.Secret, input string) (*codehost.Resolution, error) {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	got, err := r.clientAt(id).Resolve(ctx, token, input)
	return got, r.InspectError("resolve", err)
}

func (r *codehostRun) unknownInstance(ctx context.Context) error {
	return errors.Join(
		r.CheckUnknownInstances(func(id string) error {
			return suite.ErrorAlone(r.parseDelivery(ctx, id, codehost.Delivery{Event: "x", Body: []byte("{}"), Secret: "x"}))
		}),
		r.CheckUnknownInstances(func(id string) error { return suite.ErrorAlone(r.resolveInput(ctx, id, r.cfg.Token, "owner/repo")) }))
}

// checkReason tells what is wrong with an error of ParseWebhook.
func (r *codehostRun) checkReason(what string, err error, want string) error {
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	code := codes.InvalidArgument
	if want == codehost.ReasonInvalidSignature {
		code = codes.Unauthenticated
	}
	if e := errs.From(err); e == nil || e.Reason != want || e.Code != code || e.Source != errs.Caller {
		return fmt.Errorf("%s should end with %s, %s, source caller; got: %v", what, code, want, err)
	}
	return nil
}

// checkForgedDeliveries checks that no body is believed without its signature.
func (r *codehostRun) checkForgedDeliveries(ctx context.Context) error {
	if !r.hasAbility(codehost.CapWebhooks) {
		return noWebhooks
	}
	for _, signature := range []string{"", "sha256=", "sha1=00", "sha256=zz", "sha256=" + strings.Repeat("0", 64),
		strings.Repeat("x", 1<<16)} {
		for _, d := range []codehost.Delivery{
			{Event: codehost.EventPackage, Body: []byte(`{"action":"published"}`), Secret: "conformance"},
			{Event: codehost.EventPackage, Body: []byte(`not json`), Secret: "conformance"},
			{Event: "", Body: nil, Secret: "conformance"},
			{Event: codehost.EventPackage, Body: []byte(`{}`)},
		} {
			d.Signature = signature
			_, err := r.parseDelivery(ctx, r.MainID, d)
			if err := r.checkReason(fmt.Sprintf("the signature %.20q over %q", signature, d.Body), err,
				codehost.ReasonInvalidSignature); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *codehostRun) checkDeliveries(ctx context.Context) error {
	if !r.hasAbility(codehost.CapWebhooks) {
		return noWebhooks
	}
	if len(r.cfg.Deliveries) == 0 {
		return suite.Skip("there is no signed delivery")
	}
	for i, d := range r.cfg.Deliveries {
		got, err := r.parseDelivery(ctx, r.MainID, d.Delivery)
		if d.Want == nil {
			if err := r.checkReason(fmt.Sprintf("delivery %d", i), err, d.Reason); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return fmt.Errorf("delivery %d: %w", i, err)
		}
		if !sameWebhook(got, d.Want) {
			return fmt.Errorf("delivery %d: got %+v, want %+v", i, got, d.Want)
		}
		changed := d.Delivery
		changed.Body = append(slices.Clone(changed.Body), ' ')
		_, err = r.parseDelivery(ctx, r.MainID, changed)
		if err := r.checkReason(fmt.Sprintf("delivery %d with a space more", i), err, codehost.ReasonInvalidSignature); err != nil {
			return err
		}
		changed = d.Delivery
		changed.Secret += "x"
		_, err = r.parseDelivery(ctx, r.MainID, changed)
		if err := r.checkReason(fmt.Sprintf("delivery %d with another secret", i), err, codehost.ReasonInvalidSignature); err != nil {
			return err
		}
	}
	return nil
}

func sameWebhook(a, b *codehost.Webhook) bool {
	tags := slices.Equal(a.Tags, b.Tags)
	x, y := *a, *b
	x.Tags, y.Tags = nil, nil
	return tags && fmt.Sprintf("%+v", x) == fmt.Sprintf("%+v", y)
}
