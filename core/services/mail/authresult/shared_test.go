package authresult

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// countingResolver counts the questions. With block it answers when block is closed, or its context ends.
type countingResolver struct {
	asked atomic.Int64
	block chan struct{}
}

func (r *countingResolver) LookupTXT(ctx context.Context, name string) ([]string, error) {
	r.asked.Add(1)
	if r.block != nil {
		select {
		case <-r.block:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if name == "example.com" {
		return []string{"v=spf1 mx -all"}, nil
	}
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (r *countingResolver) LookupMX(context.Context, string) ([]*net.MX, error) {
	r.asked.Add(1)
	return []*net.MX{{Host: "mx.example.com"}}, nil
}

func (r *countingResolver) LookupIPAddr(context.Context, string) ([]net.IPAddr, error) {
	r.asked.Add(1)
	return []net.IPAddr{{IP: net.ParseIP("192.0.2.1")}}, nil
}

func (r *countingResolver) LookupAddr(context.Context, string) ([]string, error) {
	r.asked.Add(1)
	return nil, errors.New("no name")
}

// TestShared checks many messages of one sender: their results are those of a single one, and the DNS is asked as often.
func TestShared(t *testing.T) {
	resolver := &countingResolver{}
	m := Message{
		Client: net.ParseIP("192.0.2.1"), Helo: "mail.example.com", EnvelopeFrom: "ada@example.com", From: "ada@example.com",
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(unsigned)), nil },
	}
	want := New(resolver, time.Second).Check(t.Context(), m)
	once := resolver.asked.Load()
	if want.SPF.Result != Pass || once < 3 {
		t.Fatalf("%+v after %d questions", want, once)
	}
	checker := New(resolver, time.Second).Shared()
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := checker.Check(t.Context(), m); got.SPF != want.SPF || got.DMARC != want.DMARC {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
	all.Wait()
	if asked := resolver.asked.Load() - once; asked != once {
		t.Errorf("%d questions for twenty messages, %d for one", asked, once)
	}
}

// TestSharedAbandoned: who has more time asks again when the first one has given up.
func TestSharedAbandoned(t *testing.T) {
	resolver := &countingResolver{block: make(chan struct{})}
	shared := New(resolver, time.Second).Shared().resolver
	short, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() {
		if _, err := shared.LookupTXT(short, "example.com"); !errors.Is(err, context.Canceled) {
			t.Errorf("the first one got %v", err)
		}
	})
	for resolver.asked.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	all.Go(func() {
		if found, err := shared.LookupTXT(t.Context(), "example.com"); err != nil || len(found) != 1 {
			t.Errorf("the second one got %v %v", found, err)
		}
	})
	cancel()
	for resolver.asked.Load() < 2 {
		time.Sleep(time.Millisecond)
	}
	close(resolver.block)
	all.Wait()
}
