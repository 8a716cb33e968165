package reading

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// ReleaseReactions are the reactions to a release.
type ReleaseReactions struct {
	Counts ReactionCounts `json:"counts"`
	Viewer ReactionViewer `json:"viewer" doc:"What the caller has left; only a refresh tells."`
	Status string         `json:"status" enum:"ready,sync_required"`
}

// ReactionCounts are how often each reaction was left.
type ReactionCounts struct {
	Plus1  int64 `json:"plus1"`
	Laugh  int64 `json:"laugh"`
	Heart  int64 `json:"heart"`
	Hooray int64 `json:"hooray"`
	Rocket int64 `json:"rocket"`
	Eyes   int64 `json:"eyes"`
}

// ReactionViewer says which reactions the caller has left.
type ReactionViewer struct {
	Plus1  bool `json:"plus1"`
	Laugh  bool `json:"laugh"`
	Heart  bool `json:"heart"`
	Hooray bool `json:"hooray"`
	Rocket bool `json:"rocket"`
	Eyes   bool `json:"eyes"`
}

// ReactionItem are the reactions to a release.
type ReactionItem struct {
	ReleaseID string           `json:"release_id"`
	Reactions ReleaseReactions `json:"reactions"`
}

// newReactions returns reactions as answers have them.
func newReactions(in codehost.Reactions) (out ReleaseReactions) {
	out.Status = "ready"
	counts := []*int64{&out.Counts.Plus1, &out.Counts.Laugh, &out.Counts.Heart, &out.Counts.Hooray, &out.Counts.Rocket, &out.Counts.Eyes}
	viewer := []*bool{&out.Viewer.Plus1, &out.Viewer.Laugh, &out.Viewer.Heart, &out.Viewer.Hooray, &out.Viewer.Rocket, &out.Viewer.Eyes}
	for i, name := range repo.ReactionNames {
		*counts[i], *viewer[i] = in.Counts[name], slices.Contains(in.Viewer, name)
	}
	return out
}

// ReadReactions asks the code host for the reactions to releases as the caller sees them. Releases that the caller does not see are left
// out.
func (rd *Reading) ReadReactions(ctx context.Context, releaseIDs []string) ([]ReactionItem, error) {
	out := []ReactionItem{}
	ids := make([]int64, 0, len(releaseIDs))
	for i, text := range releaseIDs {
		id, err := repo.ParseReleaseID(strings.TrimSpace(text))
		if err != nil {
			return nil, fault.As(err).With("field", "release_ids["+strconv.Itoa(i)+"]")
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	user := reader.ID(ctx)
	if has, err := rd.cfg.Syncer.HasAccount(ctx, user); err != nil || !has {
		return out, err
	}
	visible, err := rd.cfg.Repos.ListReactable(ctx, user, ids)
	if err != nil {
		return nil, err
	}
	found, err := rd.cfg.Syncer.Reactions(ctx, user, visible)
	if err != nil {
		return nil, err
	}
	for _, r := range visible {
		if reactions, ok := found[r.ID]; ok {
			out = append(out, ReactionItem{strconv.FormatInt(r.ID, 10), newReactions(reactions)})
		}
	}
	return out, nil
}

// ToggleReaction leaves a reaction of the caller to a release, or takes it back.
func (rd *Reading) ToggleReaction(ctx context.Context, releaseID, content string) (out ReactionItem, err error) {
	if !slices.Contains(repo.ReactionNames, content) {
		return out, fault.New(fault.BadRequest, "content must be one of %s.", strings.Join(repo.ReactionNames, ", ")).With("field", "content")
	}
	user, err := reader.OwnerID(ctx)
	if err != nil {
		return out, err
	}
	id, err := repo.ParseReleaseID(releaseID)
	if err == nil {
		err = rd.cfg.Syncer.CheckReactor(ctx, user)
	}
	if err != nil {
		return out, err
	}
	of, _, err := rd.findReactable(ctx, id)
	if err != nil {
		return out, err
	}
	reactions, err := rd.cfg.Syncer.ToggleReaction(ctx, user, of, content)
	if err != nil {
		return out, err
	}
	return ReactionItem{releaseID, newReactions(reactions)}, nil
}

// findReactable returns a release that the caller sees, with how often each reaction was left when it was last read.
func (rd *Reading) findReactable(ctx context.Context, id int64) (of repo.Reactable, known ReleaseReactions, err error) {
	r, p, err := rd.cfg.Repos.FindRelease(ctx, id)
	if err == nil {
		err = rd.cfg.Readers.CheckVisible(ctx, r, p)
	}
	if err != nil {
		return of, known, err
	}
	known.Status = "ready"
	if r.NodeID == "" {
		known.Status = "sync_required"
	}
	if r.Reactions != "" {
		err = json.Unmarshal([]byte(r.Reactions), &known.Counts)
	}
	return repo.Reactable{ID: r.ID, NodeID: r.NodeID, Host: p.Host, RepoID: r.RepoID}, known, err
}

// ReactionBar is what the page of a release shows of the reactions to it.
type ReactionBar struct {
	ReactionItem
	// CanReact says that the caller has a token for it.
	CanReact bool
}

// ReactionsTo returns the reactions to a release as they were last read.
func (rd *Reading) ReactionsTo(ctx context.Context, releaseID string) (out ReactionBar, err error) {
	out.ReleaseID = releaseID
	id, err := repo.ParseReleaseID(releaseID)
	if err != nil {
		return out, err
	}
	of, known, err := rd.findReactable(ctx, id)
	if err != nil {
		return out, err
	}
	out.Reactions = known
	out.CanReact, err = rd.cfg.Syncer.CanReact(ctx, reader.ID(ctx), of)
	return out, err
}

// RefreshReactions asks the code host for the reactions to a release as the caller sees them. What is known stays where it
// cannot be asked.
func (rd *Reading) RefreshReactions(ctx context.Context, releaseID string) (ReactionBar, error) {
	out, err := rd.ReactionsTo(ctx, releaseID)
	if err != nil || !out.CanReact {
		return out, err
	}
	fresh, err := rd.ReadReactions(ctx, []string{releaseID})
	if err != nil {
		rd.cfg.Logger.Debug("the reactions to a release were not read", "release", releaseID, "error", err)
		return out, nil
	}
	for _, item := range fresh {
		out.ReactionItem = item
	}
	return out, nil
}
