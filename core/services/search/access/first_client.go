package access

import (
	"context"
	"sync/atomic"
	"time"
)

// The kinds of clients that are told apart from people at a terminal or a page.
const (
	ClientMCP     = "mcp"
	ClientLibrary = "library"
)

// firstClient knows whether a client program has ever used the service: an SDK, or an assistant that speaks MCP.
type firstClient struct {
	seen  atomic.Bool
	store *clientStore
}

// loadState reads from the database whether a client was seen before.
func (f *firstClient) loadState(ctx context.Context) error {
	seen, err := f.store.hasClients(ctx)
	f.seen.Store(seen)
	return err
}

// recordUse stores the first use by a client. Calls of the built-in token of development do not count.
func (f *firstClient) recordUse(ctx context.Context, tok *Token, kind string, now time.Time) error {
	if tok.Id == BuiltinID || !f.seen.CompareAndSwap(false, true) {
		return nil
	}
	err := f.store.addClient(ctx, kind, now)
	if err != nil {
		f.seen.Store(false)
	}
	return err
}

// NoteClient notes that a client has used the service. A failure is logged: the next use tries again.
func (a *Access) NoteClient(ctx context.Context, tok *Token, kind string) {
	if a.client.seen.Load() {
		return
	}
	if err := a.client.recordUse(context.WithoutCancel(ctx), tok, kind, a.now()); err != nil {
		a.log.Warn("cannot record a client's first use", "error", err)
	}
}

// ClientSeen reports whether a client program has ever used the service with an access token: an SDK or another library, or an
// assistant over MCP. Commands such as curl and the pages of the console do not count.
func (a *Access) ClientSeen() bool { return a.client.seen.Load() }
