package httpd

import (
	"sync"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// The memory that request bodies of callers who are not authenticated may take at once, in bytes.
const (
	DefaultBodyBudget     = 64 << 20
	DefaultBodyBudgetEach = 16 << 20
)

// budgetRetry is when a client may send a body again that was refused.
const budgetRetry = 5 * time.Second

// The reasons for which Options.Refused and ConnectionLimits.Refused are called.
const (
	RefusedBodyTotal       = "body_budget"
	RefusedBodyClient      = "body_budget_client"
	RefusedBodyNoToken     = "body_without_token"
	RefusedUnauthenticated = "unauthenticated"
	RefusedConnection      = "connection"
	ClosedIdleConnection   = "idle_connection"
)

// RefusalReasons returns every reason, so that a counter can begin each at zero.
func RefusalReasons() []string {
	return []string{RefusedBodyTotal, RefusedBodyClient, RefusedBodyNoToken, RefusedUnauthenticated, RefusedConnection, ClosedIdleConnection}
}

// BodyBudget bounds the memory of the request bodies whose sender is not authenticated: all of them, and those of one client, which is an
// IPv4 address or an IPv6 network of 64 bits. It is safe for concurrent use and may be shared by several servers.
type BodyBudget struct {
	total, each int64

	mu       sync.Mutex
	used     int64
	byClient map[string]int64
}

// NewBodyBudget returns a budget of total bytes, and each for one client.
func NewBodyBudget(total, each int64) *BodyBudget {
	return &BodyBudget{total: total, each: each, byClient: map[string]int64{}}
}

// Used returns the bytes that are taken.
func (b *BodyBudget) Used() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used
}

// Reserve takes n bytes for the client with an address, and returns the reason if they are refused, else "".
func (b *BodyBudget) Reserve(addr string, n int64) (refused string) {
	client := ClientNetwork(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.byClient[client]+n > b.each:
		return RefusedBodyClient
	case b.used+n > b.total:
		return RefusedBodyTotal
	}
	b.used += n
	b.byClient[client] += n
	return ""
}

// Release gives back n bytes that Reserve has taken.
func (b *BodyBudget) Release(addr string, n int64) {
	client := ClientNetwork(addr)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.byClient[client] -= n; b.byClient[client] <= 0 {
		delete(b.byClient, client)
	}
}

// errBudget is the error of a body that finds no room.
func errBudget() error {
	return fault.New(fault.NotReady,
		"The server is busy with requests of unauthenticated callers: try again soon.").WithRetryAfter(budgetRetry)
}

// SetAuthenticated tells that the caller of a request is known: its body counts no more against the budget of those who are not. The
// guard does it by itself; handlers that check the caller do it as soon as they have, before they read the rest of the body.
func SetAuthenticated(c *gin.Context) {
	if b, ok := c.Value(keyBody).(*requestBody); ok {
		b.setAuthenticated()
	}
}
