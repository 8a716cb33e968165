package dns

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/framework"
	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
)

type server struct {
	dnsv1.UnimplementedDNSServer
	router framework.Router
	// zones, routing and manual are the capabilities that the plugin declares.
	zones, routing, manual bool
}

// withInstance finds the instance and makes one call.
func (s *server) withInstance(ctx context.Context, call func(Provider) error) error {
	return framework.Use(ctx, s.router, Kind, "a DNS provider", call)
}

func (s *server) ListZones(ctx context.Context, _ *dnsv1.ListZonesRequest) (out *dnsv1.ListZonesResponse, err error) {
	err = s.withInstance(ctx, func(p Provider) error {
		zones, err := p.ListZones(ctx)
		out = &dnsv1.ListZonesResponse{}
		for i := range zones {
			out.Zones = append(out.Zones, zones[i].toProto())
		}
		return err
	})
	return out, err
}

func (s *server) FindZone(ctx context.Context, in *dnsv1.FindZoneRequest) (out *dnsv1.FindZoneResponse, err error) {
	name := NormalizeName(in.GetName())
	if err := checkName("the name", name, true); err != nil {
		return nil, err
	}
	err = s.withInstance(ctx, func(p Provider) error {
		if IsLocal(name) && !s.manual {
			return NoZone(name)
		}
		zone, err := p.FindZone(ctx, name)
		if err == nil && zone == nil {
			err = NoZone(name)
		}
		out = &dnsv1.FindZoneResponse{Zone: zone.toProto()}
		return err
	})
	return out, err
}

func (s *server) ListRecords(ctx context.Context, in *dnsv1.ListRecordsRequest) (out *dnsv1.ListRecordsResponse, err error) {
	name := NormalizeName(in.GetName())
	if err := checkZoneID(in.GetZoneId()); err != nil {
		return nil, err
	}
	if name != "" {
		if err := checkName("the name", name, true); err != nil {
			return nil, err
		}
	}
	err = s.withInstance(ctx, func(p Provider) error {
		sets, err := p.ListRecords(ctx, in.GetZoneId(), name, typeFrom(in.GetType()))
		out = &dnsv1.ListRecordsResponse{}
		for _, set := range sets {
			out.Sets = append(out.Sets, set.toProto())
		}
		return err
	})
	return out, err
}

func (s *server) SetRecords(ctx context.Context, in *dnsv1.SetRecordsRequest) (out *dnsv1.SetRecordsResponse, err error) {
	if err := checkZoneID(in.GetZoneId()); err != nil {
		return nil, err
	}
	set, err := recordSetFrom(in.GetSet()).Normalized()
	if err != nil {
		return nil, err
	}
	if len(set.Values) == 0 {
		return nil, InvalidRequest("a record set needs a value")
	}
	err = s.withInstance(ctx, func(p Provider) error {
		outcome, err := NotNeeded, error(nil)
		if !IsLocal(set.Name) {
			outcome, err = p.SetRecords(ctx, in.GetZoneId(), set)
		}
		out = &dnsv1.SetRecordsResponse{Outcome: outcomeProto(outcome)}
		return err
	})
	return out, err
}

func (s *server) DeleteRecords(ctx context.Context, in *dnsv1.DeleteRecordsRequest) (out *dnsv1.DeleteRecordsResponse, err error) {
	if err := checkZoneID(in.GetZoneId()); err != nil {
		return nil, err
	}
	set, err := RecordSet{Name: in.GetName(), Type: typeFrom(in.GetType())}.Normalized()
	if err != nil {
		return nil, err
	}
	err = s.withInstance(ctx, func(p Provider) error {
		outcome, err := NotNeeded, error(nil)
		if !IsLocal(set.Name) {
			outcome, err = p.DeleteRecords(ctx, in.GetZoneId(), set.Name, set.Type)
		}
		out = &dnsv1.DeleteRecordsResponse{Outcome: outcomeProto(outcome)}
		return err
	})
	return out, err
}

func (s *server) CheckRecords(ctx context.Context, in *dnsv1.CheckRecordsRequest) (out *dnsv1.CheckRecordsResponse, err error) {
	if err := checkZoneID(in.GetZoneId()); err != nil {
		return nil, err
	}
	if n := len(in.GetSets()); n == 0 || n > MaxChecks {
		return nil, InvalidRequest("a check needs 1 to %d record sets", MaxChecks)
	}
	checks, asked := make([]Check, len(in.GetSets())), []int{}
	var sets []RecordSet
	for i, given := range in.GetSets() {
		set, err := recordSetFrom(given).Normalized()
		if err != nil {
			return nil, err
		}
		checks[i] = Check{Name: set.Name, Type: set.Type, Visibility: Unneeded}
		if !IsLocal(set.Name) {
			sets, asked = append(sets, set), append(asked, i)
		}
	}
	err = s.withInstance(ctx, func(p Provider) error {
		if len(sets) > 0 {
			found, err := p.CheckRecords(ctx, in.GetZoneId(), sets)
			if err != nil {
				return err
			}
			if len(found) != len(sets) {
				return errors.New("the provider checked another number of record sets than it was asked for")
			}
			for k, i := range asked {
				checks[i] = found[k]
			}
		}
		out = &dnsv1.CheckRecordsResponse{}
		for i := range checks {
			out.Checks = append(out.Checks, checks[i].toProto())
		}
		return nil
	})
	return out, err
}

// unsupportedCall returns the error of a call without its capability.
func unsupportedCall(capability string) error {
	return errs.New(errs.Caller, codes.Unimplemented, errs.ReasonUnsupported, "the provider does not have the capability %s", capability)
}
