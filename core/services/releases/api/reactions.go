package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/reading"
)

// reactionHandlers reads and leaves reactions.
type reactionHandlers struct{ reading *reading.Reading }

type (
	refreshInput struct {
		Body struct {
			ReleaseIDs []string `json:"release_ids" minItems:"1" maxItems:"100" doc:"Those that the caller does not see are left out of the answer."`
		}
	}
	refreshOutputBody struct {
		Items []reading.ReactionItem `json:"items" nullable:"false"`
	}
	toggleInput struct {
		Body struct {
			ReleaseID string `json:"release_id"`
			Content   string `json:"content" enum:"plus1,laugh,heart,hooray,rocket,eyes"`
		}
	}
)

func (h *reactionHandlers) reactionAPI(a *api.API) {
	refresh := withText(newOperation("reactions-refresh", http.MethodPost, "/api/feed/reactions/refresh", tagReact, httpd.APIKey,
		"Read the reactions to releases", http.StatusUnprocessableEntity),
		"They are asked for at the code host with the caller's personal access token. Without one the answer is empty.")
	refresh.Audit = httpd.Unaudited
	api.Register(a, refresh, h.refreshReactions)
	api.Register(a, withText(newOperation("reaction-toggle", http.MethodPost, "/api/release/reactions/toggle", tagReact, httpd.APIKey,
		"Leave a reaction, or take it back",
		http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnprocessableEntity),
		"409 sync_required for a release of which no reactions are known; 403 pat_forbidden if the token may not react."), h.toggleReaction)
}

func (h *reactionHandlers) refreshReactions(ctx context.Context, in *refreshInput) (*api.Out[refreshOutputBody], error) {
	items, err := h.reading.ReadReactions(ctx, in.Body.ReleaseIDs)
	return api.AnswerWith(refreshOutputBody{items}, err)
}

func (h *reactionHandlers) toggleReaction(ctx context.Context, in *toggleInput) (*api.Out[reading.ReactionItem], error) {
	return api.AnswerWith(h.reading.ToggleReaction(ctx, in.Body.ReleaseID, in.Body.Content))
}
