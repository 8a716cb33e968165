package releases

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// ReactionItem are the reactions to a release.
type ReactionItem struct {
	ReleaseID string           `json:"release_id"`
	Reactions ReleaseReactions `json:"reactions"`
}

type (
	refreshInput struct {
		Body struct {
			ReleaseIDs []string `json:"release_ids" minItems:"1" maxItems:"100" doc:"Those that the caller does not see are left out of the answer."`
		}
	}
	refreshOutput struct {
		Body struct {
			Items []ReactionItem `json:"items" nullable:"false"`
		}
	}
	toggleInput struct {
		Body struct {
			ReleaseID string `json:"release_id"`
			Content   string `json:"content" enum:"plus1,laugh,heart,hooray,rocket,eyes"`
		}
	}
	toggleOutput struct{ Body ReactionItem }
)

func (s *Service) reactionAPI(a *api.API) {
	refresh := withText(newOperation("reactions-refresh", http.MethodPost, "/api/feed/reactions/refresh", tagReact, httpd.APIKey, "Read the reactions to releases", http.StatusUnprocessableEntity),
		"They are asked for at the code host with the caller's personal access token. Without one the answer is empty.")
	refresh.Audit = httpd.Unaudited
	api.Register(a, refresh, s.refreshReactions)
	api.Register(a, withText(newOperation("reaction-toggle", http.MethodPost, "/api/release/reactions/toggle", tagReact, httpd.APIKey, "Leave a reaction, or take it back",
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity), "409 sync_required for a release of which no reactions are known; 403 pat_forbidden if the token may not react."), s.toggleReaction)
}

// reactionsOf returns reactions as answers have them.
func reactionsOf(in codehost.Reactions) (out ReleaseReactions) {
	out.Status = "ready"
	counts := []*int64{&out.Counts.Plus1, &out.Counts.Laugh, &out.Counts.Heart, &out.Counts.Hooray, &out.Counts.Rocket, &out.Counts.Eyes}
	viewer := []*bool{&out.Viewer.Plus1, &out.Viewer.Laugh, &out.Viewer.Heart, &out.Viewer.Hooray, &out.Viewer.Rocket, &out.Viewer.Eyes}
	for i, name := range repo.ReactionNames {
		*counts[i], *viewer[i] = in.Counts[name], slices.Contains(in.Viewer, name)
	}
	return out
}

func (s *Service) refreshReactions(ctx context.Context, in *refreshInput) (*refreshOutput, error) {
	out := &refreshOutput{}
	out.Body.Items = []ReactionItem{}
	ids := make([]int64, 0, len(in.Body.ReleaseIDs))
	for i, text := range in.Body.ReleaseIDs {
		id, err := parseReleaseID(strings.TrimSpace(text))
		if err != nil {
			return nil, fault.As(err).With("field", "release_ids["+strconv.Itoa(i)+"]")
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	user := readerOf(ctx)
	if has, err := s.syncer.HasAccount(ctx, user); err != nil || !has {
		return out, err
	}
	visible, err := s.repos.ListReactable(ctx, user, ids)
	if err != nil {
		return nil, err
	}
	found, err := s.syncer.Reactions(ctx, user, visible)
	if err != nil {
		return nil, err
	}
	for _, r := range visible {
		if reactions, ok := found[r.ID]; ok {
			out.Body.Items = append(out.Body.Items, ReactionItem{strconv.FormatInt(r.ID, 10), reactionsOf(reactions)})
		}
	}
	return out, nil
}

func (s *Service) toggleReaction(ctx context.Context, in *toggleInput) (*toggleOutput, error) {
	user, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	id, err := parseReleaseID(in.Body.ReleaseID)
	if err == nil {
		err = s.syncer.CheckReactor(ctx, user)
	}
	if err != nil {
		return nil, err
	}
	of, _, err := s.findReactable(ctx, id)
	if err != nil {
		return nil, err
	}
	reactions, err := s.syncer.ToggleReaction(ctx, user, of, in.Body.Content)
	if err != nil {
		return nil, err
	}
	return &toggleOutput{ReactionItem{in.Body.ReleaseID, reactionsOf(reactions)}}, nil
}

// findReactable returns a release that the caller sees, with how often each reaction was left when it was last read.
func (s *Service) findReactable(ctx context.Context, id int64) (of repo.Reactable, known ReleaseReactions, err error) {
	r, p, err := s.repos.FindRelease(ctx, id)
	if err == nil {
		err = s.checkVisible(ctx, r, p)
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
func (s *Service) ReactionsTo(ctx context.Context, releaseID string) (out ReactionBar, err error) {
	out.ReleaseID = releaseID
	id, err := parseReleaseID(releaseID)
	if err != nil {
		return out, err
	}
	of, known, err := s.findReactable(ctx, id)
	if err != nil {
		return out, err
	}
	out.Reactions = known
	out.CanReact, err = s.syncer.CanReact(ctx, readerOf(ctx), of)
	return out, err
}

// RefreshReactions asks the code host for the reactions to a release as the caller sees them. What is known stays where it
// cannot be asked.
func (s *Service) RefreshReactions(ctx context.Context, releaseID string) (ReactionBar, error) {
	out, err := s.ReactionsTo(ctx, releaseID)
	if err != nil || !out.CanReact {
		return out, err
	}
	in := &refreshInput{}
	in.Body.ReleaseIDs = []string{releaseID}
	fresh, err := s.refreshReactions(ctx, in)
	if err != nil {
		s.log.Debug("the reactions to a release were not read", "release", releaseID, "error", err)
		return out, nil
	}
	for _, item := range fresh.Body.Items {
		out.ReactionItem = item
	}
	return out, nil
}

// ToggleReaction leaves a reaction of the caller to a release, or takes it back.
func (s *Service) ToggleReaction(ctx context.Context, releaseID, content string) error {
	in := &toggleInput{}
	in.Body.ReleaseID, in.Body.Content = releaseID, content
	if !slices.Contains(repo.ReactionNames, content) {
		return fault.New(fault.BadRequest, "content must be one of %s.", strings.Join(repo.ReactionNames, ", ")).With("field", "content")
	}
	_, err := s.toggleReaction(ctx, in)
	return err
}
