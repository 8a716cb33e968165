package client

import (
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/core/plugin/catalog"
	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// DNS speaks to a DNS provider for services. Errors are faults, and CauseOf returns what they mean; the *errs.Error of the
// plugin is in the chain (its Reason tells NoZone and Conflict apart), and catalog.ErrRetired if a reload took the instance
// away. Failed calls are not repeated. The calls of dns.ZoneCreator and dns.MailRouter fail without their capability.
type DNS interface {
	dns.Provider
	dns.ZoneCreator
	dns.MailRouter
	// Describe returns what the provider can do.
	Describe() (DNSAbilities, error)
	// Pin returns the provider with the plugin that serves the instance at present, and the name of that plugin: what it is asked for fails
	// with ErrOtherPlugin once a reload has given the instance to another one. The name is "" if a reload took the instance away.
	Pin() (pinned DNS, plugin string)
}

// DNSAbilities is what a DNS provider can do.
type DNSAbilities struct {
	// CreateZones: the calls of dns.ZoneCreator are there. MailRouting: those of dns.MailRouter are.
	CreateZones, MailRouting bool
	// Manual: a person sets the records.
	Manual bool
}

type dnsFacade struct {
	handle  *catalog.Handle
	observe Observer
	// plugin is the name of the only one that is called; "" for any.
	plugin string
}

// NewDNS makes the facade for a handle. observe may be nil. It is called for each call with the name of the method in lower
// case.
func NewDNS(h *catalog.Handle, observe Observer) DNS {
	if observe == nil {
		observe = ignoreObservation
	}
	return &dnsFacade{handle: h, observe: observe}
}

// Describe implements DNS.
func (f *dnsFacade) Describe() (DNSAbilities, error) {
	in := f.handle.Current()
	if in == nil {
		return DNSAbilities{}, catalog.ErrRetired
	}
	if f.plugin != "" && in.Plugin != f.plugin {
		return DNSAbilities{}, ErrOtherPlugin
	}
	has := func(capability string) bool { return slices.Contains(in.About.GetCapabilities(), capability) }
	return DNSAbilities{CreateZones: has(dns.CapCreateZones), MailRouting: has(dns.CapMailRouting), Manual: has(dns.CapManual)}, nil
}

// Pin implements DNS.
func (f *dnsFacade) Pin() (pinned DNS, plugin string) {
	if f.plugin != "" {
		return f, f.plugin
	}
	in := f.handle.Current()
	if in == nil {
		return f, ""
	}
	return &dnsFacade{handle: f.handle, observe: f.observe, plugin: in.Plugin}, in.Plugin
}

func (f *dnsFacade) callClient(ctx context.Context, operation string, do func(context.Context, *dns.Client) error) error {
	var h instances = f.handle
	if f.plugin != "" {
		h = pinnedHandle{f.handle, f.plugin}
	}
	return callUnary(ctx, h, f.observe, operation, dns.NewClient, do)
}

func (f *dnsFacade) ListZones(ctx context.Context) (out []dns.Zone, err error) {
	err = f.callClient(ctx, "listzones", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.ListZones(ctx)
		return err
	})
	return out, err
}

func (f *dnsFacade) FindZone(ctx context.Context, name string) (out *dns.Zone, err error) {
	err = f.callClient(ctx, "findzone", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.FindZone(ctx, name)
		return err
	})
	return out, err
}

func (f *dnsFacade) CreateZone(ctx context.Context, name string) (out *dns.Zone, created bool, err error) {
	err = f.callClient(ctx, "createzone", func(ctx context.Context, c *dns.Client) (err error) {
		out, created, err = c.CreateZone(ctx, name)
		return err
	})
	return out, created, err
}

func (f *dnsFacade) DeleteZone(ctx context.Context, zoneID string) error {
	return f.callClient(ctx, "deletezone", func(ctx context.Context, c *dns.Client) error { return c.DeleteZone(ctx, zoneID) })
}

func (f *dnsFacade) ListRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (out []dns.RecordSet, err error) {
	err = f.callClient(ctx, "listrecords", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.ListRecords(ctx, zoneID, name, recordType)
		return err
	})
	return out, err
}

func (f *dnsFacade) SetRecords(ctx context.Context, zoneID string, set dns.RecordSet) (out dns.Outcome, err error) {
	err = f.callClient(ctx, "setrecords", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.SetRecords(ctx, zoneID, set)
		return err
	})
	return out, err
}

func (f *dnsFacade) DeleteRecords(ctx context.Context, zoneID, name string, recordType dns.Type) (out dns.Outcome, err error) {
	err = f.callClient(ctx, "deleterecords", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.DeleteRecords(ctx, zoneID, name, recordType)
		return err
	})
	return out, err
}

func (f *dnsFacade) CheckRecords(ctx context.Context, zoneID string, sets []dns.RecordSet) (out []dns.Check, err error) {
	err = f.callClient(ctx, "checkrecords", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.CheckRecords(ctx, zoneID, sets)
		return err
	})
	return out, err
}

func (f *dnsFacade) EnableRouting(ctx context.Context, zoneID, host string) error {
	return f.callClient(ctx, "enablerouting", func(ctx context.Context, c *dns.Client) error { return c.EnableRouting(ctx, zoneID, host) })
}

func (f *dnsFacade) DisableRouting(ctx context.Context, zoneID, host string) error {
	return f.callClient(ctx, "disablerouting", func(ctx context.Context, c *dns.Client) error { return c.DisableRouting(ctx, zoneID, host) })
}

func (f *dnsFacade) CreateRule(ctx context.Context, zoneID, address string) (out string, err error) {
	err = f.callClient(ctx, "createrule", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.CreateRule(ctx, zoneID, address)
		return err
	})
	return out, err
}

func (f *dnsFacade) DeleteRule(ctx context.Context, zoneID, ruleID string) error {
	return f.callClient(ctx, "deleterule", func(ctx context.Context, c *dns.Client) error { return c.DeleteRule(ctx, zoneID, ruleID) })
}

func (f *dnsFacade) ReadCatchAll(ctx context.Context, zoneID string) (out []byte, err error) {
	err = f.callClient(ctx, "readcatchall", func(ctx context.Context, c *dns.Client) (err error) {
		out, err = c.ReadCatchAll(ctx, zoneID)
		return err
	})
	return out, err
}

func (f *dnsFacade) SetCatchAll(ctx context.Context, zoneID string) error {
	return f.callClient(ctx, "setcatchall", func(ctx context.Context, c *dns.Client) error { return c.SetCatchAll(ctx, zoneID) })
}

func (f *dnsFacade) RestoreCatchAll(ctx context.Context, zoneID string, snapshot []byte) error {
	return f.callClient(ctx, "restorecatchall",
		func(ctx context.Context, c *dns.Client) error { return c.RestoreCatchAll(ctx, zoneID, snapshot) })
}
