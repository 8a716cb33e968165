package dns

import (
	"strings"

	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
)

// The prefixes of enumerations in the .proto file; what follows is the word in upper case.
const (
	typePrefix       = "RECORD_TYPE_"
	outcomePrefix    = "OUTCOME_"
	visibilityPrefix = "VISIBILITY_"
)

func typeProto(t Type) dnsv1.RecordType {
	return dnsv1.RecordType(dnsv1.RecordType_value[typePrefix+string(t)])
}

// typeFrom returns an empty type for one that is not known.
func typeFrom(p dnsv1.RecordType) Type {
	if p == dnsv1.RecordType_RECORD_TYPE_UNSPECIFIED {
		return ""
	}
	return Type(strings.TrimPrefix(p.String(), typePrefix))
}

func outcomeProto(o Outcome) dnsv1.Outcome {
	return dnsv1.Outcome(dnsv1.Outcome_value[outcomePrefix+strings.ToUpper(string(o))])
}

func outcomeFrom(p dnsv1.Outcome) Outcome {
	return Outcome(strings.ToLower(strings.TrimPrefix(p.String(), outcomePrefix)))
}

func visibilityProto(v Visibility) dnsv1.Visibility {
	return dnsv1.Visibility(dnsv1.Visibility_value[visibilityPrefix+strings.ToUpper(string(v))])
}

func visibilityFrom(p dnsv1.Visibility) Visibility {
	return Visibility(strings.ToLower(strings.TrimPrefix(p.String(), visibilityPrefix)))
}

func (z *Zone) toProto() *dnsv1.Zone {
	if z == nil {
		return nil
	}
	return &dnsv1.Zone{Id: z.ID, Name: z.Name, Status: z.Status, NameServers: z.NameServers}
}

func zoneFrom(p *dnsv1.Zone) *Zone {
	return &Zone{ID: p.GetId(), Name: p.GetName(), Status: p.GetStatus(), NameServers: p.GetNameServers()}
}

func (s RecordSet) toProto() *dnsv1.RecordSet {
	return &dnsv1.RecordSet{Name: s.Name, Type: typeProto(s.Type), TtlSeconds: uint32(min(max(s.TTL, 0), MaxTTL+1)), Values: s.Values}
}

func recordSetFrom(p *dnsv1.RecordSet) RecordSet {
	return RecordSet{Name: p.GetName(), Type: typeFrom(p.GetType()), TTL: int(p.GetTtlSeconds()), Values: p.GetValues()}
}

func (c *Check) toProto() *dnsv1.Check {
	out := &dnsv1.Check{Name: c.Name, Type: typeProto(c.Type), Visibility: visibilityProto(c.Visibility)}
	for _, o := range c.Observations {
		out.Observations = append(out.Observations, &dnsv1.Observation{
			Server: o.Server, Values: o.Values, TtlSeconds: uint32(min(max(o.TTL, 0), MaxTTL)), Problem: o.Problem,
		})
	}
	return out
}

func checkFrom(p *dnsv1.Check) Check {
	out := Check{Name: p.GetName(), Type: typeFrom(p.GetType()), Visibility: visibilityFrom(p.GetVisibility())}
	for _, o := range p.GetObservations() {
		out.Observations = append(out.Observations, Observation{
			Server: o.GetServer(), Values: o.GetValues(), TTL: int(o.GetTtlSeconds()), Problem: o.GetProblem(),
		})
	}
	return out
}
