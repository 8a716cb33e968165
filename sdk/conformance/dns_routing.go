package conformance

import (
	"bytes"
	"context"
	"fmt"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// routedZone returns the zone with mail routing.
func (r *dnsRun) routedZone(ctx context.Context) (*dns.Zone, error) {
	if !r.hasCapability(dns.CapMailRouting) {
		return nil, skip("the plugin does not offer mail routing")
	}
	return r.existingZone(ctx)
}

// checkRules enables routing for a host, makes a rule and deletes it, each twice.
func (r *dnsRun) checkRules(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	zone, err := r.routedZone(ctx)
	if err != nil {
		return err
	}
	c, host, id := r.clientAt(r.main), "conformance."+zone.Name, ""
	for range 2 {
		for _, h := range []string{zone.Name, host} {
			if err := c.EnableRouting(ctx, zone.ID, h); r.inspectError("enable routing", err) != nil {
				return fmt.Errorf("enable routing for %s: %w", h, err)
			}
		}
	}
	for range 2 {
		made, err := c.CreateRule(ctx, zone.ID, "ada@"+host)
		if r.inspectError("create rule", err) != nil {
			return err
		}
		if made == "" || id != "" && made != id {
			return fmt.Errorf("the rule of an address is %q, and then %q", id, made)
		}
		id = made
	}
	other, err := c.CreateRule(ctx, zone.ID, "grace@"+host)
	if r.inspectError("create rule", err) != nil {
		return err
	}
	if other == id {
		return fmt.Errorf("two addresses have the rule %q", id)
	}
	for _, rule := range []string{id, id, other} {
		if err := c.DeleteRule(ctx, zone.ID, rule); r.inspectError("delete rule", err) != nil {
			return fmt.Errorf("delete the rule %q: %w", rule, err)
		}
	}
	for range 2 {
		if err := c.DisableRouting(ctx, zone.ID, host); r.inspectError("disable routing", err) != nil {
			return err
		}
	}
	return nil
}

// catchAll sets the catch-all and restores it, twice: what was there before is there again.
func (r *dnsRun) catchAll(ctx context.Context) error {
	ctx, cancel := r.withTimeout(ctx)
	defer cancel()
	zone, err := r.routedZone(ctx)
	if err != nil {
		return err
	}
	c := r.clientAt(r.main)
	before, err := c.ReadCatchAll(ctx, zone.ID)
	if r.inspectError("read catch-all", err) != nil {
		return err
	}
	for _, junk := range []string{"x", "{}", "[]", `{"conformance":1}`} {
		if err := callersFault("a snapshot that the plugin did not make", r.inspectError("restore catch-all", c.RestoreCatchAll(ctx, zone.ID, []byte(junk)))); err != nil {
			return err
		}
	}
	for range 2 {
		for range 2 {
			if err := c.SetCatchAll(ctx, zone.ID); r.inspectError("set catch-all", err) != nil {
				return err
			}
		}
		during, err := c.ReadCatchAll(ctx, zone.ID)
		if r.inspectError("read catch-all", err) != nil {
			return err
		}
		if bytes.Equal(during, before) {
			return fmt.Errorf("the catch-all was set and is what it was: %.200s", before)
		}
		for range 2 {
			if err := c.RestoreCatchAll(ctx, zone.ID, before); r.inspectError("restore catch-all", err) != nil {
				return err
			}
		}
		after, err := c.ReadCatchAll(ctx, zone.ID)
		if r.inspectError("read catch-all", err) != nil {
			return err
		}
		if !bytes.Equal(after, before) {
			return fmt.Errorf("the catch-all was %.300s and is %.300s after it was restored", before, after)
		}
	}
	return nil
}
