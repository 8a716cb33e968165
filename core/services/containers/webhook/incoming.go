package webhook

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// The headers of a package webhook; of the last two the code host's own spelling is taken as well.
const (
	HeaderSignature = "X-Hub-Signature-256"
	HeaderEvent     = "X-Host-Event"
	HeaderDelivery  = "X-Host-Delivery"
	AliasEvent      = "X-GitHub-Event"
	AliasDelivery   = "X-GitHub-Delivery"
)

const (
	// BodyLimit is the largest body of a package webhook.
	BodyLimit = 8 << 20
	// maxDeliveryID bounds the id of a delivery, in bytes.
	maxDeliveryID = 200
)

// codeSignature is the code of a webhook whose sender is not known.
const codeSignature fault.Code = "invalid_signature"

// SignatureError returns the error for a webhook whose sender is not known, and why.
func SignatureError(why, text string) *fault.Error {
	return fault.New(codeSignature, "%s", text).WithStatus(http.StatusUnauthorized).With("reason", why)
}

// Incoming is a package webhook as it came.
type Incoming struct {
	Signature, Event, ID string
	body                 []byte
	// Hook is what it says; nil for a body that cannot be read.
	Hook *codehost.Webhook
}

// Why a webhook is not acted on.
const (
	IgnoredDisabled    = "disabled"
	IgnoredEvent       = "not_package_event"
	IgnoredAction      = "not_published"
	IgnoredRepo        = "repo_not_selected"
	IgnoredDuplicate   = "duplicate_delivery"
	RejectedJSON       = "invalid_json"
	FallbackNoMatch    = "no_managed_service_match"
	FallbackOwnerOnly  = "owner_only_payload"
	EventReceived      = "delivery_received"
	EventRepeated      = "delivery_repeated"
	signatureWrong     = "signature_mismatch"
	SignatureNoSecret  = "webhook_secret_not_configured"
	SignatureTriggered = "webhook_secret_mismatch"
)

// CheckHeaders returns an error if a header is missing or malformed.
func (in *Incoming) CheckHeaders() error {
	for _, h := range []struct{ name, value string }{{HeaderSignature, in.Signature}, {HeaderEvent, in.Event}, {HeaderDelivery, in.ID}} {
		odd := strings.ContainsFunc(h.value, func(r rune) bool { return r <= ' ' || r > '~' })
		if h.value == "" || odd || len(h.value) > maxDeliveryID {
			return fault.New(fault.InvalidArgument, "The header %s is missing or not valid.", h.name).With("field", h.name)
		}
	}
	return nil
}

// Authenticate checks the signature of a delivery over its body, which readBody returns, and then has the plugin parse it. It reports
// whether the integration is on.
func (i *Inbox) Authenticate(ctx context.Context, in *Incoming, readBody func() ([]byte, error)) (enabled bool, err error) {
	cfg, err := i.hooks.hookConfig(ctx)
	if err != nil {
		return false, err
	}
	host := i.cfg.CodeHost()
	switch {
	case cfg.Secret == "":
		return false, SignatureError(SignatureNoSecret, "No webhook secret is set.")
	case host == nil:
		return false, SignatureError(WhyNoHost, "No code host is configured.")
	}
	if in.body, err = readBody(); err != nil {
		return false, err
	}
	in.Hook, err = host.ParseWebhook(ctx, codehost.Delivery{Event: in.Event, Signature: in.Signature, Body: in.body, Secret: cfg.Secret})
	if err == nil {
		return cfg.Enabled, nil
	}
	var e *errs.Error
	if errors.As(err, &e) && e.Code == codes.Unauthenticated {
		return false, SignatureError(signatureWrong, "The signature does not belong to the body.")
	}
	if errors.As(err, &e) && e.Reason == codehost.ReasonInvalidPayload {
		in.Hook = nil
		return cfg.Enabled, nil
	}
	return false, err
}

// IgnoredWebhook is the answer to a webhook that nothing is done about.
type IgnoredWebhook struct {
	OK           bool   `json:"ok" example:"true"`
	Ignored      bool   `json:"ignored" example:"true"`
	Reason       string `json:"reason" enum:"disabled,not_package_event,not_published,repo_not_selected,duplicate_delivery"`
	AttemptCount int    `json:"attemptCount,omitempty" doc:"How often this delivery came."`
}

// AcceptedWebhook is the answer to a webhook that started work, or that work under way is done for.
type AcceptedWebhook struct {
	OK                bool     `json:"ok" example:"true"`
	AttemptCount      int      `json:"attemptCount" doc:"How often this delivery came."`
	JobID             string   `json:"jobId,omitempty" example:"job_01K9ZS5T9W1V6Q0P9A8E7C6B5D"`
	JobIDs            []string `json:"jobIds"`
	MatchedServiceIDs []string `json:"matchedServiceIds"`
	ReusedJobIDs      []string `json:"reusedJobIds" doc:"Jobs that were under way already."`
	FallbackUsed      bool     `json:"fallbackUsed" doc:"Whether a discovery was started since no service matches."`
	FallbackReason    string   `json:"fallbackReason,omitempty" enum:"no_managed_service_match,owner_only_payload"`
}
