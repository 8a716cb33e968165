package api

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/webhook"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// headerWebhookSecret carries the shared secret of the generic trigger.
const headerWebhookSecret = "X-Svc-Webhook-Secret"

// TriggerBody asks for a check or an update from outside.
type TriggerBody struct {
	Action            string       `json:"action" enum:"check,update"`
	Scope             string       `json:"scope" enum:"all,stack,service"`
	StackID           string       `json:"stackId" required:"false" maxLength:"64" doc:"With scope=stack."`
	ServiceID         string       `json:"serviceId" required:"false" maxLength:"64" doc:"With scope=service."`
	Targets           []TargetBody `json:"targets" required:"false" maxItems:"2000" doc:"An update needs them, also with scope=service."`
	AllowArchMismatch bool         `json:"allowArchMismatch" required:"false"`
	BackupMode        string       `json:"backupMode" required:"false" enum:"inherit,skip,force"`
}

// handleTrigger takes the generic trigger.
func (h *handlers) handleTrigger(c *gin.Context) {
	if err := h.cfg.service.CheckTriggerSecret(c.GetHeader(headerWebhookSecret)); err != nil {
		httpd.WriteError(c, err)
		return
	}
	httpd.SetAuthenticated(c)
	raw, err := httpd.ReadBody(c)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	var body *TriggerBody
	if err := json.Unmarshal(bytes.TrimSpace(raw), &body); err != nil || body == nil {
		httpd.WriteError(c, fault.New(fault.InvalidArgument, "The body must be a JSON object with the fields of a trigger."))
		return
	}
	id, err := h.Trigger(c.Request.Context(), *body)
	if err != nil {
		httpd.WriteError(c, err)
		return
	}
	c.JSON(http.StatusOK, JobID{id})
}

// Trigger makes the job that a trigger asks for. A check that is under way is reused; an update that another job is in the
// way of is a fault.Conflict with existingJobId.
func (h *handlers) Trigger(ctx context.Context, b TriggerBody) (jobID string, err error) {
	b.StackID, b.ServiceID = strings.TrimSpace(b.StackID), strings.TrimSpace(b.ServiceID)
	switch b.Action {
	case "check":
		job, _, err := h.cfg.service.CheckFor(ctx, work.ActorWebhook,
			project.ScanRequest{Scope: b.Scope, StackID: b.StackID, ServiceID: b.ServiceID, Reason: work.ReasonWebhook})
		return job.ID, err
	case "update":
		if len(b.Targets) == 0 {
			return "", record.InvalidField("targets", "An update needs targets: each with serviceId, targetTag, targetDigest and pullTags.")
		}
		in := UpdateBody{
			Scope: b.Scope, StackID: b.StackID, ServiceID: b.ServiceID, Targets: b.Targets, AllowArchMismatch: b.AllowArchMismatch,
			BackupMode: b.BackupMode, Reason: work.ReasonWebhook,
		}
		return h.cfg.service.UpdateFor(ctx, work.ActorWebhook, in.toRequest())
	}
	return "", record.InvalidField("action", "The action must be check or update.")
}

// handlePackageWebhook takes a package webhook of the code host.
func (h *handlers) handlePackageWebhook(c *gin.Context) {
	in := webhook.Incoming{Signature: c.GetHeader(webhook.HeaderSignature), Event: singleHeader(c, webhook.HeaderEvent, webhook.AliasEvent),
		ID: singleHeader(c, webhook.HeaderDelivery, webhook.AliasDelivery)}
	if err := in.CheckHeaders(); err != nil {
		httpd.WriteError(c, err)
		return
	}
	enabled, err := h.cfg.inbox.Authenticate(c.Request.Context(), &in, func() ([]byte, error) { return httpd.ReadBody(c) })
	if err == nil && in.Hook != nil {
		httpd.SetAuthenticated(c)
	}
	switch {
	case err != nil:
		httpd.WriteError(c, err)
		return
	case !enabled:
		answerIgnored(c, webhook.IgnoredDisabled, 0)
		return
	case in.Event != codehost.EventPackage:
		answerIgnored(c, webhook.IgnoredEvent, 0)
		return
	}
	out, err := h.cfg.inbox.TakeDelivery(c.Request.Context(), &in)
	switch {
	case err != nil:
		httpd.WriteError(c, err)
	case out.Rejected:
		httpd.WriteError(c, fault.New(fault.InvalidArgument, "The body must be the JSON object of a delivery.").With("reason", out.Reason))
	case out.Reason != "":
		answerIgnored(c, out.Reason, out.Attempts)
	default:
		c.JSON(http.StatusAccepted, out.ToAccepted())
	}
}

func singleHeader(c *gin.Context, names ...string) string {
	for _, name := range names {
		if v := strings.TrimSpace(c.GetHeader(name)); v != "" {
			return v
		}
	}
	return ""
}

func answerIgnored(c *gin.Context, why string, attempts int) {
	c.JSON(http.StatusOK, webhook.IgnoredWebhook{OK: true, Ignored: true, Reason: why, AttemptCount: attempts})
}
