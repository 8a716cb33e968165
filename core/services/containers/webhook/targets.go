package webhook

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/failure"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// maxInput bounds what people type, in bytes.
const maxInput = 500

// RepoCandidates are what an input stands for.
type RepoCandidates struct {
	Kind     string          `json:"kind" enum:"repo,owner"`
	Owner    string          `json:"owner" example:"ann"`
	Repos    []RepoCandidate `json:"repos"`
	Warnings []string        `json:"warnings"`
}

// RepoCandidate is a repository that may be tracked.
type RepoCandidate struct {
	FullName     string   `json:"fullName" example:"ann/blog"`
	Selected     bool     `json:"selected" doc:"Whether it is tracked and selected already."`
	Visibility   string   `json:"visibility,omitempty" example:"public"`
	LastActivity api.Time `json:"lastActivityAt,omitempty,omitzero"`
}

// ResolveInput asks the code host what an input stands for. It changes nothing. A token that is missing or lacks
// permission is a fault.Unprocessable.
func (w *Webhooks) ResolveInput(ctx context.Context, input string) (RepoCandidates, error) {
	res, err := w.resolveInput(ctx, input, "")
	if err != nil {
		return RepoCandidates{}, err
	}
	rows, err := w.store.selectedRepos(ctx)
	if err != nil {
		return RepoCandidates{}, fmt.Errorf("read the repositories: %w", err)
	}
	selected := map[string]bool{}
	for _, r := range rows {
		selected[r.Name] = true
	}
	out := RepoCandidates{Kind: res.Kind, Owner: res.Owner, Repos: []RepoCandidate{}, Warnings: append([]string{}, res.Warnings...)}
	for _, r := range res.Repos {
		out.Repos = append(out.Repos, RepoCandidate{
			FullName: r.FullName, Selected: selected[strings.ToLower(r.FullName)], Visibility: r.Visibility,
			LastActivity: api.TimeOfMillis(store.Millis(r.LastActivity)),
		})
	}
	return out, nil
}

// resolveInput asks with the stored token unless another is given.
func (w *Webhooks) resolveInput(ctx context.Context, input string, pat schema.Secret) (*codehost.Resolution, error) {
	input = strings.TrimSpace(input)
	if input == "" || len(input) > maxInput {
		return nil, record.InvalidField("input", "Name a repository as owner/repo, or give the address of a repository or of an owner.")
	}
	host := w.cfg.CodeHost()
	if host == nil {
		return nil, asUnprocessable(hookFault(WhyNoHost))
	}
	cfg, err := w.hookConfig(ctx)
	if err != nil {
		return nil, err
	}
	if pat != "" {
		cfg.PAT = pat
	}
	if cfg.PAT == "" {
		return nil, asUnprocessable(hookFault(WhyNoToken))
	}
	var res *codehost.Resolution
	err = retryCodeHost(ctx, func() (err error) {
		res, err = host.Resolve(ctx, cfg.PAT, input)
		return err
	})
	if err != nil {
		return nil, cfg.explainResolve(err)
	}
	return res, nil
}

func asUnprocessable(f *fault.Error) *fault.Error {
	return fault.New(fault.Unprocessable, "%s", f.Message).With("reason", f.Ext["reason"])
}

// explainResolve words why an input was not resolved.
func (c *secrets) explainResolve(err error) error {
	text := c.cleanText(failure.Text(err))
	switch client.CauseOf(err) {
	case client.CauseDenied:
		out := fault.New(fault.Unprocessable, "The code host refuses the access token: %s", text).With("reason", whyToken)
		if up := errs.From(err).Upstream; up != nil && up.GetHttpStatus() != 0 {
			out = out.With("status", up.GetHttpStatus())
		}
		return out
	case client.CauseMissing:
		return record.InvalidField("input", "The code host has no such repository or owner, or hides it from the access token.")
	case client.CauseRefused:
		return record.InvalidField("input", "The code host refuses the input: %s", text)
	case client.CauseLimited:
		return fault.New(fault.UpstreamUnavailable, "Rate limited by the code host.").With("reason",
			"upstream_limited").WithRetryAfter(fault.As(err).RetryAfter)
	case client.CauseUnreachable:
		return fault.New(fault.UpstreamUnavailable, "The code host is unreachable: %s", text).With("reason", "upstream_unavailable")
	}
	return err
}

// AddTarget tracks the repositories that an input stands for. They are not selected by that.
func (w *Webhooks) AddTarget(ctx context.Context, input string) (t HookTarget, added int, err error) {
	res, err := w.resolveInput(ctx, input, "")
	if err != nil {
		return HookTarget{}, 0, badRequest(err)
	}
	rec := w.newTarget(input, res)
	err = w.store.change(ctx, "add a target", func(ctx context.Context) error {
		before, _, err := w.store.countRepos(ctx)
		if err != nil {
			return fmt.Errorf("count the repositories: %w", err)
		}
		if err := w.storeTarget(ctx, rec, res); err != nil {
			return err
		}
		after, _, err := w.store.countRepos(ctx)
		added = int(after - before)
		return err
	})
	return rec.toTarget(), added, err
}

// badRequest has what the caller can cure answered with 400, for endpoints that know no 422.
func badRequest(err error) error {
	f := fault.As(err)
	if f == nil || f.HTTPStatus() != http.StatusUnprocessableEntity {
		return err
	}
	return fault.New(fault.InvalidArgument, "%s", f.Message).With("reason", f.Ext["reason"])
}

func (w *Webhooks) newTarget(input string, res *codehost.Resolution) *targetRecord {
	out := &targetRecord{Input: strings.TrimSpace(input), Kind: codehost.KindRepo, Owner: texts.Limit(res.Owner, maxRepoName),
		Warnings: []string{}, CreatedAt: w.now()}
	if res.Kind == codehost.KindOwner {
		out.Kind = codehost.KindOwner
	}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, texts.Limit(w, maxInput))
	}
	return out
}

func (w *Webhooks) storeTarget(ctx context.Context, t *targetRecord, res *codehost.Resolution) error {
	if err := w.store.addTarget(ctx, t); err != nil {
		return fmt.Errorf("store a target: %w", err)
	}
	var rows []repoRecord
	seen := map[string]bool{}
	for _, r := range res.Repos {
		name, err := repoName(r.FullName)
		if err != nil || seen[name] {
			continue
		}
		seen[name] = true
		rows = append(rows, repoRecord{
			Name: name, FullName: r.FullName, WebhookState: StateUnknown, Visibility: texts.Limit(r.Visibility, 50),
			LastActivity: store.Millis(r.LastActivity), CreatedAt: w.now(),
		})
	}
	if err := w.store.addRepos(ctx, rows); err != nil {
		return fmt.Errorf("track the repositories of a target: %w", err)
	}
	return nil
}

// RemoveTarget ends the tracking by an input. Of its repositories those are forgotten that are not selected, have no
// webhook, and belong to no other target. An input that is not there is none.
func (w *Webhooks) RemoveTarget(ctx context.Context, input string) error {
	input = strings.TrimSpace(input)
	if input == "" || len(input) > maxInput {
		return record.InvalidField("input", "Name the input of the target.")
	}
	return w.store.change(ctx, "remove a target", func(ctx context.Context) error {
		return w.removeTargets(ctx, func(t *targetRecord) bool { return strings.EqualFold(t.Input, input) })
	})
}

func (w *Webhooks) removeTargets(ctx context.Context, gone func(*targetRecord) bool) error {
	targets, err := w.store.hookTargets(ctx)
	if err != nil {
		return fmt.Errorf("read the targets: %w", err)
	}
	var left, removed []targetRecord
	for _, t := range targets {
		if !gone(&t) {
			left = append(left, t)
			continue
		}
		removed = append(removed, t)
		if err := w.store.deleteTarget(ctx, t.Input); err != nil {
			return fmt.Errorf("delete a target: %w", err)
		}
	}
	if len(removed) == 0 {
		return nil
	}
	rows, err := w.store.trackedRepos(ctx)
	if err != nil {
		return fmt.Errorf("read the repositories: %w", err)
	}
	for _, r := range rows {
		idle := !r.Selected && !r.Removing && r.HookID == "" && r.WebhookState != StateQueued && r.WebhookState != hookRunning
		if !idle || !coveredByTarget(removed, r.Name) || coveredByTarget(left, r.Name) {
			continue
		}
		if err := w.store.deleteRepo(ctx, r.Name); err != nil {
			return fmt.Errorf("forget a repository: %w", err)
		}
	}
	return nil
}

func coveredByTarget(targets []targetRecord, name string) bool {
	for i := range targets {
		if targets[i].coversRepo(name) {
			return true
		}
	}
	return false
}

// newTarget is an input that was resolved before the transaction which stores it.
type newTarget struct {
	rec *targetRecord
	res *codehost.Resolution
}

// resolveNew resolves the inputs of a list that are not targets yet.
func (w *Webhooks) resolveNew(ctx context.Context, list *[]HookInput, pat schema.Secret) (out []newTarget, err error) {
	if list == nil {
		return nil, nil
	}
	known, err := w.store.hookTargets(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the targets: %w", err)
	}
	seen := map[string]bool{}
	for _, t := range known {
		seen[strings.ToLower(t.Input)] = true
	}
	for _, in := range *list {
		key := strings.ToLower(strings.TrimSpace(in.Input))
		if seen[key] {
			continue
		}
		seen[key] = true
		res, err := w.resolveInput(ctx, in.Input, pat)
		if err != nil {
			return nil, badRequest(err)
		}
		out = append(out, newTarget{w.newTarget(in.Input, res), res})
	}
	return out, nil
}

// replaceTargets makes a list the targets that there are; nil leaves them alone.
func (w *Webhooks) replaceTargets(ctx context.Context, list *[]HookInput, added []newTarget) error {
	if list == nil {
		return nil
	}
	for _, t := range added {
		if err := w.storeTarget(ctx, t.rec, t.res); err != nil {
			return err
		}
	}
	wanted := map[string]bool{}
	for _, in := range *list {
		wanted[strings.ToLower(strings.TrimSpace(in.Input))] = true
	}
	return w.removeTargets(ctx, func(t *targetRecord) bool { return !wanted[strings.ToLower(t.Input)] })
}
