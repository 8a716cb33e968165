package dns

import (
	"context"
	"net/mail"
	"strings"

	"google.golang.org/grpc"

	"github.com/patchbay-dev/patchbay/sdk/framework"
	dnsv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/dns/v1"
	pluginv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/plugin/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// New makes the kind for a plugin's declaration.
func New[C any](d Definition[C]) framework.Kind {
	return kind[C]{Built: framework.Built[C, Provider, Open]{Build: d.Build}, def: d}
}

type kind[C any] struct {
	framework.Built[C, Provider, Open]
	def Definition[C]
}

// Describe implements framework.Kind.
func (k kind[C]) Describe() (*pluginv1.Kind, error) {
	out, err := k.DescribeAs(Kind, Service)
	if err != nil {
		return nil, err
	}
	out.Capabilities = framework.Capabilities(
		framework.Capability{On: k.def.CreateZones, Name: CapCreateZones},
		framework.Capability{On: k.def.MailRouting, Name: CapMailRouting},
		framework.Capability{On: k.def.Manual, Name: CapManual},
	)
	return out, nil
}

// Open implements framework.Kind. A provider that is not what its declaration says is refused.
func (k kind[C]) Open(ctx context.Context, inst Instance, config []byte) (any, schema.Diagnostics) {
	p, diags := k.Built.Open(ctx, inst, config)
	if diags.HasErrors() {
		return nil, diags
	}
	if _, ok := p.(ZoneCreator); k.def.CreateZones && !ok {
		return nil, append(diags, schema.Errorf(nil, "the provider declares CreateZones and lacks CreateZone or DeleteZone")...)
	}
	if _, ok := p.(MailRouter); k.def.MailRouting && !ok {
		return nil, append(diags, schema.Errorf(nil, "the provider declares MailRouting and lacks its methods")...)
	}
	return p, diags
}

// Register implements framework.Kind.
func (k kind[C]) Register(s grpc.ServiceRegistrar, r framework.Router) {
	dnsv1.RegisterDNSServer(s, &server{router: r, zones: k.def.CreateZones, routing: k.def.MailRouting, manual: k.def.Manual})
}

// checkZoneID refuses an id that could be taken for a path.
func checkZoneID(id string) error {
	if id == "" || len(id) > 255 || strings.ContainsAny(id, "/\\?#% \t\r\n") || strings.Contains(id, "..") {
		return InvalidRequest("the id of the zone is not valid")
	}
	return nil
}

func checkRuleID(id string) error {
	if id == "" || len(id) > 255 || strings.ContainsAny(id, "/\\?#% \t\r\n") || strings.Contains(id, "..") {
		return InvalidRequest("the id of the rule is not valid")
	}
	return nil
}

// checkAddress returns an address in lower case. The error is InvalidRequest.
func checkAddress(address string) (string, error) {
	address = strings.ToLower(address)
	parsed, err := mail.ParseAddress(address)
	if err != nil || parsed.Address != address || parsed.Name != "" || len(address) > 254 {
		return "", InvalidRequest("the address must be local@host with at most 254 characters")
	}
	_, host, _ := strings.Cut(address, "@")
	return address, checkName("the host of the address", host, false)
}

// checkZoneName returns a name in its usual form, of two labels at least unless it is local.
func checkZoneName(what, name string) (string, error) {
	name = NormalizeName(name)
	if err := checkName(what, name, false); err != nil {
		return "", err
	}
	if !strings.Contains(name, ".") && !IsLocal(name) {
		return "", InvalidRequest("%s must have two labels at least", what)
	}
	return name, nil
}
