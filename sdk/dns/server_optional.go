package dns

import (
	"context"

	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
)

// useCreator makes one call that needs CapCreateZones.
func (s *server) useCreator(ctx context.Context, call func(ZoneCreator) error) error {
	return s.withInstance(ctx, func(p Provider) error {
		if creator, ok := p.(ZoneCreator); ok && s.zones {
			return call(creator)
		}
		return unsupportedCall(CapCreateZones)
	})
}

// useRouter makes one call that needs CapMailRouting.
func (s *server) useRouter(ctx context.Context, zoneID string, call func(MailRouter) error) error {
	if err := checkZoneID(zoneID); err != nil {
		return err
	}
	return s.withInstance(ctx, func(p Provider) error {
		if router, ok := p.(MailRouter); ok && s.routing {
			return call(router)
		}
		return unsupportedCall(CapMailRouting)
	})
}

func (s *server) CreateZone(ctx context.Context, in *dnsv1.CreateZoneRequest) (out *dnsv1.CreateZoneResponse, err error) {
	name, err := checkZoneName("the name of the zone", in.GetName())
	if err != nil {
		return nil, err
	}
	err = s.useCreator(ctx, func(c ZoneCreator) error {
		zone, created, err := c.CreateZone(ctx, name)
		out = &dnsv1.CreateZoneResponse{Zone: zone.toProto(), Created: created}
		return err
	})
	return out, err
}

func (s *server) DeleteZone(ctx context.Context, in *dnsv1.DeleteZoneRequest) (*dnsv1.DeleteZoneResponse, error) {
	if err := checkZoneID(in.GetZoneId()); err != nil {
		return nil, err
	}
	err := s.useCreator(ctx, func(c ZoneCreator) error { return c.DeleteZone(ctx, in.GetZoneId()) })
	return &dnsv1.DeleteZoneResponse{}, err
}

func (s *server) EnableRouting(ctx context.Context, in *dnsv1.EnableRoutingRequest) (*dnsv1.EnableRoutingResponse, error) {
	host, err := checkZoneName("the host", in.GetHost())
	if err != nil {
		return nil, err
	}
	err = s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error { return r.EnableRouting(ctx, in.GetZoneId(), host) })
	return &dnsv1.EnableRoutingResponse{}, err
}

func (s *server) DisableRouting(ctx context.Context, in *dnsv1.DisableRoutingRequest) (*dnsv1.DisableRoutingResponse, error) {
	host, err := checkZoneName("the host", in.GetHost())
	if err != nil {
		return nil, err
	}
	err = s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error { return r.DisableRouting(ctx, in.GetZoneId(), host) })
	return &dnsv1.DisableRoutingResponse{}, err
}

func (s *server) CreateRule(ctx context.Context, in *dnsv1.CreateRuleRequest) (out *dnsv1.CreateRuleResponse, err error) {
	address, err := checkAddress(in.GetAddress())
	if err != nil {
		return nil, err
	}
	err = s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error {
		id, err := r.CreateRule(ctx, in.GetZoneId(), address)
		out = &dnsv1.CreateRuleResponse{RuleId: id}
		return err
	})
	return out, err
}

func (s *server) DeleteRule(ctx context.Context, in *dnsv1.DeleteRuleRequest) (*dnsv1.DeleteRuleResponse, error) {
	if err := checkRuleID(in.GetRuleId()); err != nil {
		return nil, err
	}
	err := s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error { return r.DeleteRule(ctx, in.GetZoneId(), in.GetRuleId()) })
	return &dnsv1.DeleteRuleResponse{}, err
}

func (s *server) ReadCatchAll(ctx context.Context, in *dnsv1.ReadCatchAllRequest) (out *dnsv1.ReadCatchAllResponse, err error) {
	err = s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error {
		snapshot, err := r.ReadCatchAll(ctx, in.GetZoneId())
		out = &dnsv1.ReadCatchAllResponse{Snapshot: snapshot}
		return err
	})
	return out, err
}

func (s *server) SetCatchAll(ctx context.Context, in *dnsv1.SetCatchAllRequest) (*dnsv1.SetCatchAllResponse, error) {
	err := s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error { return r.SetCatchAll(ctx, in.GetZoneId()) })
	return &dnsv1.SetCatchAllResponse{}, err
}

func (s *server) RestoreCatchAll(ctx context.Context, in *dnsv1.RestoreCatchAllRequest) (*dnsv1.RestoreCatchAllResponse, error) {
	if n := len(in.GetSnapshot()); n == 0 || n > MaxSnapshot {
		return nil, InvalidRequest("a snapshot has 1 to %d bytes", MaxSnapshot)
	}
	err := s.useRouter(ctx, in.GetZoneId(), func(r MailRouter) error { return r.RestoreCatchAll(ctx, in.GetZoneId(), in.GetSnapshot()) })
	return &dnsv1.RestoreCatchAllResponse{}, err
}
