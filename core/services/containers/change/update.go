package change

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/work"
	"github.com/patchbay-dev/patchbay/core/store"
)

// UpdateRequest asks for an update.
type UpdateRequest struct {
	Scope             string
	StackID           string
	ServiceID         string
	TargetTag         string
	TargetDigest      string
	PullTags          *[]string
	Targets           []project.Target
	Mode              string
	AllowArchMismatch bool
	// AllowDrift takes differences along between what runs and what the files say.
	AllowDrift bool
	BackupMode string
	Reason     string
}

// Update queues an update that a person asks for. What is asked for is checked in this order: the scope and its ids, the targets'
// form, that they cover what can be updated, tag, digest, architecture, age, that recreating changes no more than images, and that
// nothing else works on the services.
func (x *Changes) Update(ctx context.Context, req UpdateRequest) (string, error) {
	inv, err := x.checkUpdate(ctx, &req)
	if err != nil {
		return "", err
	}
	if err := x.refuseUnseenDrift(ctx, inv, &req); err != nil {
		return "", err
	}
	return x.submitUpdate(ctx, inv, &req, "")
}

// UpdateFor queues an update that a program asks for. Nobody is there to see drift and to allow it: only the job looks for it.
func (x *Changes) UpdateFor(ctx context.Context, actor string, req UpdateRequest) (string, error) {
	inv, err := x.checkUpdate(ctx, &req)
	if err != nil {
		return "", err
	}
	return x.submitUpdate(ctx, inv, &req, actor)
}

// checkUpdate completes a request and returns an error unless it fits what the last check has found.
func (x *Changes) checkUpdate(ctx context.Context, req *UpdateRequest) (*project.Inventory, error) {
	if err := req.normalizeRequest(); err != nil {
		return nil, err
	}
	inv, err := x.cfg.Projects.LoadInventory(ctx)
	if err != nil {
		return nil, err
	}
	if err := checkCoverage(inv, req); err != nil {
		return nil, err
	}
	for _, t := range req.Targets {
		if err := checkApplicable(inv, t, req.AllowArchMismatch); err != nil {
			return nil, err
		}
	}
	return inv, nil
}

// refuseUnseenDrift refuses an update that would change more than images, before there is a job: the person who asks for it is told
// what, and may allow it.
func (x *Changes) refuseUnseenDrift(ctx context.Context, inv *project.Inventory, req *UpdateRequest) error {
	if req.Mode != ModeApply {
		return nil
	}
	ids := lists.ConvertAll(req.Targets, func(t project.Target) string { return t.ServiceID })
	return x.refuseDrift(ctx, inv, ids, req.AllowDrift)
}

// submitUpdate queues the job of a request that was checked.
func (x *Changes) submitUpdate(ctx context.Context, inv *project.Inventory, req *UpdateRequest, actor string) (string, error) {
	payload := UpdateJob{
		Subject:       work.Subject{Scope: req.Scope, StackID: req.StackID, ServiceID: req.ServiceID, Reason: req.Reason},
		changeOptions: changeOptions{Mode: req.Mode, Targets: req.Targets, AllowDrift: req.AllowDrift, BackupMode: req.BackupMode, Images: map[string]string{}},

		AllowArchMismatch: req.AllowArchMismatch,
	}
	sub := work.Submission{Kind: work.JobUpdate, Actor: actor}
	for _, t := range req.Targets {
		svc := inv.Services[t.ServiceID]
		payload.Images[svc.ID] = svc.Image
		sub.Services, sub.Stacks = append(sub.Services, svc.ID), append(sub.Stacks, svc.StackID)
		if req.Mode == ModeApply {
			more, err := x.dependentLocks(ctx, inv, svc)
			if err != nil {
				return "", err
			}
			sub.Locks = work.AddLocks(sub.Locks, append(more, work.ServiceLock(svc.ID)))
		}
	}
	if req.Scope == work.ScopeService {
		payload.StackID = inv.Services[req.ServiceID].StackID
	}
	sub.Payload = payload
	return x.cfg.Jobs.SubmitNew(ctx, sub)
}

// normalizeRequest sets the defaults of a request and returns an error if it is malformed.
func (r *UpdateRequest) normalizeRequest() error {
	r.Mode = cmp.Or(r.Mode, ModeApply)
	r.BackupMode = cmp.Or(r.BackupMode, string(record.BackupInherit))
	r.Reason = cmp.Or(r.Reason, work.ReasonUI)
	switch {
	case r.Mode != ModeApply && r.Mode != ModeDryRun:
		return record.InvalidField("mode", "The mode must be apply or dry-run.")
	case !record.BackupChoice(r.BackupMode).IsValid():
		return record.InvalidField("backupMode", "The backup mode must be inherit, skip or force.")
	case r.Scope != work.ScopeAll && r.Scope != work.ScopeStack && r.Scope != work.ScopeService:
		return record.InvalidField("scope", "The scope must be all, stack or service.")
	case r.Scope == work.ScopeStack && r.StackID == "":
		return record.InvalidField("stackId", "An update of a stack needs stackId.")
	case r.Scope == work.ScopeService && r.ServiceID == "":
		return record.InvalidField("serviceId", "An update of a service needs serviceId.")
	}
	if r.Scope == work.ScopeService {
		if err := r.normalizeSingle(); err != nil {
			return err
		}
	} else if len(r.Targets) == 0 {
		return record.InvalidField("targets", "An update of a stack or of everything needs targets.")
	}
	seen := map[string]bool{}
	for i := range r.Targets {
		if err := normalizeTarget(&r.Targets[i]); err != nil {
			return err
		}
		if seen[r.Targets[i].ServiceID] {
			return record.InvalidField("targets", "The service %s is named twice.", r.Targets[i].ServiceID)
		}
		seen[r.Targets[i].ServiceID] = true
	}
	return nil
}

// normalizeSingle sets the only target of a request for one service, from the three members or from a list of one.
func (r *UpdateRequest) normalizeSingle() error {
	if len(r.Targets) > 0 {
		if r.TargetTag != "" || r.TargetDigest != "" || r.PullTags != nil {
			return record.InvalidField("targets", "Name the target by targetTag, targetDigest and pullTags, or in targets, not both.")
		}
		if len(r.Targets) != 1 || r.Targets[0].ServiceID != r.ServiceID {
			return record.InvalidField("targets", "An update of a service has that service as its only target.")
		}
		return nil
	}
	switch {
	case r.TargetTag == "":
		return record.InvalidField("targetTag", "An update of a service needs targetTag.")
	case r.TargetDigest == "":
		return record.InvalidField("targetDigest", "An update of a service needs targetDigest.")
	case r.PullTags == nil:
		return record.InvalidField("pullTags", "An update of a service needs pullTags; the list may be empty.")
	}
	r.Targets = []project.Target{{ServiceID: r.ServiceID, TargetTag: r.TargetTag, TargetDigest: r.TargetDigest, PullTags: *r.PullTags}}
	return nil
}

// maxPullTags bounds the further tags of one target.
const maxPullTags = 20

func normalizeTarget(t *project.Target) error {
	t.ServiceID, t.TargetTag, t.TargetDigest = strings.TrimSpace(t.ServiceID), strings.TrimSpace(t.TargetTag), strings.TrimSpace(t.TargetDigest)
	if t.TargetDigest != "" && !strings.Contains(t.TargetDigest, ":") {
		t.TargetDigest = "sha256:" + t.TargetDigest
	}
	switch {
	case t.ServiceID == "":
		return record.InvalidField("serviceId", "Each target needs serviceId.")
	case !image.ValidTag(t.TargetTag):
		return record.InvalidField("targetTag", "The target tag of %s is not a valid tag.", t.ServiceID)
	case !image.ValidDigest(t.TargetDigest):
		return record.InvalidField("targetDigest", "The target digest of %s must be sha256: and 64 hexadecimal digits.", t.ServiceID)
	case t.PullTags == nil:
		return record.InvalidField("pullTags", "The target %s needs pullTags; the list may be empty.", t.ServiceID)
	case len(t.PullTags) > maxPullTags:
		return record.InvalidField("pullTags", "The target %s has more than %d pull tags.", t.ServiceID, maxPullTags)
	}
	tags := []string{}
	for _, tag := range t.PullTags {
		tag = strings.TrimSpace(tag)
		if !image.ValidTag(tag) {
			return record.InvalidField("pullTags", "The target %s has a pull tag that is empty or not valid.", t.ServiceID)
		}
		if tag != t.TargetTag && !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	t.PullTags = tags
	return nil
}

// checkCoverage returns an error unless the targets are exactly the services of the scope that can be updated.
func checkCoverage(inv *project.Inventory, r *UpdateRequest) error {
	if r.Scope == work.ScopeService {
		if svc := inv.Services[r.ServiceID]; svc == nil {
			return record.InvalidField("serviceId", record.NoService)
		}
		return nil
	}
	if r.Scope == work.ScopeStack && inv.Stacks[r.StackID] == nil {
		return record.InvalidField("stackId", record.NoStack)
	}
	wanted := map[string]bool{}
	for _, svc := range inv.Services {
		if (r.Scope == work.ScopeAll || svc.StackID == r.StackID) && inv.IsActionable(svc, r.AllowArchMismatch) {
			wanted[svc.ID] = true
		}
	}
	missing, extra := []string{}, []string{}
	for _, t := range r.Targets {
		if !wanted[t.ServiceID] {
			extra = append(extra, t.ServiceID)
		}
		delete(wanted, t.ServiceID)
	}
	for id := range wanted {
		missing = append(missing, id)
	}
	if len(missing)+len(extra) == 0 {
		return nil
	}
	slices.Sort(missing)
	slices.Sort(extra)
	return record.InvalidField("targets", "The targets must be exactly the services that can be updated.").With("missingServiceIds", missing).With("extraServiceIds", extra)
}

// checkApplicable returns an error if a target no longer matches the result of the last check.
func checkApplicable(inv *project.Inventory, t project.Target, allowMismatch bool) error {
	svc := inv.Services[t.ServiceID]
	switch {
	case inv.IsArchived(svc):
		return fault.New(fault.Conflict, "The service %s is archived.", svc.Name).With("reason", "archived")
	case inv.IsSelf(svc):
		return record.ProtectedError(svc.Name)
	case svc.Pinned != "":
		return fault.New(fault.Conflict, "The project pins %s to a digest: change the digest in its files.", svc.Name).With("reason", "pinned")
	case t.TargetTag != svc.Tag:
		return record.InvalidField("targetTag", "The project names the tag %q; another tag is not applied.", svc.Tag).With("expectedTag", svc.Tag).With("gotTag", t.TargetTag)
	case svc.CandidateDigest == "" || t.TargetDigest != svc.CandidateDigest:
		return fault.New(fault.Conflict, "The target digest differs from the last check: check again.").With("reason", "rescan_required")
	case svc.CandidateMatch == project.ArchMismatch && !allowMismatch:
		return record.InvalidField("allowArchMismatch", "The new version of %s is not made for this host's architecture.", svc.Name).With("reason", "arch_mismatch")
	}
	if after := inv.ApplyAfter(svc); after > inv.Now {
		return fault.New(fault.Conflict, "The new version of %s has not reached the minimum age.", svc.Name).
			With("reason", "minimum_age").With("applyAfter", store.FormatTime(store.FromMillis(after)))
	}
	return nil
}
