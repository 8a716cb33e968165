package rfc2136

import (
	"context"
	"errors"
	"net"
	"os"
	"time"

	mdns "github.com/miekg/dns"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// tsigFudge is how far the clocks of both sides may be apart, in seconds.
const tsigFudge = 300

// openConnection opens a connection to the server, which ends with the context, at the latest after the timeout.
func (p *provider) openConnection(ctx context.Context) (*mdns.Conn, func(), error) {
	dialer := &net.Dialer{Timeout: p.timeout}
	raw, err := dialer.DialContext(ctx, "tcp", p.server)
	if err != nil {
		return nil, nil, p.unansweredError(ctx, errs.ReasonConnect, err)
	}
	_ = raw.SetDeadline(time.Now().Add(p.timeout))
	stop := context.AfterFunc(ctx, func() { _ = raw.SetDeadline(time.Unix(1, 0)) })
	conn := &mdns.Conn{Conn: raw, TsigSecret: map[string]string{p.key: p.secret.Reveal()}}
	return conn, func() { stop(); _ = raw.Close() }, nil
}

// exchangeSigned sends a signed message and returns the answer, which must be signed as well. zoneID is the zone of an update.
func (p *provider) exchangeSigned(ctx context.Context, msg *mdns.Msg, zoneID string) (*mdns.Msg, error) {
	conn, done, err := p.openConnection(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	msg.SetTsig(p.key, p.algorithm, tsigFudge, time.Now().Unix())
	if err := conn.WriteMsg(msg); err != nil {
		return nil, p.unansweredError(ctx, errs.ReasonLost, err)
	}
	answer, err := conn.ReadMsg()
	switch {
	case answer != nil && answer.Rcode != mdns.RcodeSuccess && answer.Rcode != mdns.RcodeNameError:
		return nil, p.refusalError(answer, zoneID)
	case err != nil:
		return nil, p.unansweredError(ctx, errs.ReasonLost, err)
	case answer.Id != msg.Id:
		return nil, errs.Unavailable(errs.ReasonProtocol, "the name server %s answers another question", p.server)
	case answer.IsTsig() == nil:
		return nil, errs.Unavailable(errs.ReasonProtocol, "the name server %s does not sign its answer", p.server)
	case answer.Rcode == mdns.RcodeNameError && zoneID != "":
		return nil, p.refusalError(answer, zoneID)
	}
	return answer, nil
}

// transferZone returns all records of a zone.
func (p *provider) transferZone(ctx context.Context, zoneID string) ([]mdns.RR, error) {
	conn, done, err := p.openConnection(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	msg := new(mdns.Msg)
	msg.SetAxfr(mdns.Fqdn(zoneID))
	msg.SetTsig(p.key, p.algorithm, tsigFudge, time.Now().Unix())
	transfer := &mdns.Transfer{Conn: conn, TsigSecret: conn.TsigSecret, ReadTimeout: p.timeout, WriteTimeout: p.timeout}
	parts, err := transfer.In(msg, p.server)
	if err != nil {
		return nil, p.unansweredError(ctx, errs.ReasonLost, err)
	}
	var records []mdns.RR
	for part := range parts {
		if part.Error != nil {
			err = part.Error
			continue
		}
		records = append(records, part.RR...)
	}
	if err != nil && ctx.Err() == nil && !isNetwork(err) {
		return nil, errs.New(errs.Upstream, codes.PermissionDenied, errs.ReasonStatus,
			"the name server %s does not transfer the zone %s to the key: %v", p.server, zoneID, err)
	}
	if err != nil {
		return nil, p.unansweredError(ctx, errs.ReasonLost, err)
	}
	return records, nil
}

func isNetwork(err error) bool {
	var network net.Error
	return errors.As(err, &network)
}

// refusalError returns the error that an answer without success means.
func (p *provider) refusalError(answer *mdns.Msg, zoneID string) error {
	word := mdns.RcodeToString[answer.Rcode]
	if t := answer.IsTsig(); t != nil && t.Error != 0 {
		word = mdns.RcodeToString[int(t.Error)]
	}
	code := codes.Unavailable
	switch answer.Rcode {
	case mdns.RcodeRefused:
		code = codes.PermissionDenied
	case mdns.RcodeNotAuth, mdns.RcodeBadKey, mdns.RcodeBadTime:
		code = codes.Unauthenticated
		if answer.IsTsig() == nil || answer.IsTsig().Error == 0 {
			return dns.NoZone(zoneID)
		}
	case mdns.RcodeNotZone, mdns.RcodeNameError:
		return dns.NoZone(zoneID)
	case mdns.RcodeFormatError:
		code = codes.InvalidArgument
	case mdns.RcodeYXDomain, mdns.RcodeYXRrset, mdns.RcodeNXRrset:
		return dns.Conflict("the name server %s answers %s", p.server, word)
	}
	return errs.New(errs.Upstream, code, errs.ReasonStatus, "the name server %s answers %s", p.server, word)
}

// unansweredError returns the error of an exchange without an answer that can be read.
func (p *provider) unansweredError(ctx context.Context, reason string, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil, errors.Is(err, os.ErrDeadlineExceeded):
		return errs.Unavailable(errs.ReasonTimeout, "the name server %s does not answer in time", p.server)
	case errors.Is(err, mdns.ErrSig), errors.Is(err, mdns.ErrKeyAlg), errors.Is(err, mdns.ErrTime), errors.Is(err, mdns.ErrSecret):
		return errs.New(errs.Upstream, codes.Unauthenticated, errs.ReasonProtocol, "the answer of the name server %s has no good signature",
			p.server)
	case isNetwork(err):
		return errs.Unavailable(reason, "there is no connection to the name server %s", p.server)
	}
	return errs.Unavailable(errs.ReasonProtocol, "the answer of the name server %s cannot be read", p.server)
}
