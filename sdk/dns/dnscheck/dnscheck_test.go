package dnscheck

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/sdk/dns"
)

// serve runs a name server on loopback that is resolver and authoritative server at once, and returns its port. UDP answers of
// more than 300 bytes are cut short.
func serve(t *testing.T, records ...string) (port string) {
	t.Helper()
	var all []mdns.RR
	for _, text := range records {
		rr, err := mdns.NewRR(text)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rr)
	}
	handler := mdns.HandlerFunc(func(w mdns.ResponseWriter, req *mdns.Msg) {
		out := new(mdns.Msg).SetRcode(req, mdns.RcodeSuccess)
		if strings.HasPrefix(req.Question[0].Name, "refused.") {
			out.Rcode = mdns.RcodeRefused
		}
		for _, rr := range all {
			if strings.EqualFold(rr.Header().Name, req.Question[0].Name) && rr.Header().Rrtype == req.Question[0].Qtype {
				out.Answer = append(out.Answer, rr)
			}
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp && out.Len() > 300 {
			out.Answer, out.Truncated = nil, true
		}
		_ = w.WriteMsg(out)
	})
	packets, listener := listenTwice(t)
	for _, s := range []*mdns.Server{{PacketConn: packets, Handler: handler}, {Listener: listener, Handler: handler}} {
		go func() { _ = s.ActivateAndServe() }()
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	_, port, _ = net.SplitHostPort(packets.LocalAddr().String())
	return port
}

// listenTwice listens over UDP and over TCP on the same port of loopback, whichever is free for both.
func listenTwice(t *testing.T) (net.PacketConn, net.Listener) {
	t.Helper()
	var taken error
	for range 20 {
		packets, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		listener, err := net.Listen("tcp", packets.LocalAddr().String())
		if err == nil {
			return packets, listener
		}
		_ = packets.Close()
		taken = err
	}
	t.Fatal(taken)
	return nil, nil
}

// newChecker makes a checker that finds the servers of zones by a resolver on loopback.
func newChecker(t *testing.T, port string) *Checker {
	t.Helper()
	c, err := New(Config{Timeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	c.resolvConf, c.port = filepath.Join(t.TempDir(), "resolv.conf"), port
	if err := os.WriteFile(c.resolvConf, []byte("nameserver 127.0.0.1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestAuthoritativeServers: the servers of the nearest zone that has some are asked, each by its name.
func TestAuthoritativeServers(t *testing.T) {
	long := strings.Repeat("x", 200)
	c := newChecker(t, serve(t,
		"example.com. 60 IN NS ns2.example.net.", "example.com. 60 IN NS ns1.example.net.", "ns1.example.net. 60 IN A 127.0.0.1",
		"ns2.example.net. 60 IN A 127.0.0.1",
		"a.example.com. 77 IN MX 10 mail.example.com.", `a.example.com. 60 IN TXT "`+long+`" "`+long+`"`))
	sets := []dns.RecordSet{
		{Name: "a.example.com", Type: dns.MX, Values: []string{"10 mail.example.com"}},
		{Name: "a.example.com", Type: dns.TXT, Values: []string{long + long}},
		{Name: "refused.example.com", Type: dns.A, Values: []string{"192.0.2.1"}},
	}
	checks, err := c.Check(t.Context(), "sub.example.com", sets)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []dns.Visibility{dns.Visible, dns.Visible, dns.Unknown} {
		o := checks[i].Observations
		if checks[i].Visibility != want || len(o) != 2 || o[0].Server != "ns1.example.net" || o[1].Server != "ns2.example.net" ||
			(want == dns.Unknown) != (o[0].Problem != "") {
			t.Errorf("%+v, want %s", checks[i], want)
		}
	}
	if ttl := checks[0].Observations[0].TTL; ttl != 77 {
		t.Errorf("the TTL is %d", ttl)
	}
}

// TestNoServers: a zone without name servers, and a machine without resolvers, are told as a problem.
func TestNoServers(t *testing.T) {
	set := []dns.RecordSet{{Name: "example.com", Type: dns.A, Values: []string{"192.0.2.1"}}}
	bare := newChecker(t, "1")
	bare.resolvConf = filepath.Join(t.TempDir(), "none")
	for name, c := range map[string]*Checker{"no zone": newChecker(t, serve(t)), "no answer": newChecker(t, "1"), "no resolver": bare} {
		checks, err := c.Check(t.Context(), "example.com", set)
		if err != nil || checks[0].Visibility != dns.Unknown || len(checks[0].Observations) != 1 || checks[0].Observations[0].Problem == "" {
			t.Errorf("%s: %+v, %v", name, checks, err)
		}
	}
}

func TestJudge(t *testing.T) {
	a := func(values ...string) dns.Observation { return dns.Observation{Values: values} }
	failed := dns.Observation{Problem: "no answer in time"}
	want := dns.RecordSet{Type: dns.A, Values: []string{"192.0.2.1"}}
	for _, tt := range []struct {
		set  dns.RecordSet
		seen []dns.Observation
		want dns.Visibility
	}{
		{want, []dns.Observation{a("192.0.2.1"), failed}, dns.Visible},
		{want, []dns.Observation{a("192.0.2.1"), a()}, dns.Missing},
		{want, []dns.Observation{a(), a("192.0.2.2"), a("192.0.2.1")}, dns.Different},
		{want, []dns.Observation{failed, failed}, dns.Unknown},
		{dns.RecordSet{Type: dns.A}, []dns.Observation{a()}, dns.Visible},
		{dns.RecordSet{Type: dns.A}, []dns.Observation{a("192.0.2.1")}, dns.Different},
		{dns.RecordSet{Type: dns.TXT, Values: []string{"x"}}, []dns.Observation{a("x", "y")}, dns.Visible},
		{dns.RecordSet{Type: dns.TXT, Values: []string{"x"}}, []dns.Observation{a("y")}, dns.Missing},
	} {
		if got := Judge(tt.set, tt.seen); got != tt.want {
			t.Errorf("%+v, %+v: %s, want %s", tt.set, tt.seen, got, tt.want)
		}
	}
}
