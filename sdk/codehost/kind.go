package codehost

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Reasons of other errors that are the caller's fault. They come with INVALID_ARGUMENT.
const (
	// ReasonInvalidInput: what a person typed names neither a repository nor an owner.
	ReasonInvalidInput = "INVALID_INPUT"
	// ReasonInvalidRequest: a member of the request is not valid, such as the repository or the address of a hook.
	ReasonInvalidRequest = "INVALID_REQUEST"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{Built: framework.Built[C, CodeHost, Open]{Build: d.Build}, capabilities: slices.Clone(Capabilities(d.Capabilities))}
}

type kind[C any] struct {
	framework.Built[C, CodeHost, Open]
	capabilities []string
}

// Describe implements framework.Kind.
func (k kind[C]) Describe() (*pluginv1.Kind, error) {
	out, err := k.DescribeAs(Kind, Service)
	if err != nil {
		return nil, err
	}
	out.Capabilities = k.capabilities
	return out, nil
}

// Open implements framework.Kind. A code host that is not what its declaration says is refused.
func (k kind[C]) Open(ctx context.Context, inst Instance, config []byte) (any, schema.Diagnostics) {
	h, diags := k.Built.Open(ctx, inst, config)
	if diags.HasErrors() {
		return nil, diags
	}
	for _, capability := range k.capabilities {
		implemented := abilities[capability]
		if opened, ok := h.(CodeHost); implemented != nil && ok && !implemented(opened) {
			return nil, append(diags, schema.Errorf(nil, "the code host declares %s and lacks its methods", capability)...)
		}
	}
	return h, diags
}

// Register implements framework.Kind.
func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	codehostv1.RegisterCodeHostServer(s, &server{router: r, capabilities: k.capabilities})
}

type server struct {
	codehostv1.UnimplementedCodeHostServer
	router       framework.Router
	capabilities []string
}

// withInstance finds the instance and makes one call.
func (s *server) withInstance(ctx context.Context, call func(CodeHost) error) error {
	return framework.Use(ctx, s.router, Kind, "a code host", call)
}

// useOptional makes one call that needs a capability, whose interface is T.
func useOptional[T any](ctx context.Context, s *server, capability string, call func(T) error) error {
	return s.withInstance(ctx, func(h CodeHost) error {
		if able, ok := h.(T); ok && slices.Contains(s.capabilities, capability) {
			return call(able)
		}
		return errs.New(errs.Caller, codes.Unimplemented, errs.ReasonUnsupported, "the code host does not have the capability %s", capability)
	})
}

// checkRepo refuses what cannot be owner/name.
func checkRepo(repo string) error {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(repo, " \t\r\n?#%\\") || strings.Contains(repo, "//") ||
		strings.Contains(repo, "..") {
		return errs.BadInput(ReasonInvalidRequest, "the repository must be owner/name")
	}
	return nil
}

// checkSpec refuses a hook that could not work.
func checkSpec(p *codehostv1.HookSpec) error {
	switch {
	case !strings.HasPrefix(p.GetUrl(), "https://") && !strings.HasPrefix(p.GetUrl(), "http://"):
		return errs.BadInput(ReasonInvalidRequest, "the address of a hook must be absolute")
	case len(p.GetEvents()) == 0:
		return errs.BadInput(ReasonInvalidRequest, "a hook needs an event")
	case len(p.GetSecret().GetValue()) == 0:
		return errs.BadInput(ReasonInvalidRequest, "a hook needs a secret")
	}
	return nil
}

func checkID(id string) error {
	if id == "" || strings.ContainsAny(id, "/ \t\r\n?#%\\") {
		return errs.BadInput(ReasonInvalidRequest, "the id of the hook is not valid")
	}
	return nil
}
