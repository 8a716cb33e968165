package conformance

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/conformance/report"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
)

// wire stands between suite and plugin: a plugin without the SDK can be wrong in ways that the SDK does not permit.
type wire struct {
	grpc.ClientConnInterface
	// twist is called instead of a unary call and may pass it on.
	twist func(ctx context.Context, method string, req, reply any, next func() error) error
}

func (w wire) Invoke(ctx context.Context, method string, req, reply any, opts ...grpc.CallOption) error {
	return w.twist(ctx, method, req, reply, func() error { return w.ClientConnInterface.Invoke(ctx, method, req, reply, opts...) })
}

type twist = func(ctx context.Context, method string, req, reply any, next func() error) error

// twisted runs the suite against the good plugin behind a twist.
func twisted(t *testing.T, make func(plugin pluginv1.PluginClient) twist) report.Report {
	t.Helper()
	l := plugintest.LoadWith(t, newGood().plugin(), hclog.NewNullLogger())
	cfg := goodConfig()
	cfg.DataDir = t.TempDir()
	return Search(t.Context(), wire{l.Conn, make(l.Plugin)}, cfg)
}

func TestWrongOnTheWire(t *testing.T) {
	tests := []struct {
		name string
		want []string
		make func(plugin pluginv1.PluginClient) twist
	}{
		{"unstable description", []string{"describe"}, func(pluginv1.PluginClient) twist {
			var n atomic.Int64
			return func(_ context.Context, _ string, _, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*pluginv1.DescribeResponse); ok && n.Add(1) > 1 {
					r.Summary = "changed"
				}
				return err
			}
		}},
		{"Validate finds nothing", []string{"validate"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, _, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*pluginv1.ValidateResponse); ok {
					r.Diagnostics = nil
				}
				return err
			}
		}},
		{"no paths", []string{"validate"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, _, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*pluginv1.ValidateResponse); ok {
					for _, d := range r.Diagnostics {
						d.Path = nil
					}
				}
				return err
			}
		}},
		{"Configure accepts all", []string{"agreement"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, req, _ any, next func() error) error {
				if r, ok := req.(*pluginv1.ConfigureRequest); ok {
					r.Config.Json = []byte(goodConfig().JSON)
				}
				return next()
			}
		}},
		{"a refusal removes the instance", []string{"configure-keeps"}, func(p pluginv1.PluginClient) twist {
			return func(ctx context.Context, _ string, req, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*pluginv1.ConfigureResponse); ok && len(r.Diagnostics) > 0 {
					_, _ = p.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: req.(*pluginv1.ConfigureRequest).GetConfig().GetInstanceId()})
				}
				return err
			}
		}},
		{"an instance is not replaced", []string{"replace"}, func(pluginv1.PluginClient) twist {
			there := map[string]bool{}
			return func(_ context.Context, _ string, req, _ any, next func() error) error {
				switch r := req.(type) {
				case *pluginv1.ConfigureRequest:
					id := r.GetConfig().GetInstanceId()
					if there[id] && string(r.GetConfig().GetJson()) == goodConfig().JSON {
						return errs.New(errs.Plugin, codes.AlreadyExists, "EXISTS", "it exists").GRPCStatus().Err()
					}
					there[id] = true
				case *pluginv1.RemoveRequest:
					delete(there, r.GetInstanceId())
				}
				return next()
			}
		}},
		{"Remove removes all", []string{"instances"}, func(p pluginv1.PluginClient) twist {
			return func(ctx context.Context, _ string, req, _ any, next func() error) error {
				if r, ok := req.(*pluginv1.RemoveRequest); ok && r.GetInstanceId() == "one" {
					_, _ = p.Remove(ctx, &pluginv1.RemoveRequest{InstanceId: "two"})
				}
				return next()
			}
		}},
		{"Remove knows no second time", []string{"remove"}, func(pluginv1.PluginClient) twist {
			seen := false
			return func(_ context.Context, _ string, req, _ any, next func() error) error {
				if r, ok := req.(*pluginv1.RemoveRequest); ok && r.GetInstanceId() == "removed" {
					if seen {
						return errs.New(errs.Host, codes.NotFound, "GONE", "gone").GRPCStatus().Err()
					}
					seen = true
				}
				return next()
			}
		}},
		{"another reason for unknown instances", []string{"unknown-instance/unary"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, method string, _, _ any, next func() error) error {
				err := next()
				if method == searchv1.Search_Invoke_FullMethodName && status.Code(err) == codes.FailedPrecondition {
					return errs.New(errs.Caller, codes.NotFound, "NO_INSTANCE", "no").GRPCStatus().Err()
				}
				return err
			}
		}},
		{"unary calls answer differently", []string{"same-answers"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, _, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*searchv1.InvokeResponse); ok && r.GetHead().GetHttpStatus() == 200 {
					r.Head.HttpStatus = 203
				}
				return err
			}
		}},
		{"errors without a source", []string{"errors"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, req, _ any, next func() error) error {
				if r, ok := req.(*searchv1.InvokeRequest); ok && r.GetOperation() == "conformance_unknown_operation" {
					return status.Error(codes.NotFound, "what?")
				}
				return next()
			}
		}},
		{"Stop keeps the instances", []string{"stop"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, req, _ any, next func() error) error {
				if _, ok := req.(*pluginv1.StopRequest); ok {
					return nil
				}
				return next()
			}
		}},
		{"a credential in a diagnostic", []string{"credential"}, func(pluginv1.PluginClient) twist {
			return func(_ context.Context, _ string, _, reply any, next func() error) error {
				err := next()
				if r, ok := reply.(*pluginv1.ConfigureResponse); ok {
					r.Diagnostics = append(r.Diagnostics, &pluginv1.Diagnostic{Severity: pluginv1.Severity_SEVERITY_WARNING, Summary: key})
				}
				return err
			}
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			wantFailures(t, twisted(t, tt.make), tt.want...)
		})
	}
}
