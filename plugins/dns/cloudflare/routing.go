package cloudflare

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

var (
	routingPath  = []string{"email", "routing"}
	rulesPath    = append(slices.Clone(routingPath), "rules")
	catchAllPath = append(slices.Clone(rulesPath), "catch_all")
)

// routingHosts ends the names of the hosts in the MX records of Email Routing, and routingPolicy is in its TXT record.
const (
	routingHosts  = ".mx.cloudflare.net"
	routingPolicy = "include:_spf.mx.cloudflare.net"
)

// hostName is the body of requests about one host.
type hostName struct {
	Name string `json:"name"`
}

// inHost calls at with the zone, once it is sure that host lies in it.
func (p *provider) inHost(ctx context.Context, zoneID, host string, do func(apex bool) error) error {
	zone, err := p.readZone(ctx, zoneID)
	switch {
	case err != nil:
		return err
	case !dns.InZone(host, zone.Name):
		return dns.InvalidRequest("the host %s is not in the zone %s", host, zone.Name)
	}
	return do(host == zone.Name)
}

// EnableRouting implements dns.MailRouter.
func (p *provider) EnableRouting(ctx context.Context, zoneID, host string) error {
	return p.inHost(ctx, zoneID, host, func(apex bool) error {
		if apex {
			return p.inZone(ctx, http.MethodPost, zoneID, append(slices.Clone(routingPath), "enable"), struct{}{}, nil)
		}
		return p.inZone(ctx, http.MethodPost, zoneID, append(slices.Clone(routingPath), "dns"), hostName{host}, nil)
	})
}

// DisableRouting implements dns.MailRouter. The records of a host below the zone are locked: they are unlocked and then
// deleted.
func (p *provider) DisableRouting(ctx context.Context, zoneID, host string) error {
	return p.inHost(ctx, zoneID, host, func(apex bool) error {
		if apex {
			return p.inZone(ctx, http.MethodPost, zoneID, append(slices.Clone(routingPath), "disable"), struct{}{}, nil)
		}
		found, err := p.listRecords(ctx, zoneID, host, "")
		if err != nil {
			return err
		}
		var b batch
		for _, r := range found {
			if isRoutingRecord(r) {
				b.Deletes = append(b.Deletes, record{ID: r.ID})
			}
		}
		if len(b.Deletes) == 0 {
			return nil
		}
		if err := p.inZone(ctx, http.MethodPatch, zoneID, append(slices.Clone(routingPath), "dns"), hostName{host}, nil); err != nil {
			return err
		}
		return p.sendBatch(ctx, zoneID, b)
	})
}

func isRoutingRecord(r record) bool {
	return r.Type == string(dns.MX) && strings.HasSuffix(dns.NormalizeName(r.Content), routingHosts) ||
		r.Type == string(dns.TXT) && strings.Contains(r.Content, routingPolicy)
}

// rule is a routing rule in the words of the API.
type rule struct {
	ID       string    `json:"id,omitempty"`
	Tag      string    `json:"tag,omitempty"`
	Name     string    `json:"name"`
	Enabled  bool      `json:"enabled"`
	Matchers []matcher `json:"matchers"`
	Actions  []action  `json:"actions"`
}

type matcher struct {
	Type  string `json:"type"`
	Field string `json:"field,omitempty"`
	Value string `json:"value,omitempty"`
}

type action struct {
	Type  string   `json:"type"`
	Value []string `json:"value,omitempty"`
}

// ruleID returns the id of a rule; older answers have it as the tag alone.
func (r rule) ruleID() string {
	if r.ID != "" {
		return r.ID
	}
	return r.Tag
}

// isFor reports whether a rule is for an address.
func (r rule) isFor(address string) bool {
	return slices.ContainsFunc(r.Matchers, func(m matcher) bool {
		return m.Type == "literal" && m.Field == "to" && strings.EqualFold(m.Value, address)
	})
}

// toWorker returns the actions that hand mail to the worker.
func (p *provider) toWorker() []action {
	return []action{{Type: "worker", Value: []string{p.cfg.Worker}}}
}

// CreateRule implements dns.MailRouter. A rule of somebody else's for the address stays as it is.
func (p *provider) CreateRule(ctx context.Context, zoneID, address string) (string, error) {
	if p.cfg.Worker == "" {
		return "", dns.NotConfigured("worker")
	}
	rules, err := listAll[rule](ctx, p, append([]string{"zones", zoneID}, rulesPath...), nil)
	if err != nil {
		return "", err
	}
	for _, r := range rules {
		switch {
		case !r.isFor(address):
		case r.Enabled && len(r.Actions) == 1 && r.Actions[0].Type == "worker" && slices.Equal(r.Actions[0].Value, []string{p.cfg.Worker}):
			return r.ruleID(), nil
		default:
			return "", dns.Conflict("the zone has another rule for %s, named %.80q", address, r.Name)
		}
	}
	var made rule
	err = p.inZone(ctx, http.MethodPost, zoneID, rulesPath, rule{
		Name: "Mailbox " + address, Enabled: true, Matchers: []matcher{{Type: "literal", Field: "to", Value: address}}, Actions: p.toWorker(),
	}, &made)
	if err == nil && made.ruleID() == "" {
		err = errs.Unavailable(errs.ReasonProtocol, "the API answers with a rule without an id")
	}
	return made.ruleID(), err
}

// DeleteRule implements dns.MailRouter.
func (p *provider) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	err := p.inZone(ctx, http.MethodDelete, zoneID, append(slices.Clone(rulesPath), ruleID), nil, nil)
	if isMissing(err) {
		return nil
	}
	return err
}

// snapshotFormat names the form of a snapshot.
const snapshotFormat = "cloudflare-catch-all-1"

// catchAll is a catch-all rule with the members that can be set, as the API has them.
type catchAll struct {
	Name     json.RawMessage `json:"name,omitempty"`
	Enabled  json.RawMessage `json:"enabled"`
	Matchers json.RawMessage `json:"matchers"`
	Actions  json.RawMessage `json:"actions"`
}

type snapshot struct {
	Format string   `json:"format"`
	Rule   catchAll `json:"rule"`
}

// ReadCatchAll implements dns.MailRouter.
func (p *provider) ReadCatchAll(ctx context.Context, zoneID string) ([]byte, error) {
	current := snapshot{Format: snapshotFormat}
	if err := p.inZone(ctx, http.MethodGet, zoneID, catchAllPath, nil, &current.Rule); err != nil {
		return nil, err
	}
	if !current.Rule.fillIn() {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the API answers with a catch-all that cannot be read")
	}
	return json.Marshal(current)
}

// fillIn fills in lists that are missing, and reports whether the rule can be set.
func (c *catchAll) fillIn() bool {
	for _, member := range []*json.RawMessage{&c.Matchers, &c.Actions} {
		if len(*member) == 0 || bytes.Equal(*member, []byte("null")) {
			*member = json.RawMessage("[]")
		}
	}
	var enabled *bool
	var matchers, actions []map[string]any
	return json.Unmarshal(c.Matchers, &matchers) == nil && json.Unmarshal(c.Actions, &actions) == nil &&
		len(c.Enabled) > 0 && json.Unmarshal(c.Enabled, &enabled) == nil && enabled != nil
}

// SetCatchAll implements dns.MailRouter.
func (p *provider) SetCatchAll(ctx context.Context, zoneID string) error {
	if p.cfg.Worker == "" {
		return dns.NotConfigured("worker")
	}
	return p.inZone(ctx, http.MethodPut, zoneID, catchAllPath, rule{
		Name: "Patchbay catch-all", Enabled: true, Matchers: []matcher{{Type: "all"}}, Actions: p.toWorker(),
	}, nil)
}

// RestoreCatchAll implements dns.MailRouter.
func (p *provider) RestoreCatchAll(ctx context.Context, zoneID string, taken []byte) error {
	var before snapshot
	if json.Unmarshal(taken, &before) != nil || before.Format != snapshotFormat || !before.Rule.fillIn() {
		return dns.InvalidRequest("the snapshot is not one of Cloudflare's catch-all")
	}
	return p.inZone(ctx, http.MethodPut, zoneID, catchAllPath, before.Rule, nil)
}
