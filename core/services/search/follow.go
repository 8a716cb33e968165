package search

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/api"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// followChanges takes in what other cores write to tokens, keys and users, until Close. News name what was changed; once in a while, and
// after a lost connection, everything is read that was written lately.
func (s *Service) followChanges() {
	if !s.cfg.Cluster.Shared() {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	s.stopFollowing = stop
	s.followTopic(ctx, access.TopicTokens, s.LoadTokens, s.Refresh)
	s.followTopic(ctx, auth.TopicUsers, func(ctx context.Context, _ []string) error { return s.Refresh(ctx) }, nil)
	s.followTopic(ctx, keys.TopicKeys, s.ReloadKeys, nil)
	s.followTopic(ctx, api.TopicSessions, s.api.EndSessions, s.api.RefreshSessions)
	s.followTopic(ctx, api.TopicCancel, s.api.CancelCalls, nil)
}

// followTopic calls load with the ids in the news about a topic. refresh is called when some may have been lost; nil where another topic
// does that.
func (s *Service) followTopic(ctx context.Context, topic string, load func(context.Context, []string) error,
	refresh func(context.Context) error) {
	s.following.Go(func() {
		s.cfg.Cluster.Follow(ctx, topic, func(ctx context.Context, ids []string) {
			var err error
			switch {
			case ids != nil:
				err = load(ctx, ids)
			case refresh != nil:
				err = refresh(ctx)
			}
			if err != nil && ctx.Err() == nil {
				s.cfg.Logger.Error("cannot take in what another core has changed, retrying", "error", err)
			}
		})
	})
}
