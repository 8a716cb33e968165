package exchange

import (
	"bytes"
	"context"
	"errors"
	"net"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"

	"github.com/patchbay-dev/patchbay/sdk/errs"
)

const (
	method = "/test.v1.Service/Do"
	within = 10 * time.Second
)

// once ends a stream after one call.
type once struct{ grpc.ServerStream }

func (o once) SendMsg(m any) error {
	if err := o.ServerStream.SendMsg(m); err != nil {
		return err
	}
	return errOnce
}

var errOnce = errors.New("ended on purpose")

func endAfterOne(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	if firstValue(md, MetaInstance) != "once" {
		return next(srv, stream)
	}
	if err := next(srv, once{stream}); !errors.Is(err, errOnce) {
		return err
	}
	return nil
}

// bench is a server of one method over a Unix socket and a connection to it.
type bench struct {
	conn   *grpc.ClientConn
	server *grpc.Server
	panics atomic.Int64
	opened atomic.Int64
}

func newBench(t testing.TB, handler Handler) *bench {
	t.Helper()
	b := &bench{server: grpc.NewServer(grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage), grpc.StreamInterceptor(endAfterOne))}
	grpc_health_v1.RegisterHealthServer(b.server, health.NewServer())
	registerUnary(b.server)
	Register(b.server, func(_ context.Context, m, instance string) (Handler, error) {
		if m != method {
			return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "no method %s", m)
		}
		b.opened.Add(1)
		if instance == "" {
			return nil, errs.New(errs.Host, codes.InvalidArgument, "NO_INSTANCE", "no instance")
		}
		return handler, nil
	}, func(any, []byte) { b.panics.Add(1) })
	socket := filepath.Join(t.TempDir(), "s")
	lis, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = b.server.Serve(lis) }()
	b.conn, err = grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessage), grpc.MaxCallSendMsgSize(MaxMessage)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = b.conn.Close()
		b.server.Stop()
		<-done
	})
	return b
}

func (b *bench) pool(t testing.TB, streams int) *Pool {
	p := NewPool(b.conn, method, "a", streams)
	t.Cleanup(p.Close)
	return p
}

func echo(_ context.Context, req *Message) ([]byte, []byte, error) {
	return bytes.Clone(req.Head), bytes.Clone(req.Body), nil
}

func eventually(t testing.TB, done func() bool, msg string) {
	t.Helper()
	for deadline := time.Now().Add(within); !done(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", within, msg)
		}
	}
}

func pattern(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return b
}
