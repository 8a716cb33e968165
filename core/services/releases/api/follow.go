package api

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/services/releases/follow"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
)

// followHandlers changes what users follow, and what they have chosen.
type followHandlers struct {
	readers   *reader.Readers
	following *follow.Following
}

// FollowAnswer names what is followed.
type FollowAnswer struct {
	FullName string `json:"full_name" example:"golang/go" doc:"As the code host has it."`
}

type (
	// RepoPath names a repository.
	RepoPath struct {
		Owner string `path:"owner" maxLength:"100"`
		Repo  string `path:"repo" maxLength:"100"`
	}
	followedOutputBody struct {
		Repos []follow.FollowedRepo `json:"repos" nullable:"false"`
	}
	followInput struct {
		Body struct {
			Name string `json:"name" maxLength:"500" example:"https://github.com/golang/go" doc:"owner/name at the first code host, or an address of the repository at one of the code hosts."`
		}
	}
	filterInput struct {
		RepoPath
		Body follow.RepoFilter
	}
)

func (h *followHandlers) followAPI(a *api.API) {
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagFollow, httpd.APIKey, summary, errors...)
	}
	const notFound = http.StatusNotFound
	checked := "The code host is asked whether the repository exists. If that cannot be found out now, nothing is followed. Its releases are read within a minute or two."
	api.Register(a, op("followed", http.MethodGet, "/api/repos/following", "The repositories that the caller sees"), h.listFollowed)
	byAddress := withText(op("follow-address", http.MethodPost, "/api/repos/following", "Follow a repository by its name or address",
		notFound, http.StatusConflict, http.StatusServiceUnavailable), checked)
	byAddress.Audit = "releases.repos.following.change"
	api.Register(a, byAddress, h.followAddress)
	api.Register(a, withText(op("follow", http.MethodPut, "/api/repos/{owner}/{repo}/following", "Follow a repository without a star",
		notFound, http.StatusConflict, http.StatusServiceUnavailable), checked), h.followRepo)
	api.Register(a, op("unfollow", http.MethodDelete, "/api/repos/{owner}/{repo}/following", "Unfollow a repository", notFound),
		h.unfollowRepo)
	api.Register(a, withText(op("filter", http.MethodPut, "/api/repos/{owner}/{repo}/filter",
		"Choose which releases of a repository are shown", notFound), "An empty object shows all."), h.putFilter)
	api.Register(a, op("preferences", http.MethodGet, "/api/preferences", "What the caller has chosen"), h.getPreferences)
	api.Register(a, op("preferences-save", http.MethodPut, "/api/preferences", "Choose"), h.putPreferences)
}

func (h *followHandlers) listFollowed(ctx context.Context, _ *struct{}) (*api.Out[followedOutputBody], error) {
	repos, err := h.following.Followed(ctx)
	return api.AnswerWith(followedOutputBody{repos}, err)
}

func (h *followHandlers) followRepo(ctx context.Context, in *RepoPath) (*api.OKAnswer, error) {
	return api.Done(h.following.FollowNamed(ctx, in.Owner, in.Repo))
}

func (h *followHandlers) followAddress(ctx context.Context, in *followInput) (*api.Out[FollowAnswer], error) {
	name, err := h.following.Follow(ctx, in.Body.Name)
	return api.AnswerWith(FollowAnswer{name}, err)
}

func (h *followHandlers) unfollowRepo(ctx context.Context, in *RepoPath) (*api.OKAnswer, error) {
	return api.Done(h.following.Unfollow(ctx, in.Owner, in.Repo))
}

func (h *followHandlers) putFilter(ctx context.Context, in *filterInput) (*api.Out[follow.RepoFilter], error) {
	return api.AnswerWith(h.following.SetFilter(ctx, in.Owner, in.Repo, in.Body))
}

func (h *followHandlers) getPreferences(ctx context.Context, _ *struct{}) (*api.Out[reader.Preferences], error) {
	return api.AnswerWith(h.readers.Preferences(ctx))
}

func (h *followHandlers) putPreferences(ctx context.Context, in *struct{ Body reader.Preferences }) (*api.Out[reader.Preferences], error) {
	if err := h.readers.SavePreferences(ctx, in.Body); err != nil {
		return nil, err
	}
	return h.getPreferences(ctx, nil)
}
