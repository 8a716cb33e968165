package framework

import (
	"context"
	"fmt"
	"time"

	"github.com/hashicorp/go-hclog"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/exchange"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/tracing"
)

// maxDiagnostics is how many findings are sent for one configuration.
const maxDiagnostics = 100

// Server implements the base service for a plugin and routes calls to its instances.
type Server struct {
	pluginv1.UnimplementedPluginServer

	log       hclog.Logger
	describe  *pluginv1.DescribeResponse
	kinds     map[string]Kind
	exchanges map[string]boundExchange
	instances *instances
	// traces makes the spans of calls, which exporter sends. Both are nil unless the process is traced.
	traces   *tracing.Server
	exporter tracing.Exporter
}

type boundExchange struct {
	kind string
	call Exchange
}

// NewServer checks the declaration and prepares the services.
func NewServer(p Plugin, log hclog.Logger) (*Server, error) {
	if p.Name == "" || len(p.Kinds) == 0 {
		return nil, fmt.Errorf("a plugin needs a name and at least one kind")
	}
	s := &Server{
		log:       log,
		kinds:     map[string]Kind{},
		exchanges: map[string]boundExchange{},
		instances: newInstances(),
		describe: &pluginv1.DescribeResponse{
			Name: p.Name, Version: p.Version, SdkVersion: SDKVersion,
			Summary: p.Summary, Documentation: p.Documentation,
		},
	}
	for _, k := range p.Kinds {
		d, err := k.Describe()
		if err != nil {
			return nil, fmt.Errorf("describe plugin %q: %w", p.Name, err)
		}
		if s.kinds[d.Name] != nil {
			return nil, fmt.Errorf("plugin %q declares kind %q twice", p.Name, d.Name)
		}
		s.kinds[d.Name] = k
		for method, call := range k.Exchanges() {
			s.exchanges[method] = boundExchange{kind: d.Name, call: call}
		}
		s.describe.Kinds = append(s.describe.Kinds, d)
	}
	return s, nil
}

// GRPC makes a gRPC server with the limits and guards of the contract and everything registered on it.
func (s *Server) GRPC(opts []grpc.ServerOption) *grpc.Server {
	opts = append(append(opts, s.traceOptions()...),
		grpc.MaxRecvMsgSize(MaxMessage), grpc.MaxSendMsgSize(MaxMessage),
		grpc.InitialWindowSize(1<<20), grpc.InitialConnWindowSize(16<<20),
		grpc.ChainUnaryInterceptor(s.guardUnary), grpc.ChainStreamInterceptor(s.guardStream),
	)
	g := grpc.NewServer(opts...)
	pluginv1.RegisterPluginServer(g, s)
	for _, k := range s.kinds {
		k.Register(g, s)
	}
	exchange.Register(g, s.lookupHandler, s.logPanic)
	return g
}

// Instance implements Router.
func (s *Server) Instance(ctx context.Context, kind string) (any, func(), error) {
	return s.instances.acquireInstance(kind, incomingValue(ctx, exchange.MetaInstance))
}

func (s *Server) lookupHandler(_ context.Context, method, id string) (exchange.Handler, error) {
	x, ok := s.exchanges[method]
	if !ok {
		return nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "method %q is not offered as an exchange", method)
	}
	return func(ctx context.Context, req *exchange.Message) ([]byte, []byte, error) {
		value, release, err := s.instances.acquireInstance(x.kind, id)
		if err != nil {
			return nil, nil, err
		}
		defer release()
		if s.traces != nil {
			ctx = s.traces.Attach(ctx, method, s.instances.instanceRef(id))
		}
		return x.call(ctx, value, req)
	}, nil
}

// Describe implements the base service.
func (s *Server) Describe(context.Context, *pluginv1.DescribeRequest) (*pluginv1.DescribeResponse, error) {
	return s.describe, nil
}

// Validate implements the base service.
func (s *Server) Validate(_ context.Context, req *pluginv1.ValidateRequest) (*pluginv1.ValidateResponse, error) {
	k, err := s.findKind(req.GetConfig())
	if err != nil {
		return nil, err
	}
	diags := k.Validate(newInstance(req.GetConfig(), s.log), req.GetConfig().GetJson())
	return &pluginv1.ValidateResponse{Diagnostics: boundDiagnostics(diags)}, nil
}

// Configure implements the base service.
func (s *Server) Configure(ctx context.Context, req *pluginv1.ConfigureRequest) (*pluginv1.ConfigureResponse, error) {
	c := req.GetConfig()
	k, err := s.findKind(c)
	if err != nil {
		return nil, err
	}
	if c.GetInstanceId() == "" {
		return nil, errs.New(errs.Host, codes.InvalidArgument, "NO_INSTANCE_ID", "instance_id is empty")
	}
	value, diags := k.Open(ctx, newInstance(c, s.log), c.GetJson())
	if !diags.HasErrors() {
		if err := s.keepInstance(ctx, c, value); err != nil {
			return nil, status.FromContextError(err).Err()
		}
	}
	return &pluginv1.ConfigureResponse{Diagnostics: boundDiagnostics(diags)}, nil
}

// keepInstance puts an instance into use. If ctx has ended the core does not know of it and may not remove it: it is closed.
func (s *Server) keepInstance(ctx context.Context, c *pluginv1.Config, value any) error {
	in, id := &instance{kind: c.GetKind(), name: c.GetName(), value: value}, c.GetInstanceId()
	if err := s.instances.putInstance(ctx, id, in); err != nil {
		_ = in.closeWhenIdle(context.WithoutCancel(ctx))
		return err
	}
	// If it has ended meanwhile, a removal that the core asks for after that finds the instance, or finds it taken out.
	err := ctx.Err()
	if err != nil && s.instances.takeOut(id, in) {
		_ = in.closeWhenIdle(context.WithoutCancel(ctx))
	}
	return err
}

// Remove implements the base service.
func (s *Server) Remove(ctx context.Context, req *pluginv1.RemoveRequest) (*pluginv1.RemoveResponse, error) {
	if err := s.instances.removeInstance(ctx, req.GetInstanceId()); err != nil {
		return nil, status.FromContextError(err).Err()
	}
	return &pluginv1.RemoveResponse{}, nil
}

// Healther is an instance that knows more of its health than that it is there. An error means degraded.
type Healther interface {
	Health(ctx context.Context) error
}

// Health implements the base service.
func (s *Server) Health(ctx context.Context, req *pluginv1.HealthRequest) (*pluginv1.HealthResponse, error) {
	if req.GetInstanceId() == "" {
		return &pluginv1.HealthResponse{State: pluginv1.State_STATE_OK}, nil
	}
	value, release, err := s.instances.acquireInstance("", req.GetInstanceId())
	if err != nil {
		return nil, err
	}
	defer release()
	if h, ok := value.(Healther); ok {
		if err := h.Health(ctx); err != nil {
			return &pluginv1.HealthResponse{State: pluginv1.State_STATE_DEGRADED, Message: err.Error()}, nil
		}
	}
	return &pluginv1.HealthResponse{State: pluginv1.State_STATE_OK}, nil
}

// Stop implements the base service.
func (s *Server) Stop(ctx context.Context, req *pluginv1.StopRequest) (*pluginv1.StopResponse, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Duration(req.GetGraceMs())*time.Millisecond)
	defer cancel()
	s.instances.removeAll(ctx)
	s.flushTraces(ctx)
	return &pluginv1.StopResponse{}, nil
}

func (s *Server) findKind(c *pluginv1.Config) (Kind, error) {
	if k := s.kinds[c.GetKind()]; k != nil {
		return k, nil
	}
	return nil, errs.New(errs.Host, codes.InvalidArgument, "UNKNOWN_KIND", "plugin %q has no kind %q", s.describe.Name, c.GetKind())
}

func boundDiagnostics(d schema.Diagnostics) []*pluginv1.Diagnostic {
	if len(d) > maxDiagnostics {
		d = d[:maxDiagnostics]
	}
	return d.Proto()
}
