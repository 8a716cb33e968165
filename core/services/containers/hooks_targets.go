package containers

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	"gorm.io/gorm"

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
func (s *Service) ResolveInput(ctx context.Context, input string) (RepoCandidates, error) {
	res, err := s.resolveInput(ctx, input, "")
	if err != nil {
		return RepoCandidates{}, err
	}
	rows, err := s.repo.selectedRepos(ctx)
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
			FullName: r.FullName, Selected: selected[strings.ToLower(r.FullName)], Visibility: r.Visibility, LastActivity: api.TimeOfMillis(store.Millis(r.LastActivity)),
		})
	}
	return out, nil
}

// resolveInput asks with the stored token unless another is given.
func (s *Service) resolveInput(ctx context.Context, input string, pat schema.Secret) (*codehost.Resolution, error) {
	input = strings.TrimSpace(input)
	if input == "" || len(input) > maxInput {
		return nil, record.InvalidField("input", "Name a repository as owner/repo, or give the address of a repository or of an owner.")
	}
	host := s.codeHost()
	if host == nil {
		return nil, asUnprocessable(hookFault(whyNoHost))
	}
	cfg, err := s.hookConfig(ctx)
	if err != nil {
		return nil, err
	}
	if pat != "" {
		cfg.PAT = pat
	}
	if cfg.PAT == "" {
		return nil, asUnprocessable(hookFault(whyNoToken))
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
func (c *hookConfig) explainResolve(err error) error {
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
		return fault.New(fault.UpstreamUnavailable, "The code host limits requests.").With("reason", "upstream_limited").WithRetryAfter(fault.As(err).RetryAfter)
	case client.CauseUnreachable:
		return fault.New(fault.UpstreamUnavailable, "The code host does not answer as it should: %s", text).With("reason", "upstream_unavailable")
	}
	return err
}

// AddTarget tracks the repositories that an input stands for. They are not selected by that.
func (s *Service) AddTarget(ctx context.Context, input string) (t HookTarget, added int, err error) {
	res, err := s.resolveInput(ctx, input, "")
	if err != nil {
		return HookTarget{}, 0, badRequest(err)
	}
	rec := s.newTarget(input, res)
	err = s.hookTx(ctx, "add a target", func(ctx context.Context, w *gorm.DB) error {
		before, _, err := s.repo.countRepos(ctx)
		if err != nil {
			return fmt.Errorf("count the repositories: %w", err)
		}
		if err := s.storeTarget(w, rec, res); err != nil {
			return err
		}
		after, _, err := s.repo.countRepos(ctx)
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

func (s *Service) newTarget(input string, res *codehost.Resolution) *targetRecord {
	out := &targetRecord{Input: strings.TrimSpace(input), Kind: codehost.KindRepo, Owner: texts.Limit(res.Owner, maxRepoName), Warnings: []string{}, CreatedAt: s.now()}
	if res.Kind == codehost.KindOwner {
		out.Kind = codehost.KindOwner
	}
	for _, w := range res.Warnings {
		out.Warnings = append(out.Warnings, texts.Limit(w, maxInput))
	}
	return out
}

func (s *Service) storeTarget(w *gorm.DB, t *targetRecord, res *codehost.Resolution) error {
	if err := s.repo.addTarget(w, t); err != nil {
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
			Name: name, FullName: r.FullName, WebhookState: hookUnknown, Visibility: texts.Limit(r.Visibility, 50), LastActivity: store.Millis(r.LastActivity), CreatedAt: s.now(),
		})
	}
	if err := s.repo.addRepos(w, rows); err != nil {
		return fmt.Errorf("track the repositories of a target: %w", err)
	}
	return nil
}

// RemoveTarget ends the tracking by an input. Of its repositories those are forgotten that are not selected, have no
// webhook, and belong to no other target. An input that is not there is none.
func (s *Service) RemoveTarget(ctx context.Context, input string) error {
	input = strings.TrimSpace(input)
	if input == "" || len(input) > maxInput {
		return record.InvalidField("input", "Name the input of the target.")
	}
	return s.hookTx(ctx, "remove a target", func(ctx context.Context, w *gorm.DB) error {
		return s.removeTargets(ctx, w, func(t *targetRecord) bool { return strings.EqualFold(t.Input, input) })
	})
}

func (s *Service) removeTargets(ctx context.Context, w *gorm.DB, gone func(*targetRecord) bool) error {
	targets, err := s.repo.hookTargets(ctx)
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
		if err := w.Delete(&targetRecord{Input: t.Input}).Error; err != nil {
			return fmt.Errorf("delete a target: %w", err)
		}
	}
	if len(removed) == 0 {
		return nil
	}
	rows, err := s.repo.trackedRepos(ctx)
	if err != nil {
		return fmt.Errorf("read the repositories: %w", err)
	}
	for _, r := range rows {
		idle := !r.Selected && !r.Removing && r.HookID == "" && r.WebhookState != hookQueued && r.WebhookState != hookRunning
		if !idle || !anyCovers(removed, r.Name) || anyCovers(left, r.Name) {
			continue
		}
		if err := w.Delete(&repoRecord{Name: r.Name}).Error; err != nil {
			return fmt.Errorf("forget a repository: %w", err)
		}
	}
	return nil
}

func anyCovers(targets []targetRecord, name string) bool {
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
func (s *Service) resolveNew(ctx context.Context, list *[]HookInput, pat schema.Secret) (out []newTarget, err error) {
	if list == nil {
		return nil, nil
	}
	known, err := s.repo.hookTargets(ctx)
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
		res, err := s.resolveInput(ctx, in.Input, pat)
		if err != nil {
			return nil, badRequest(err)
		}
		out = append(out, newTarget{s.newTarget(in.Input, res), res})
	}
	return out, nil
}

// replaceTargets makes a list the targets that there are; nil leaves them alone.
func (s *Service) replaceTargets(ctx context.Context, w *gorm.DB, list *[]HookInput, added []newTarget) error {
	if list == nil {
		return nil
	}
	for _, t := range added {
		if err := s.storeTarget(w, t.rec, t.res); err != nil {
			return err
		}
	}
	wanted := map[string]bool{}
	for _, in := range *list {
		wanted[strings.ToLower(strings.TrimSpace(in.Input))] = true
	}
	return s.removeTargets(ctx, w, func(t *targetRecord) bool { return !wanted[strings.ToLower(t.Input)] })
}
