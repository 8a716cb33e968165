package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	notifyv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/notify/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{Built: framework.Built[C, Channel, Open]{Build: d.Build}, def: d}
}

type kind[C any] struct {
	framework.Built[C, Channel, Open]
	def Definition[C]
}

func (k kind[C]) Describe() (*pluginv1.Kind, error) {
	out, err := k.DescribeAs(Kind, Service)
	if err != nil {
		return nil, err
	}
	switch {
	case k.def.MaxTextBytes < 0 || k.def.MaxPayloadBytes < 0:
		return nil, errors.New("MaxTextBytes or MaxPayloadBytes is negative")
	case k.def.Role != "" && !slices.Contains(Roles(), k.def.Role):
		return nil, fmt.Errorf("there is no role %q, only %q", k.def.Role, Roles())
	case k.def.Role != "" && !k.def.PerUserTarget:
		return nil, errors.New("a Role says nothing without PerUserTarget")
	case k.def.TargetSchema != "" && !k.def.PerUserTarget:
		return nil, errors.New("TargetSchema says nothing without PerUserTarget")
	}
	out.Capabilities = k.listCapabilities()
	out.Descriptor_, err = proto.Marshal(&notifyv1.Descriptor{
		MaxTextBytes: k.def.MaxTextBytes, MaxPayloadBytes: k.def.MaxPayloadBytes, Role: k.def.Role, TargetSchema: k.def.TargetSchema,
	})
	return out, err
}

func (k kind[C]) listCapabilities() []string {
	return framework.Capabilities(
		framework.Capability{On: k.def.Image, Name: CapImage},
		framework.Capability{On: k.def.Markdown, Name: CapMarkdown},
		framework.Capability{On: k.def.HTML, Name: CapHTML},
		framework.Capability{On: k.def.PerUserTarget, Name: CapPerUserTarget},
		framework.Capability{On: k.def.Idempotent, Name: CapIdempotent},
	)
}

func (k kind[C]) Open(ctx context.Context, inst Instance, config []byte) (any, schema.Diagnostics) {
	ch, diags := k.Built.Open(ctx, inst, config)
	if _, ok := ch.(TargetValidator); k.def.PerUserTarget && !diags.HasErrors() && !ok {
		return nil, append(diags, schema.Errorf(nil, "the channel takes recipients and cannot check them: ValidateTarget is missing")...)
	}
	return ch, diags
}

func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	notifyv1.RegisterChannelServer(s, &server{router: r, targets: k.def.PerUserTarget})
}

type server struct {
	notifyv1.UnimplementedChannelServer
	router  framework.Router
	targets bool
}

func (s *server) acquireChannel(ctx context.Context) (Channel, func(), error) {
	value, release, err := s.router.Instance(ctx, Kind)
	if err != nil {
		return nil, nil, err
	}
	ch, ok := value.(Channel)
	if !ok {
		release()
		return nil, nil, errs.New(errs.Plugin, codes.Unimplemented, errs.ReasonUnsupported, "the instance is not a channel")
	}
	return ch, release, nil
}

func (s *server) Send(ctx context.Context, p *notifyv1.SendRequest) (*notifyv1.SendResponse, error) {
	ch, release, err := s.acquireChannel(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	n, to := notificationFrom(p.GetNotification()), targetFrom(p.GetTarget())
	if err := n.Check(); err != nil {
		return nil, err
	}
	if ds := s.checkTarget(ch, to); ds.HasErrors() {
		return nil, errs.BadInput("INVALID_TARGET", "%v", ds.Err())
	}
	receipt, err := ch.Send(ctx, n, to)
	if err != nil {
		return nil, withSource(ctx, err)
	}
	if receipt == nil {
		receipt = &Receipt{}
	}
	return receipt.toProto(), nil
}

func (s *server) ValidateTarget(ctx context.Context, p *notifyv1.ValidateTargetRequest) (*notifyv1.ValidateTargetResponse, error) {
	ch, release, err := s.acquireChannel(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ds := s.checkTarget(ch, targetFrom(p.GetTarget()))
	return &notifyv1.ValidateTargetResponse{Diagnostics: ds.Proto()}, nil
}

// checkTarget checks what holds for every channel, and then asks the channel.
func (s *server) checkTarget(ch Channel, to Target) schema.Diagnostics {
	if !s.targets && !to.Empty() {
		return schema.Errorf(nil, "the channel takes no recipient per call")
	}
	var members map[string]json.RawMessage
	if len(to.JSON) > 0 && (json.Unmarshal(to.JSON, &members) != nil || members == nil) {
		return schema.Errorf(nil, "the target is no JSON object")
	}
	if v, ok := ch.(TargetValidator); ok && s.targets {
		return v.ValidateTarget(to)
	}
	return nil
}

var idPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`) })

// Check reports whether a channel may be given n. The error is the caller's fault.
func (n *Notification) Check() error {
	switch {
	case !idPattern().MatchString(n.ID):
		return errs.BadInput("INVALID_NOTIFICATION", "the id must have 1 to %d of A-Z, a-z, 0-9, dot, underscore and hyphen", MaxID)
	case n.Kind == "" || n.Title.Plain == "":
		return errs.BadInput("INVALID_NOTIFICATION", "kind and title must not be empty")
	case len(n.Payload) > 0 && !json.Valid(n.Payload):
		return errs.BadInput("INVALID_NOTIFICATION", "the payload is not JSON")
	}
	return nil
}
