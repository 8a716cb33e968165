package exchange

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
)

// A peer that accepts connections and says nothing must not hold a call beyond its deadline.
func TestOpeningKeepsTheDeadline(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	lis, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer lis.Close()
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	p := NewPool(conn, method, "a", 0)
	defer p.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	if _, err := p.Call(ctx, "", nil, nil); status.Code(err) != codes.DeadlineExceeded || time.Since(began) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(began), err)
	}
}

// A call whose connection is closed under it may have been carried out; one that meets a closed connection was not.
func TestConnectionClosedDuringTheCall(t *testing.T) {
	began := make(chan struct{})
	b := newBench(t, func(ctx context.Context, _ *Message) ([]byte, []byte, error) {
		close(began)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	})
	p := b.pool(t, 0)
	ended := make(chan error, 1)
	go func() {
		_, err := p.Call(context.Background(), "", nil, nil)
		ended <- err
	}()
	<-began
	if err := b.conn.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; status.Code(err) != codes.Unavailable || errors.Is(err, ErrUnsent) {
		t.Errorf("the call under way: %v", err)
	}
	if _, err := p.Call(t.Context(), "", nil, nil); !errors.Is(err, ErrUnsent) {
		t.Errorf("the next call: %v", err)
	}
}

// A call whose deadline is over before it begins has sent nothing, whatever it was waiting for.
func TestCallAfterItsDeadlineIsUnsent(t *testing.T) {
	b := newBench(t, func(context.Context, *Message) ([]byte, []byte, error) { return nil, nil, nil })
	p := b.pool(t, 0)
	if _, err := p.Call(t.Context(), "", nil, nil); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancel()
	for range 20 {
		if _, err := p.Call(ctx, "", nil, nil); status.Code(err) != codes.DeadlineExceeded || !errors.Is(err, ErrUnsent) {
			t.Fatal(err)
		}
	}
}
