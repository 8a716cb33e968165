package conformance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// breakVendor brings a fault about. The zone is looked up before that.
func (r *dnsRun) breakVendor(ctx context.Context, fault DNSFault) (zone *dns.Zone, undo func(), err error) {
	if r.cfg.Fault == nil {
		return nil, nil, suite.Skip("the vendor cannot be made to fail")
	}
	if zone, err = r.existingZone(ctx); err != nil {
		return nil, nil, err
	}
	if undo = r.cfg.Fault(fault); undo == nil {
		return nil, nil, suite.Skip("the vendor cannot fail so")
	}
	return zone, undo, nil
}

// tryRecordSet sets a record at an instance of its own, so that a cool-down ends with it.
func (r *dnsRun) tryRecordSet(ctx context.Context, id, zoneID, name string) error {
	_, err := r.clientAt(id).SetRecords(ctx, zoneID, dns.RecordSet{Name: name, Type: dns.A, TTL: 60, Values: []string{"192.0.2.7"}})
	return r.InspectError("set records", err)
}

// changeFails returns a check that makes a change while a fault lasts, checks its error, and then looks that nothing has changed.
func (r *dnsRun) changeFails(fault DNSFault, want ...codes.Code) func(context.Context) error {
	return func(ctx context.Context) error { return r.changeDuring(ctx, fault, want) }
}

func (r *dnsRun) changeDuring(ctx context.Context, fault DNSFault, want []codes.Code) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	id := "fault-" + string(fault)
	if err := r.MakeInstance(ctx, id); err != nil {
		return err
	}
	defer r.DropAfter(ctx, id)
	zone, undo, err := r.breakVendor(ctx, fault)
	if err != nil {
		return err
	}
	name := "fault.conformance." + zone.Name
	err = r.tryRecordSet(ctx, id, zone.ID, name)
	undo()
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	e := errs.From(err)
	switch {
	case e == nil || !slices.Contains(want, e.Code) || e.Source != errs.Upstream:
		return fmt.Errorf("a change should end with %v, source upstream; got: %v", want, err)
	case e.Code == codes.ResourceExhausted && e.RetryAfter <= 0:
		return fmt.Errorf("the error does not say when to try again: %v", err)
	}
	return r.wantSet(ctx, zone.ID, dns.RecordSet{Name: name, Type: dns.A})
}

// checkRollback has the vendor fail between two changes, and takes the first one back: all is as before.
func (r *dnsRun) checkRollback(ctx context.Context) error {
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	if r.cfg.Fault == nil || r.isManual() {
		return suite.Skip("the vendor cannot be made to fail")
	}
	zone, err := r.existingZone(ctx)
	if err != nil {
		return err
	}
	host := "rollback.conformance." + zone.Name
	before := dns.RecordSet{Name: host, Type: dns.TXT, TTL: 60, Values: []string{"there before"}}
	if err := r.setRecords(ctx, zone.ID, before); err != nil {
		return err
	}
	defer r.clearRecords(ctx, zone.ID, host, dns.TXT)
	if err := r.setRecords(ctx, zone.ID, dns.RecordSet{Name: host, Type: dns.A, TTL: 60, Values: []string{"192.0.2.8"}}); err != nil {
		return err
	}
	_, undo, err := r.breakVendor(ctx, DNSDown)
	if err != nil {
		return err
	}
	failed := r.tryRecordSet(ctx, r.MainID, zone.ID, "second."+host)
	undo()
	if failed == nil {
		return errors.New("a change succeeds while no request reaches the vendor")
	}
	if err := r.deleteRecords(ctx, zone.ID, host, dns.A); err != nil {
		return fmt.Errorf("take the first change back: %w", err)
	}
	return errors.Join(r.wantSet(ctx, zone.ID, before), r.wantSet(ctx, zone.ID, dns.RecordSet{Name: "second." + host, Type: dns.A}))
}

func (r *dnsRun) checkCancel(ctx context.Context) error {
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	return r.cutShort(ctx, short, func() { time.AfterFunc(suite.EndAfter, cancel) })
}

func (r *dnsRun) checkDeadline(ctx context.Context) error {
	short, cancel := context.WithCancel(ctx)
	defer cancel()
	return r.cutShort(ctx, short, nil)
}

// cutShort makes a call that the vendor does not answer, and ends it early: with begin, or by a deadline.
func (r *dnsRun) cutShort(ctx, short context.Context, begin func()) error {
	zone, undo, err := r.breakVendor(ctx, DNSSlow)
	if err != nil {
		return err
	}
	defer undo()
	return r.CutCall(ctx, func(id string) error {
		if begin != nil {
			begin()
		} else {
			bound, cancel := context.WithTimeout(short, suite.EndAfter)
			defer cancel()
			short = bound
		}
		return r.tryRecordSet(short, id, zone.ID, "slow.conformance."+zone.Name)
	})
}
