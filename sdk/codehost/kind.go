package codehost

import (
	"context"
	"strings"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
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
	return kind[C]{framework.Built[C, CodeHost, Open]{Build: d.Build}}
}

type kind[C any] struct {
	framework.Built[C, CodeHost, Open]
}

func (k kind[C]) Describe() (*pluginv1.Kind, error) { return k.DescribeAs(Kind, Service) }

func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	codehostv1.RegisterCodeHostServer(s, &server{router: r})
}

type server struct {
	codehostv1.UnimplementedCodeHostServer
	router framework.Router
}

// use finds the instance and makes one call.
func (s *server) use(ctx context.Context, call func(CodeHost) error) error {
	return framework.Use(ctx, s.router, Kind, "a code host", call)
}

// checkRepo refuses what cannot be owner/name.
func checkRepo(repo string) error {
	owner, name, ok := strings.Cut(repo, "/")
	if !ok || owner == "" || name == "" || strings.ContainsAny(repo, " \t\r\n?#%\\") || strings.Contains(repo, "//") || strings.Contains(repo, "..") {
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
