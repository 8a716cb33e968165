package api

import (
	"context"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/cluster"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// Where cores tell each other which MCP sessions have ended, and which calls are to be cancelled.
const (
	TopicSessions = "mcp.ended"
	TopicCancel   = "mcp.cancel"
)

// sharedSessions is what the MCP endpoints of all cores know together.
type sharedSessions struct {
	store   *store.Store
	cluster *cluster.Cluster
	now     func() time.Time
}

// HasOthers implements mcp.Shared.
func (s *sharedSessions) HasOthers() bool { return s.cluster.Shared() }

// End implements mcp.Shared.
func (s *sharedSessions) End(ctx context.Context, session string, until time.Time) error {
	now := s.now().UnixMilli()
	err := s.store.Tx(ctx, "end an MCP session", func(ctx context.Context) error {
		w := s.store.Writer(ctx)
		if err := w.Exec("DELETE FROM search_mcp_ended WHERE until_at < ?", now).Error; err != nil {
			return err
		}
		if s.cluster.Shared() {
			if err := s.cluster.Publish(ctx, TopicSessions, session); err != nil {
				return err
			}
		}
		return w.Exec("INSERT INTO search_mcp_ended (id, ended_at, until_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", session, now,
			until.UnixMilli()).Error
	})
	if err != nil {
		return fault.Wrap(err, fault.Internal, "The session could not be ended.")
	}
	return nil
}

// IsEnded implements mcp.Shared.
func (s *sharedSessions) IsEnded(ctx context.Context, session string) (ended bool, err error) {
	err = s.store.DB(ctx).Raw("SELECT EXISTS (SELECT 1 FROM search_mcp_ended WHERE id = ?)", session).Row().Scan(&ended)
	if err != nil {
		return false, fault.Wrap(err, fault.Internal, "The session could not be looked up.")
	}
	return ended, nil
}

// Cancel implements mcp.Shared.
func (s *sharedSessions) Cancel(session, call string) {
	if s.cluster.Shared() {
		_ = s.cluster.Publish(context.Background(), TopicCancel, session+" "+call)
	}
}

// lately is how far back it is looked for sessions that other cores have ended, when news may have been lost.
const lately = 10 * time.Minute

// EndSessions ends MCP sessions here that another core has ended.
func (s *API) EndSessions(_ context.Context, sessions []string) error {
	s.Proxy.Mcp.DropEnded(sessions)
	return nil
}

// RefreshSessions ends the MCP sessions here that other cores have ended lately.
func (s *API) RefreshSessions(ctx context.Context) error {
	var ended []string
	shared := s.Proxy.sessions
	err := shared.store.DB(ctx).Raw("SELECT id FROM search_mcp_ended WHERE ended_at > ?", shared.now().Add(-lately).UnixMilli()).Scan(&ended).Error
	if err == nil && len(ended) > 0 {
		s.Proxy.Mcp.DropEnded(ended)
	}
	return err
}

// CancelCalls cancels calls of MCP that run here: the cancellations came to other cores.
func (s *API) CancelCalls(_ context.Context, calls []string) error {
	for _, named := range calls {
		session, call, _ := strings.Cut(named, " ")
		s.Proxy.Mcp.CancelCall(session, call)
	}
	return nil
}
