package exchange

import (
	"context"
	"fmt"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// unary is the same echo as one RPC for each call.
func unary(b *bench) func(context.Context, []byte) error {
	return func(ctx context.Context, body []byte) error {
		out := new(wrapperspb.BytesValue)
		return b.conn.Invoke(ctx, "/test.v1.Unary/Echo", wrapperspb.Bytes(body), out)
	}
}

func registerUnary(s grpc.ServiceRegistrar) {
	s.RegisterService(&grpc.ServiceDesc{ServiceName: "test.v1.Unary", HandlerType: (*any)(nil), Methods: []grpc.MethodDesc{{
		MethodName: "Echo",
		Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			in := new(wrapperspb.BytesValue)
			return in, decode(in)
		},
	}}}, struct{}{})
}

func BenchmarkRoundTrip(b *testing.B) {
	for _, size := range []int{0, 1 << 10, 50 << 10} {
		b.Run(fmt.Sprintf("exchange/%d", size), func(b *testing.B) {
			p := newBench(b, echo).pool(b, 0)
			run(b, size, func(ctx context.Context, body []byte) error {
				msg, err := p.Call(ctx, "", nil, body)
				if err == nil {
					msg.Release()
				}
				return err
			})
		})
		b.Run(fmt.Sprintf("unary/%d", size), func(b *testing.B) {
			run(b, size, unary(newBench(b, echo)))
		})
	}
	b.Run("health", func(b *testing.B) {
		c := grpc_health_v1.NewHealthClient(newBench(b, echo).conn)
		run(b, 0, func(ctx context.Context, _ []byte) error {
			_, err := c.Check(ctx, &grpc_health_v1.HealthCheckRequest{})
			return err
		})
	})
}

func run(b *testing.B, size int, call func(context.Context, []byte) error) {
	body := pattern(size)
	b.SetBytes(int64(2 * size))
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := call(context.Background(), body); err != nil {
				b.Error(err)
				return
			}
		}
	})
}
