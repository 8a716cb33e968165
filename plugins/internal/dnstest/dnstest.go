// Package dnstest holds the name servers of the tests: a small one in the process, and the real ones of Debian.
package dnstest

import (
	"net"
	"strings"
	"testing"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// Serve starts a name server on loopback, over UDP and TCP, that answers for one zone from records such as
// `mail 300 MX 10 mail.example.com.`, and returns its address. Names are relative to the zone.
func Serve(t testing.TB, zone string, records ...string) string {
	t.Helper()
	var all []mdns.RR
	for _, text := range records {
		rr, err := mdns.NewRR("$ORIGIN " + mdns.Fqdn(zone) + "\n$TTL 60\n" + text)
		if err != nil || rr == nil {
			t.Fatalf("the record %q: %v", text, err)
		}
		all = append(all, rr)
	}
	answer := mdns.HandlerFunc(func(w mdns.ResponseWriter, req *mdns.Msg) {
		out := new(mdns.Msg)
		out.SetReply(req)
		out.Authoritative, out.Rcode = true, mdns.RcodeNameError
		for _, rr := range all {
			if strings.EqualFold(rr.Header().Name, req.Question[0].Name) {
				out.Rcode = mdns.RcodeSuccess
				if rr.Header().Rrtype == req.Question[0].Qtype {
					out.Answer = append(out.Answer, rr)
				}
			}
		}
		_ = w.WriteMsg(out)
	})
	packets, err := net.ListenPacket("udp", testkit.FreeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", packets.LocalAddr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []*mdns.Server{{PacketConn: packets, Handler: answer}, {Listener: listener, Handler: answer}} {
		go func() { _ = s.ActivateAndServe() }()
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return packets.LocalAddr().String()
}
