package conformance

import (
	"bytes"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// routedZone returns the zone with mail routing.
func (r *dnsRun) routedZone(ctx context.Context) (*dns.Zone, error) {
	if !r.HasCapability(dns.CapMailRouting) {
		return nil, suite.Skip("the plugin does not offer mail routing")
	}
	return r.existingZone(ctx)
}

// checkRules enables routing for a host, makes a rule and deletes it, each twice.
func (r *dnsRun) checkRules(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	zone, err := r.routedZone(ctx)
	if err != nil {
		return err
	}
	c, host, id := r.clientAt(r.MainID), "conformance."+zone.Name, ""
	for range 2 {
		for _, h := range []string{zone.Name, host} {
			if err := c.EnableRouting(ctx, zone.ID, h); r.InspectError("enable routing", err) != nil {
				return fmt.Errorf("enable routing for %s: %w", h, err)
			}
		}
	}
	for range 2 {
		made, err := c.CreateRule(ctx, zone.ID, "ada@"+host)
		if r.InspectError("create rule", err) != nil {
			return err
		}
		if made == "" || id != "" && made != id {
			return fmt.Errorf("the rule of an address is %q, and then %q", id, made)
		}
		id = made
	}
	other, err := c.CreateRule(ctx, zone.ID, "grace@"+host)
	if r.InspectError("create rule", err) != nil {
		return err
	}
	if other == id {
		return fmt.Errorf("two addresses have the rule %q", id)
	}
	for _, rule := range []string{id, id, other} {
		if err := c.DeleteRule(ctx, zone.ID, rule); r.InspectError("delete rule", err) != nil {
			return fmt.Errorf("delete the rule %q: %w", rule, err)
		}
	}
	for range 2 {
		if err := c.DisableRouting(ctx, zone.ID, host); r.InspectError("disable routing", err) != nil {
			return err
		}
	}
	return nil
}

// catchAll sets the catch-all and restores it, twice: what was there before is there again.
func (r *dnsRun) catchAll(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	zone, err := r.routedZone(ctx)
	if err != nil {
		return err
	}
	c := r.clientAt(r.MainID)
	before, err := c.ReadCatchAll(ctx, zone.ID)
	if r.InspectError("read catch-all", err) != nil {
		return err
	}
	for _, junk := range []string{"x", "{}", "[]", `{"conformance":1}`} {
		if err := suite.RequireCallerFault("a snapshot that the plugin did not make",
			r.InspectError("restore catch-all", c.RestoreCatchAll(ctx, zone.ID, []byte(junk)))); err != nil {
			return err
		}
	}
	for range 2 {
		for range 2 {
			if err := c.SetCatchAll(ctx, zone.ID); r.InspectError("set catch-all", err) != nil {
				return err
			}
		}
		during, err := c.ReadCatchAll(ctx, zone.ID)
		if r.InspectError("read catch-all", err) != nil {
			return err
		}
		if bytes.Equal(during, before) {
			return fmt.Errorf("the catch-all was set and is what it was: %.200s", before)
		}
		for range 2 {
			if err := c.RestoreCatchAll(ctx, zone.ID, before); r.InspectError("restore catch-all", err) != nil {
				return err
			}
		}
		after, err := c.ReadCatchAll(ctx, zone.ID)
		if r.InspectError("read catch-all", err) != nil {
			return err
		}
		if !bytes.Equal(after, before) {
			return fmt.Errorf("the catch-all was %.300s and is %.300s after it was restored", before, after)
		}
	}
	return nil
}
