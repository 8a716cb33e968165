package domain

import (
	"context"
	"strings"
)

// router has the providers of domains route mail for single addresses to us.
type router struct{ connect func() Connection }

// findConnection reports whether the provider of a domain routes mail by rules, and returns the connection to it.
func (r *router) findConnection(row Domain) (Connection, bool, error) {
	if !row.Routed {
		return Connection{}, false, nil
	}
	c := r.connect()
	return c, true, sameProvider(c, row)
}

// NeedsRoute reports whether the provider must be told of a mailbox at a host of the domain.
func (r *router) NeedsRoute(row Domain, host string) (bool, error) {
	if row.KeepsCatchAll() && host == row.Name {
		return false, nil
	}
	_, routing, err := r.findConnection(row)
	return routing, err
}

// AddRoute has the provider accept mail for an address, and returns the id of its rule, "" where the catch-all does without.
func (r *router) AddRoute(ctx context.Context, row Domain, address string) (ruleID string, err error) {
	return r.addRoute(ctx, row, address, map[string]bool{row.Name: true})
}

// addRoute is AddRoute where the provider accepts mail for some hosts already. It adds the one of the address.
func (r *router) addRoute(ctx context.Context, row Domain, address string, enabled map[string]bool) (ruleID string, err error) {
	c, routing, err := r.findConnection(row)
	if err != nil || !routing {
		return "", err
	}
	if _, host, _ := strings.Cut(address, "@"); !enabled[host] {
		if err := c.DNS.EnableRouting(ctx, row.ZoneID, host); err != nil {
			return "", explainFailure(err)
		}
		enabled[host] = true
	}
	if row.KeepsCatchAll() {
		return "", nil
	}
	ruleID, err = c.DNS.CreateRule(ctx, row.ZoneID, address)
	return ruleID, explainFailure(err)
}

// RemoveRoute deletes the rule of an address. row is the domain in the state in which it has this rule: the provider of another one is
// not asked. That there is no rule, or no zone, is no error. A rule whose id is not known, because making it was interrupted, is found
// first.
func (r *router) RemoveRoute(ctx context.Context, row Domain, address, ruleID string, known bool) error {
	if known && ruleID == "" {
		return nil
	}
	c, routing, err := r.findConnection(row)
	if err != nil || !routing {
		return err
	}
	if !known {
		// The provider returns the rule that there is.
		ruleID, err = c.DNS.CreateRule(ctx, row.ZoneID, address)
		if isForeignRule(err) || isMissing(err) {
			// There is none of ours, or not even the zone.
			return nil
		}
		if err != nil {
			return explainFailure(err)
		}
	}
	if err := c.DNS.DeleteRule(ctx, row.ZoneID, ruleID); !isMissing(err) {
		return explainFailure(err)
	}
	return nil
}
