package search

import (
	"context"
	"strings"
	"sync/atomic"
	"time"
)

// The kinds of clients that are told apart from people at a terminal or a page.
const (
	clientMCP     = "mcp"
	clientLibrary = "library"
)

// firstClient knows whether a client program has ever used the service: an SDK, or an assistant that speaks MCP.
type firstClient struct {
	seen atomic.Bool
	repo *repository
}

// clientRecord is the first use by a kind of client.
type clientRecord struct {
	Kind    string `gorm:"primaryKey"`
	FirstAt int64
}

// TableName implements gorm's Tabler.
func (clientRecord) TableName() string { return "search_clients" }

// loadState reads from the database whether a client was seen before.
func (f *firstClient) loadState(ctx context.Context) error {
	var n int64
	err := f.repo.db(ctx).Model(&clientRecord{}).Count(&n).Error
	f.seen.Store(n > 0)
	return err
}

// recordUse stores the first use by a client. Calls of the built-in token of development do not count.
func (f *firstClient) recordUse(ctx context.Context, tok *token, kind string, now time.Time) error {
	if tok.id == builtinID || !f.seen.CompareAndSwap(false, true) {
		return nil
	}
	err := f.repo.store.Tx(ctx, "note the first client", func(ctx context.Context) error {
		return f.repo.db(ctx).Exec("INSERT INTO search_clients (kind, first_at) VALUES (?, ?) ON CONFLICT (kind) DO NOTHING", kind, now.UnixMilli()).Error
	})
	if err != nil {
		f.seen.Store(false)
	}
	return err
}

// noteClient notes that a client has used the service. A failure is logged: the next use tries again.
func (s *Service) noteClient(ctx context.Context, tok *token, kind string) {
	if s.client.seen.Load() {
		return
	}
	if err := s.client.recordUse(context.WithoutCancel(ctx), tok, kind, s.cfg.Now()); err != nil {
		s.cfg.Logger.Warn("the first use by a client was not noted", "error", err)
	}
}

// ClientSeen reports whether a client program has ever used the service with an access token: an SDK or another library, or an
// assistant over MCP. Commands such as curl and the pages of the console do not count.
func (s *Service) ClientSeen() bool { return s.client.seen.Load() }

// byHand are the beginnings of the user agents of tools that people use by hand, in lower case.
var byHand = []string{"curl/", "wget/", "mozilla/", "httpie/", "xh/", "postmanruntime/", "insomnia/", "bruno", "powershell/"}

// isLibrary reports whether a user agent is that of a library rather than of a tool that people use by hand.
func isLibrary(userAgent string) bool {
	name := strings.ToLower(strings.TrimSpace(userAgent))
	if name == "" {
		return false
	}
	for _, prefix := range byHand {
		if strings.HasPrefix(name, prefix) {
			return false
		}
	}
	return true
}
