package dnstest

import (
	"io"
	"net"
	"sync/atomic"
	"testing"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/conformance"
)

// TCPProxy stands between a provider and a name server that it speaks to over TCP, and makes faults of the server.
type TCPProxy struct {
	Addr   string
	target string
	fault  atomic.Value
}

// NewTCPProxy runs a proxy to a name server until the test ends.
func NewTCPProxy(t testing.TB, target string) *TCPProxy {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	p := &TCPProxy{Addr: listener.Addr().String(), target: target}
	p.fault.Store(conformance.DNSFault(""))
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go p.serveConn(conn)
		}
	}()
	return p
}

// SetFault makes a fault until the function that it returns is called. A name server has no limit of requests.
func (p *TCPProxy) SetFault(f conformance.DNSFault) (undo func()) {
	if f == conformance.DNSLimited {
		return nil
	}
	p.fault.Store(f)
	return func() { p.fault.Store(conformance.DNSFault("")) }
}

func (p *TCPProxy) serveConn(conn net.Conn) {
	defer conn.Close()
	switch p.fault.Load() {
	case conformance.DNSDown:
	case conformance.DNSSlow:
		_, _ = io.Copy(io.Discard, conn)
	case conformance.DNSGarbage:
		if _, err := (&mdns.Conn{Conn: conn}).ReadMsg(); err == nil || conn != nil {
			_, _ = conn.Write([]byte("\x00\x14this is no DNS......"))
		}
	case conformance.DNSDenied:
		d := &mdns.Conn{Conn: conn}
		if req, err := d.ReadMsg(); req != nil {
			_ = err // the signature is not this side's to check
			_ = d.WriteMsg(new(mdns.Msg).SetRcode(req, mdns.RcodeRefused))
		}
	default:
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			return
		}
		defer server.Close()
		go func() { _, _ = io.Copy(server, conn); _ = server.(*net.TCPConn).CloseWrite() }()
		_, _ = io.Copy(conn, server)
	}
}
