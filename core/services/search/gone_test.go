package search

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
	"github.com/patchbay-dev/patchbay/core/services/search/internal/searchtest"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// charged waits until a token has no reservation left and checks what was charged, in memory and in the database.
func (e *env) charged(token string, credits int64) {
	e.Helper()
	id := idOf(token)
	testkit.Eventually(e, 10*time.Second, func() bool { u := e.used(e.svc, id); return u.Reserved == 0 && u.HourlyCredits == credits },
		"the credits of the token")
	// The call is settled in memory before it is handed over to be written.
	testkit.Eventually(e, 10*time.Second, func() bool {
		e.flush()
		s := e.sums(id)
		return s.Credits == credits && s.AuditCredits == credits
	}, "the stored credits of the token")
}

// postUntil sends a request that the client gives up when ctx ends.
func (e *env) postUntil(ctx context.Context, operation, token, body string) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/search/api/proxy/"+operation, strings.NewReader(body))
	if err != nil {
		e.Error(err)
		return
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if resp, err := http.DefaultClient.Do(req); err == nil {
		_ = resp.Body.Close()
		e.Error("the client that left has an answer")
	}
}

func TestCallOfAClientThatLeftIsCharged(t *testing.T) {
	const calls = 30
	entered, answer := make(chan struct{}, calls), make(chan struct{})
	e := newEnv(t, func(e *env) {
		e.backend.invoke = func(ctx context.Context, _ *sdk.Request) (*sdk.Reply, error) {
			entered <- struct{}{}
			select {
			case <-answer:
				return charging(200, 3)()
			case <-ctx.Done():
				return nil, fault.FromPlugin("search.fake", ctx.Err())
			}
		}
	})
	e.listen()
	token := e.token(nil)
	var wg sync.WaitGroup
	ctx, leave := context.WithCancel(context.Background())
	for range calls {
		wg.Go(func() { e.postUntil(ctx, "search", token, `{"query":"a"}`) })
	}
	for range calls {
		<-entered
	}
	leave()
	wg.Wait()
	close(answer)
	e.charged(token, 3*calls)
	for _, r := range e.rows() {
		// The server may hear of the client's end only after the answer.
		left := r.Outcome == audit.Failure && r.Status == fault.StatusClientClosedRequest && r.ErrorCode == string(fault.ClientClosedRequest)
		if r.UpstreamStatus != 200 || r.Credits != 3 || !left && r.Status != 200 {
			t.Errorf("%+v", r)
		}
	}
}

// held is a stream whose second part comes when it is told.
type held struct {
	searchtest.Chunks
	next <-chan struct{}
	read int
}

func (h *held) Next() ([]byte, error) {
	if h.read++; h.read == 2 {
		<-h.next
	}
	return h.Chunks.Next()
}

func TestStreamOfAClientThatLeftIsCharged(t *testing.T) {
	next, begun := make(chan struct{}), make(chan struct{})
	parts := []string{"data: a\n\n"}
	for range 100 {
		parts = append(parts, "data: "+strings.Repeat("b", 64<<10)+"\n\n")
	}
	st := &held{Chunks: searchtest.Chunks{HeadOf: sdk.Head{Status: 200, ContentType: "text/event-stream"}, Parts: parts,
		UsageOf: &sdk.Usage{Credits: 11}}, next: next}
	e := newEnv(t, func(e *env) {
		e.backend.stream = func(context.Context, *sdk.Request) (client.SearchStream, error) { return st, nil }
	})
	e.listen()
	token := e.token(nil)
	ctx, cancel := context.WithCancel(context.Background())
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.base+"/search/api/proxy/research",
		strings.NewReader(`{"input":"a","stream":true}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	go func() {
		<-begun
		cancel()
		close(next)
	}()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	var first [9]byte
	if _, err := resp.Body.Read(first[:]); err != nil {
		t.Fatal(err)
	}
	close(begun)
	e.charged(token, 11)
	_ = resp.Body.Close()
}
