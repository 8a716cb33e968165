package deploycheck

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/dns/dnsmessage"
)

// zone is a DNS server: its records by type and name, such as "MX inbox.test.".
type zone map[string][]string

// start answers queries on a loopback port until the test ends, and returns a resolver that asks it. A record "broken" makes the
// server fail.
func (z zone) start(t *testing.T) *net.Resolver {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			var query dnsmessage.Message
			if query.Unpack(buffer[:n]) == nil && len(query.Questions) == 1 {
				go func() {
					reply := z.answer(query)
					if len(reply.Answers) == 0 && reply.RCode != dnsmessage.RCodeServerFailure {
						// That there is no address of one family is heard last.
						time.Sleep(20 * time.Millisecond)
					}
					packed, _ := reply.Pack()
					_, _ = conn.WriteTo(packed, from)
				}()
			}
		}
	}()
	var dialer net.Dialer
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return dialer.DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (z zone) answer(query dnsmessage.Message) *dnsmessage.Message {
	q := query.Questions[0]
	reply := &dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true}, Questions: query.Questions}
	values := z[strings.TrimPrefix(q.Type.String(), "Type")+" "+q.Name.String()]
	if len(values) == 0 {
		reply.RCode = dnsmessage.RCodeNameError
	}
	for _, value := range values {
		var body dnsmessage.ResourceBody
		switch {
		case value == "broken":
			reply.RCode = dnsmessage.RCodeServerFailure
			return reply
		case q.Type == dnsmessage.TypeMX:
			body = &dnsmessage.MXResource{Pref: 10, MX: dnsmessage.MustNewName(value)}
		case q.Type == dnsmessage.TypeA:
			body = &dnsmessage.AResource{A: [4]byte(net.ParseIP(value).To4())}
		case q.Type == dnsmessage.TypePTR:
			body = &dnsmessage.PTRResource{PTR: dnsmessage.MustNewName(value)}
		}
		reply.Answers = append(reply.Answers, dnsmessage.Resource{Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type,
			Class: dnsmessage.ClassINET, TTL: 60}, Body: body})
	}
	return reply
}

// greeter listens on a loopback address that /etc/hosts does not name, greets, and returns the port.
func greeter(t *testing.T, greeting string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.9:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(greeting))
			_ = conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// certificate writes a certificate for a name that is valid for a time from a day before now, and returns its files.
func certificate(t *testing.T, name string, from time.Time, valid time.Duration) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: from,
		NotAfter: from.Add(valid)}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for file, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: der},
		"key.pem": {Type: "EC PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, file), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
}

const day = 24 * time.Hour

// texts returns the texts that pages translate.
func texts(t *testing.T) map[string]bool {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "pages", "locales", "en.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for id, text := range all {
		if s, ok := text.(string); ok && strings.HasPrefix(id, "detail.") {
			out[s] = true
		}
	}
	return out
}

// TestChecks: each check passes where all is well and names what is wrong, with a remedy, where it is not; pages know the words of all
// of them.
func TestChecks(t *testing.T) {
	known := texts(t)
	now := time.Now()
	good := func() zone {
		return zone{"MX inbox.test.": {"mx.inbox.test."}, "A mx.inbox.test.": {"127.0.0.9"}, "PTR 9.0.0.127.in-addr.arpa.": {"mx.inbox.test."}}
	}
	cert, key := certificate(t, "mx.inbox.test", now.Add(-day), 90*day)
	open := greeter(t, "220 mx.inbox.test ESMTP\r\n")
	for name, test := range map[string]struct {
		zone   func(zone)
		change func(*Config)
		// want are the checks that fail, by id, with a part of their summary; none if all pass.
		want map[string]string
	}{
		"all is well": {},
		"no MX":       {zone: func(z zone) { delete(z, "MX inbox.test.") }, want: map[string]string{"mx": "no MX record"}},
		"MX elsewhere": {zone: func(z zone) { z["MX inbox.test."] = []string{"mx.other.test."} },
			want: map[string]string{"mx": "name other hosts"}},
		"one of two MX": {zone: func(z zone) { z["MX inbox.test."] = []string{"mx.other.test.", "MX.inbox.test."} }},
		"MX unknown": {zone: func(z zone) { z["MX inbox.test."] = []string{"broken"} },
			want: map[string]string{"mx": "could not be looked up"}},
		"no host":    {change: func(c *Config) { c.Host = "" }, want: map[string]string{"mx": "is not known"}},
		"no address": {zone: func(z zone) { delete(z, "A mx.inbox.test.") }, want: map[string]string{"address": "no address"}},
		"address unknown": {zone: func(z zone) { z["A mx.inbox.test."] = []string{"broken"} },
			want: map[string]string{"address": "could not be looked up"}},
		"port closed": {change: func(c *Config) { c.Port = "1" }, want: map[string]string{"port": "does not answer"}},
		"no mail server": {change: func(c *Config) { c.Port = greeter(t, "SSH-2.0-x\r\n") },
			want: map[string]string{"port": "is no mail server"}},
		"another server": {change: func(c *Config) { c.Port = greeter(t, "220 mx.other.test ESMTP\r\n") },
			want: map[string]string{"port": "Another mail server"}},
		"endless line": {change: func(c *Config) { c.Port = greeter(t, strings.Repeat("220", 5000)) },
			want: map[string]string{"port": "is no mail server"}},
		"no reverse": {zone: func(z zone) { delete(z, "PTR 9.0.0.127.in-addr.arpa.") },
			want: map[string]string{"reverse": "has no reverse name"}},
		"other reverse": {zone: func(z zone) { z["PTR 9.0.0.127.in-addr.arpa."] = []string{"host-1.isp.test."} },
			want: map[string]string{"reverse": "another one"}},
		"reverse unknown": {zone: func(z zone) { z["PTR 9.0.0.127.in-addr.arpa."] = []string{"broken"} },
			want: map[string]string{"reverse": "could not be looked up"}},
		"loopback": {change: func(c *Config) { c.Listeners[0].Address = "127.0.0.1:2525" },
			want: map[string]string{"listener": "this machine alone"}},
		"no listener": {change: func(c *Config) { c.Listeners = nil }, want: map[string]string{"port": "Another mail server"}},
		"no certificate": {change: func(c *Config) { c.Listeners[0].CertFile = "" },
			want: map[string]string{"certificate": "without encryption"}},
		"unreadable": {change: func(c *Config) { c.Listeners[0].KeyFile = "/nowhere" },
			want: map[string]string{"certificate": "cannot be read"}},
		"expired": {change: func(c *Config) { c.Now = func() time.Time { return now.Add(100 * day) } },
			want: map[string]string{"certificate": "has expired"}},
		"expires": {change: func(c *Config) { c.Now = func() time.Time { return now.Add(80 * day) } },
			want: map[string]string{"certificate": "within two weeks"}},
		"not valid yet": {change: func(c *Config) { c.Now = func() time.Time { return now.Add(-10 * day) } },
			want: map[string]string{"certificate": "not valid yet"}},
		"other name": {change: func(c *Config) {
			c.Listeners[0].CertFile, c.Listeners[0].KeyFile = certificate(t, "www.inbox.test", now.Add(-day), 90*day)
		}, want: map[string]string{"certificate": "for other names"}},
		"no domain": {change: func(c *Config) { c.Domains = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			z := good()
			if test.zone != nil {
				test.zone(z)
			}
			cfg := Config{Resolver: z.start(t), Host: "mx.inbox.test", Domains: []string{"inbox.test"}, Port: open,
				Listeners: []Listener{{Address: "0.0.0.0:25", Hostname: "mx.inbox.test", CertFile: cert, KeyFile: key}}}
			if test.change != nil {
				test.change(&cfg)
			}
			failed := map[string]string{}
			for _, c := range Run(t.Context(), cfg) {
				if c.Status == Fail {
					failed[c.ID] = c.Summary
				}
				if (c.Status == Fail) != (c.Remedy != "") || !known[c.Summary] || c.Remedy != "" && !known[c.Remedy] {
					t.Errorf("%+v: a remedy is missing or too much, or pages do not know its words", c)
				}
			}
			if len(failed) != len(test.want) {
				t.Errorf("failed: %v, want %v", failed, test.want)
			}
			for id, part := range test.want {
				if !strings.Contains(failed[id], part) {
					t.Errorf("%s says %q, want %q", id, failed[id], part)
				}
			}
		})
	}
}
