package search_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

type config struct{}

// backend answers every call with what it is told, and keeps the request.
type backend struct {
	got  search.Request
	resp *search.Response
	err  error
	// reindexed counts the calls of Reindex.
	reindexed int

	began chan struct{} // closed by a call that hangs, unless it is nil
}

func (b *backend) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	if req.Operation == "hang" {
		if b.began != nil {
			close(b.began)
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	b.got = *req
	return b.resp, b.err
}

func (b *backend) Stream(ctx context.Context, req *search.Request, w search.StreamWriter) (*search.Usage, error) {
	b.got = *req
	if req.Operation == "hang" {
		close(b.began)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if err := w.Start(&b.resp.Head); err != nil {
		return nil, err
	}
	if _, err := w.Write(b.resp.Body); err != nil {
		return nil, err
	}
	return &search.Usage{Credits: 9}, b.err
}

func (b *backend) KeyStatus(context.Context, schema.Secret) (*search.KeyStatus, error) {
	return &search.KeyStatus{Key: b.resp.Key, Plan: "big", Used: 1, Limit: 2, ResetsAt: time.Unix(1700000000, 0).UTC()}, b.err
}

// indexStatus is a report in which every field has a value of its own.
func indexStatus() *search.IndexStatus {
	return &search.IndexStatus{Documents: 7, Bytes: 8, Reindexing: true, Sources: []search.IndexSource{
		{Name: "docs", Kind: search.SourceFiles, State: search.SourceReady, Documents: 3, LastVisit: time.UnixMilli(1700000000123).UTC()},
		{Name: "https://example.org/", Kind: search.SourceSite, State: search.SourceFailed, Documents: 4,
			LastVisit: time.UnixMilli(1700000001000).UTC(),
			NextVisit: time.UnixMilli(1700000002000).UTC(), Done: 5, Total: 6, LastError: "no answer"},
	}}
}

func (b *backend) IndexStatus(context.Context) (*search.IndexStatus, error) {
	return indexStatus(), b.err
}

func (b *backend) Reindex(context.Context) error { b.reindexed++; return b.err }

func operations() []search.Operation {
	return []search.Operation{{
		Name: "search", Title: "T", Description: "D", InputSchema: `{"type":"object"}`, Stream: true, Required: []string{"query"},
		Timeout: time.Minute, Tool: "tool", Price: []search.PriceTerm{{CountField: "urls", DefaultCount: 1, Unit: 5, Rate: 2,
			Cases: []search.PriceCase{{Field: "depth", Equals: "deep", Rate: 4}}}},
	}}
}

func load(t *testing.T, b search.Backend) (*plugintest.Loaded, string) {
	t.Helper()
	def := search.Definition[config]{
		Credential: true, Stream: true, KeyStatus: true, Index: true, Operations: operations(),
		Build: func(search.Instance, config) (search.Open, schema.Diagnostics) {
			return func(context.Context) (search.Backend, error) { return b, nil }, nil
		},
	}
	l := plugintest.Load(t, framework.Plugin{Name: "p", Version: "1.0.0", Kinds: []framework.Kind{search.New(def)}})
	return l, l.Configure(t, plugintest.Config(t, search.Kind, "a", "{}"))
}

func full() *search.Response {
	return &search.Response{
		Head: search.Head{
			Status: 429, ContentType: "application/json", RetryAfter: "17", Usage: &search.Usage{Credits: 0}, ResourceID: "r1",
			Upstream: 1500 * time.Microsecond,
			Key:      search.KeyVerdict{State: search.KeyRateLimited, RetryAfter: 17 * time.Second, Reason: "slow down"},
		},
		Body: []byte(`{"detail":"slow"}`),
	}
}

func forms(t *testing.T, l *plugintest.Loaded, id string, test func(t *testing.T, c *search.Client)) {
	for name, streams := range map[string]int{"streams": 0, "unary": -1} {
		t.Run(name, func(t *testing.T) {
			c := search.NewClient(l.Conn, id, streams)
			defer c.Close()
			test(t, c)
		})
	}
}

func TestNothingIsLostOnTheWay(t *testing.T) {
	b := &backend{resp: full()}
	l, id := load(t, b)
	req := &search.Request{Operation: "search", ResourceID: "r", Query: "a=b", Body: []byte(`{"query":"x"}`), Credential: "secret",
		RequestID: "req"}
	forms(t, l, id, func(t *testing.T, c *search.Client) {
		reply, err := c.Invoke(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(reply.Head, b.resp.Head) || string(reply.Body) != string(b.resp.Body) {
			t.Errorf("got %+v", reply.Response)
		}
		if !reflect.DeepEqual(b.got, *req) {
			t.Errorf("the backend got %+v", b.got)
		}
		reply.Release()
		reply.Release()
	})
	t.Run("stream", func(t *testing.T) {
		c := search.NewClient(l.Conn, id, 0)
		defer c.Close()
		st, err := c.Stream(context.Background(), req)
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		chunk, err := st.Next()
		if err != nil || string(chunk) != string(b.resp.Body) || !reflect.DeepEqual(st.Head, b.resp.Head) {
			t.Errorf("got %q, %v, head %+v", chunk, err, st.Head)
		}
		if _, err := st.Next(); err != io.EOF || st.Tail == nil || st.Tail.Usage.Credits != 9 {
			t.Errorf("end %v, tail %+v", err, st.Tail)
		}
		if !reflect.DeepEqual(b.got, *req) {
			t.Errorf("the backend got %+v", b.got)
		}
		ks, err := c.KeyStatus(context.Background(), "secret")
		want := &search.KeyStatus{Key: b.resp.Key, Plan: "big", Used: 1, Limit: 2, ResetsAt: time.Unix(1700000000, 0).UTC()}
		if err != nil || !reflect.DeepEqual(ks, want) {
			t.Errorf("key status %+v, %v", ks, err)
		}
		if is, err := c.IndexStatus(context.Background()); err != nil || !reflect.DeepEqual(is, indexStatus()) {
			t.Errorf("index status %+v, %v", is, err)
		}
		if err := c.Reindex(context.Background()); err != nil || b.reindexed != 1 {
			t.Errorf("reindex: %d, %v", b.reindexed, err)
		}
	})
}

func TestDescriptor(t *testing.T) {
	l, _ := load(t, &backend{})
	resp, err := l.Plugin.Describe(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	d, err := search.ParseDescriptor(resp.GetKinds()[0])
	if err != nil || !d.Credential || !reflect.DeepEqual(d.Operations, operations()) {
		t.Errorf("got %+v, %v", d, err)
	}
	for _, c := range []string{search.CapExchange, search.CapStream, search.CapKeyStatus, search.CapIndex} {
		if !d.Has(c) {
			t.Errorf("%s is missing", c)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	b := &backend{}
	l, id := load(t, b)
	tests := []struct {
		name   string
		resp   *search.Response
		err    error
		source errs.Source
		reason string
	}{
		{"nil", nil, nil, errs.Plugin, "BAD_ANSWER"},
		{"no status", &search.Response{}, nil, errs.Plugin, "BAD_ANSWER"},
		{"status 600", &search.Response{Head: search.Head{Status: 600}}, nil, errs.Plugin, "BAD_ANSWER"},
		{"too large", &search.Response{Head: search.Head{Status: 200}, Body: make([]byte, search.MaxBody+1)}, nil, errs.Upstream,
			errs.ReasonTooLarge},
		{"plain error", nil, errors.New("plain"), errs.Plugin, "INTERNAL"},
		{"own error", nil, errs.BadInput("NO", "no"), errs.Caller, "NO"},
	}
	for _, tt := range tests {
		b.resp, b.err = tt.resp, tt.err
		forms(t, l, id, func(t *testing.T, c *search.Client) {
			_, err := c.Invoke(context.Background(), &search.Request{Operation: "search"})
			if e := errs.From(err); e == nil || e.Source != tt.source || e.Reason != tt.reason {
				t.Errorf("%s: %+v", tt.name, e)
			}
		})
	}
}

func TestDeadlineAtTheBackend(t *testing.T) {
	l, id := load(t, &backend{})
	forms(t, l, id, func(t *testing.T, c *search.Client) {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Millisecond)
		defer cancel()
		if _, err := c.Invoke(ctx, &search.Request{Operation: "hang"}); errs.From(err).Code != codes.DeadlineExceeded {
			t.Errorf("got %v", err)
		}
	})
}

// A stream whose connection this side closes may have been carried out: it does not read as one that never began.
func TestConnectionClosedDuringAStream(t *testing.T) {
	b := &backend{began: make(chan struct{})}
	l, id := load(t, b)
	c := search.NewClient(l.Conn, id, 0)
	defer c.Close()
	ended := make(chan error, 1)
	go func() {
		_, err := c.Stream(context.Background(), &search.Request{Operation: "hang"})
		ended <- err
	}()
	<-b.began
	if err := l.Conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; status.Code(err) != codes.Unavailable {
		t.Errorf("the stream under way: %v", err)
	}
}

// The same holds for a call, in either form.
func TestConnectionClosedDuringACall(t *testing.T) {
	for _, streams := range []int{0, -1} {
		b := &backend{began: make(chan struct{})}
		l, id := load(t, b)
		c := search.NewClient(l.Conn, id, streams)
		defer c.Close()
		ended := make(chan error, 1)
		go func() {
			_, err := c.Invoke(context.Background(), &search.Request{Operation: "hang"})
			ended <- err
		}()
		<-b.began
		if err := l.Conn.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; status.Code(err) != codes.Unavailable {
			t.Errorf("%d streams: the call under way: %v", streams, err)
		}
	}
}

// plain is a backend that only invokes.
type plain struct{ *backend }

func (p plain) Invoke(ctx context.Context, req *search.Request) (*search.Response, error) {
	return p.backend.Invoke(ctx, req)
}

func TestOptionalCallsAreRefused(t *testing.T) {
	only := struct{ search.Backend }{plain{&backend{resp: full()}}}
	l, id := load(t, only)
	c := search.NewClient(l.Conn, id, 0)
	defer c.Close()
	_, err := c.Stream(context.Background(), &search.Request{Operation: "search"})
	if e := errs.From(err); e == nil || e.Code != codes.Unimplemented || e.Reason != errs.ReasonUnsupported {
		t.Errorf("stream: %v", err)
	}
	_, err = c.KeyStatus(context.Background(), "secret")
	if e := errs.From(err); e == nil || e.Code != codes.Unimplemented || strings.Contains(err.Error(), "secret") {
		t.Errorf("key status: %v", err)
	}
	_, err = c.IndexStatus(context.Background())
	for call, err := range map[string]error{"index status": err, "reindex": c.Reindex(context.Background())} {
		if e := errs.From(err); e == nil || e.Code != codes.Unimplemented || e.Reason != errs.ReasonUnsupported {
			t.Errorf("%s: %v", call, err)
		}
	}
}
