package codehost

import (
	"context"
	"errors"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
)

func (s *server) Resolve(ctx context.Context, p *codehostv1.ResolveRequest) (out *codehostv1.ResolveResponse, err error) {
	input := strings.TrimSpace(p.GetInput())
	if input == "" {
		return nil, errs.BadInput(ReasonInvalidInput, "the input is empty")
	}
	err = s.withInstance(ctx, func(h CodeHost) error {
		got, err := h.Resolve(ctx, secretFrom(p.GetToken()), input)
		if err == nil && got != nil {
			out = got.toProto()
		}
		return err
	})
	return out, err
}

func (s *server) Hooks(ctx context.Context, p *codehostv1.HooksRequest) (out *codehostv1.HooksResponse, err error) {
	if err := checkRepo(p.GetRepo()); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapWebhooks, func(h WebhookHost) error {
		hooks, err := h.Hooks(ctx, secretFrom(p.GetToken()), p.GetRepo())
		out = &codehostv1.HooksResponse{}
		for i := range hooks {
			out.Hooks = append(out.Hooks, hooks[i].toProto())
		}
		return err
	})
	return out, err
}

func (s *server) CreateHook(ctx context.Context, p *codehostv1.CreateHookRequest) (out *codehostv1.CreateHookResponse, err error) {
	if err := errors.Join(checkRepo(p.GetRepo()), checkSpec(p.GetSpec())); err != nil {
		return nil, errs.From(err)
	}
	err = useOptional(ctx, s, CapWebhooks, func(h WebhookHost) error {
		hook, err := h.CreateHook(ctx, secretFrom(p.GetToken()), p.GetRepo(), specFrom(p.GetSpec()))
		if err == nil && hook != nil {
			out = &codehostv1.CreateHookResponse{Hook: hook.toProto()}
		}
		return err
	})
	return out, err
}

func (s *server) UpdateHook(ctx context.Context, p *codehostv1.UpdateHookRequest) (out *codehostv1.UpdateHookResponse, err error) {
	if err := errors.Join(checkRepo(p.GetRepo()), checkID(p.GetId()), checkSpec(p.GetSpec())); err != nil {
		return nil, errs.From(err)
	}
	err = useOptional(ctx, s, CapWebhooks, func(h WebhookHost) error {
		hook, err := h.UpdateHook(ctx, secretFrom(p.GetToken()), p.GetRepo(), p.GetId(), specFrom(p.GetSpec()))
		if err == nil && hook != nil {
			out = &codehostv1.UpdateHookResponse{Hook: hook.toProto()}
		}
		return err
	})
	return out, err
}

func (s *server) DeleteHook(ctx context.Context, p *codehostv1.DeleteHookRequest) (*codehostv1.DeleteHookResponse, error) {
	if err := errors.Join(checkRepo(p.GetRepo()), checkID(p.GetId())); err != nil {
		return nil, errs.From(err)
	}
	err := useOptional(ctx, s, CapWebhooks, func(h WebhookHost) error {
		return h.DeleteHook(ctx, secretFrom(p.GetToken()), p.GetRepo(), p.GetId())
	})
	return &codehostv1.DeleteHookResponse{}, err
}

func (s *server) ParseWebhook(ctx context.Context, p *codehostv1.ParseWebhookRequest) (out *codehostv1.ParseWebhookResponse, err error) {
	err = useOptional(ctx, s, CapWebhooks, func(h WebhookHost) error {
		if len(p.GetSecret().GetValue()) == 0 {
			return InvalidSignature("there is no secret to check the signature with")
		}
		got, err := h.ParseWebhook(ctx, deliveryFrom(p))
		if err == nil && got != nil {
			out = got.toProto()
		}
		return err
	})
	return out, err
}
