package tavily_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/search/tavily/tavilytest"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func TestResearch(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	resp, err := b.Invoke(t.Context(), request(search.OpResearch, `{"input":"i","model":"mini"}`))
	if err != nil || resp.Status != http.StatusCreated || resp.ResourceID == "" || resp.Usage != nil {
		t.Fatalf("got %+v, %v", resp, err)
	}
	for _, want := range []int{http.StatusAccepted, http.StatusOK} {
		result, err := b.Invoke(t.Context(), &search.Request{
			Operation: search.OpResearchResult, ResourceID: resp.ResourceID, Credential: key, Query: "include_usage=True&user=me",
		})
		if err != nil || result.Status != want || result.Key.State != search.KeyOK {
			t.Fatalf("got %+v, %v, want %d", result, err, want)
		}
	}
	unknown, err := b.Invoke(t.Context(), &search.Request{Operation: search.OpResearchResult, ResourceID: "x", Credential: key})
	if err != nil || unknown.Status != http.StatusNotFound || unknown.Key.State != search.KeyUnknown {
		t.Errorf("got %+v, %v", unknown, err)
	}
	all := fake.Requests()
	if all[0].Body != `{"input":"i","model":"mini"}` || all[1].Query != "include_usage=true" || all[1].Body != "" {
		t.Errorf("upstream saw %+v", all)
	}
}

// recorder takes a stream and tells when something arrives.
type recorder struct {
	mu     sync.Mutex
	head   *search.Head
	chunks []string
	first  chan struct{}
	fail   error
}

func newRecorder() *recorder { return &recorder{first: make(chan struct{})} }

func (r *recorder) Start(h *search.Head) error {
	r.head = h
	return nil
}

func (r *recorder) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.chunks) == 0 {
		close(r.first)
	}
	r.chunks = append(r.chunks, string(p))
	return len(p), r.fail
}

func (r *recorder) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.chunks, "")
}

const streaming = `{"input":"i","stream":true}`

func TestStream(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	rec := newRecorder()
	usage, err := b.(search.Streamer).Stream(t.Context(), request(search.OpResearch, streaming), rec)
	if err != nil || usage != nil {
		t.Fatalf("got %v, %v", usage, err)
	}
	if rec.head.Status != 200 || !strings.HasPrefix(rec.head.ContentType, "text/event-stream") || rec.head.Key.State != search.KeyOK {
		t.Errorf("head is %+v", rec.head)
	}
	if text := rec.text(); strings.Count(text, "event: chat.completion.chunk\n") != 5 || !strings.HasSuffix(text, "event: done\n") {
		t.Errorf("stream is %s", text)
	}
	up := fake.Requests()[0]
	if up.Body != streaming || up.Header.Get("Accept") != "text/event-stream" {
		t.Errorf("upstream saw %+v", up)
	}
}

func TestStreamIsIncremental(t *testing.T) {
	b, _ := open(t, tavilytest.Config{StreamDelay: time.Hour})
	rec := newRecorder()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		_, err := b.(search.Streamer).Stream(ctx, request(search.OpResearch, streaming), rec)
		done <- err
	}()
	select {
	case <-rec.first:
	case <-time.After(5 * time.Second):
		t.Fatal("the first event did not arrive while the stream was open")
	}
	cancel()
	if err := <-done; err == nil {
		t.Error("a cancelled stream ended without an error")
	}
}

func TestStreamFaults(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	stream := b.(search.Streamer)
	for _, status := range []int{400, 401, 429, 432, 500} {
		fake.Script(tavilytest.Answer{Status: status})
		rec := newRecorder()
		if _, err := stream.Stream(t.Context(), request(search.OpResearch, streaming), rec); err != nil {
			t.Fatal(err)
		}
		if rec.head.Status != status || !strings.Contains(rec.text(), "detail") {
			t.Errorf("%d: got %+v %s", status, rec.head, rec.text())
		}
	}
	for _, fault := range []string{tavilytest.FaultStreamCut, tavilytest.FaultHTML, tavilytest.FaultReset, tavilytest.FaultHalfBody} {
		fake.Script(tavilytest.Answer{Fault: fault})
		_, err := stream.Stream(t.Context(), request(search.OpResearch, streaming), newRecorder())
		want := errs.ReasonLost
		if fault == tavilytest.FaultHTML {
			want = errs.ReasonProtocol
		}
		if e := errs.From(err); e == nil || e.Reason != want {
			t.Errorf("%s: got %v", fault, err)
		}
	}
	rec := newRecorder()
	rec.fail = errors.New("client is gone")
	if _, err := stream.Stream(t.Context(), request(search.OpResearch, streaming), rec); !errors.Is(err, rec.fail) {
		t.Errorf("got %v", err)
	}
	rec = newRecorder()
	if _, err := stream.Stream(t.Context(), request(search.OpResearch, `{"input":"i"}`), rec); err != nil {
		t.Fatal(err)
	}
	if rec.head.Status != http.StatusCreated || rec.head.ResourceID == "" {
		t.Errorf("an answer without a stream: %+v", rec.head)
	}
	if _, err := stream.Stream(t.Context(), request(search.OpSearch, `{}`), rec); err == nil {
		t.Error("search was streamed")
	}
}

func TestKeyStatus(t *testing.T) {
	b, fake := open(t, tavilytest.Config{})
	checker := b.(search.KeyChecker)
	for _, tt := range []struct {
		status      int
		body        string
		state       search.KeyState
		used, limit int64
	}{
		{200, `{"key":{"usage":5,"limit":10},"account":{"current_plan":"Free","plan_usage":50,"plan_limit":1000}}`, search.KeyOK, 5, 10},
		{200, `{"key":{"usage":10,"limit":10},"account":{"plan_usage":50,"plan_limit":1000}}`, search.KeyExhausted, 10, 10},
		{200, `{"key":{"usage":5,"limit":null},"account":{"plan_usage":50,"plan_limit":1000}}`, search.KeyOK, 50, 1000},
		{200, `{"key":{"usage":5},"account":{"plan_usage":1000,"plan_limit":1000,"paygo_usage":0,"paygo_limit":null}}`, search.KeyExhausted,
			1000, 1000},
		{200, `{"key":{"usage":5},"account":{"plan_usage":1000,"plan_limit":1000,"paygo_usage":1,"paygo_limit":20}}`, search.KeyOK, 1000, 1000},
		{200, `{}`, search.KeyOK, 0, 0},
		{401, `{}`, search.KeyInvalid, 0, 0},
		{429, `{}`, search.KeyRateLimited, 0, 0},
	} {
		fake.Script(tavilytest.Answer{Path: "/usage", Status: tt.status, Body: tt.body})
		st, err := checker.KeyStatus(t.Context(), key)
		if err != nil || st.Key.State != tt.state || st.Used != tt.used || st.Limit != tt.limit {
			t.Errorf("%s: got %+v, %v", tt.body, st, err)
		}
	}
	fake.Script(tavilytest.Answer{Status: 500}, tavilytest.Answer{Status: 200, Body: "[]"})
	for range 2 {
		if st, err := checker.KeyStatus(t.Context(), key); err == nil {
			t.Errorf("got %+v", st)
		}
	}
	if st, err := checker.KeyStatus(t.Context(), "tvly-other"); err != nil || st.Key.State != search.KeyInvalid {
		t.Errorf("foreign key: %+v, %v", st, err)
	}
}

func BenchmarkInvoke(b *testing.B) {
	for name, size := range map[string]int{"1KB": 40, "50KB": 10_000} {
		b.Run(name, func(b *testing.B) {
			backend, _ := open(b, tavilytest.Config{ResultBytes: size, NoHistory: true})
			req := request(search.OpSearch, `{"query":"who is it","max_results":5}`)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := backend.Invoke(b.Context(), req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
