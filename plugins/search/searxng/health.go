package searxng

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	// troubleAge is how long a failure of the engines counts as the state of the server.
	troubleAge = 10 * time.Minute
	// probeEvery is the pause between two questions whether the server is still set up wrongly. The server's limiter counts them.
	probeEvery = 5 * time.Minute
)

// trouble is the last thing that was wrong with the server, or nothing.
type trouble struct {
	mu  sync.Mutex
	err error
	// at is when that was found out, or the zero time if nothing is known yet.
	at time.Time
}

// recordOutcome notes how the last request to the server ended. A call that was given up says nothing.
func (t *trouble) recordOutcome(err error, now time.Time) {
	if err != nil && errs.From(err).Source != errs.Upstream {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.err, t.at = err, now
}

// currentState returns the trouble, and whether it is time to ask the server.
func (t *trouble) currentState(now time.Time) (err error, stale bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch age := now.Sub(t.at); {
	case t.at.IsZero():
		return nil, true
	case t.err != nil && age >= troubleAge:
		return nil, true
	case t.err != nil:
		return t.err, age >= probeEvery
	}
	return nil, false
}

// Health implements framework.Healther. It tells how the last search ended; before the first one, and while something is wrong, the
// server is asked, without a query, so that no engine is.
func (b *backend) Health(ctx context.Context) error {
	now := time.Now()
	err, stale := b.trouble.currentState(now)
	if stale {
		err = b.probeServer(ctx)
		b.trouble.recordOutcome(err, now)
	}
	if err == nil {
		return nil
	}
	return errors.New(errs.From(err).Message)
}

// probeServer asks for JSON without a query. A server that is set up for it answers with status 400.
func (b *backend) probeServer(ctx context.Context) error {
	u := *b.endpoint
	u.RawQuery = url.Values{"format": {"json"}}.Encode()
	res, err := b.client.Do(ctx, &httpx.Request{Method: http.MethodGet, URL: &u, Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		return err
	}
	if res.Status == http.StatusBadRequest {
		return nil
	}
	return checkAnswer(res, time.Now())
}
