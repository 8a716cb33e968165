package authresult

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ed25519"
	"encoding/base64"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/emersion/go-msgauth/dkim"
	"golang.org/x/net/dns/dnsmessage"
)

// zone is a DNS server with TXT records.
type zone map[string]string

// start answers queries on a loopback port until the test ends. A name with the value "silent" gets no answer.
func (z zone) start(t *testing.T) string {
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
			if query.Unpack(buffer[:n]) != nil || len(query.Questions) != 1 {
				continue
			}
			if answer := z.answer(query); answer != nil {
				_, _ = conn.WriteTo(answer, from)
			}
		}
	}()
	return conn.LocalAddr().String()
}

func (z zone) answer(query dnsmessage.Message) []byte {
	question := query.Questions[0]
	text, ok := z[strings.TrimSuffix(question.Name.String(), ".")]
	if text == "silent" {
		return nil
	}
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: query.ID, Response: true, RecursionAvailable: true}, Questions: query.Questions}
	switch {
	case !ok:
		reply.RCode = dnsmessage.RCodeNameError
	case question.Type == dnsmessage.TypeTXT:
		reply.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: question.Name, Type: dnsmessage.TypeTXT, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &dnsmessage.TXTResource{TXT: []string{text}},
		}}
	}
	packed, _ := reply.Pack()
	return packed
}

const unsigned = "From: Ada Lovelace <ada@mail.example.com>\r\nTo: box@inbox.test\r\nSubject: Hello\r\n\r\nHello!\r\n"

// signedBy returns the message with a signature of a domain, and the record of its key.
func signedBy(t *testing.T, domain string) (raw, record string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	err = dkim.Sign(&out, strings.NewReader(unsigned), &dkim.SignOptions{Domain: domain, Selector: "key", Signer: crypto.Signer(private)})
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), "v=DKIM1; k=ed25519; p=" + base64.StdEncoding.EncodeToString(public)
}

func TestCheck(t *testing.T) {
	signed, key := signedBy(t, "example.com")
	foreign, foreignKey := signedBy(t, "other.test")
	client := net.ParseIP("192.0.2.1")
	for _, test := range []struct {
		name         string
		zone         zone
		raw          string
		client       net.IP
		envelopeFrom string
		spf, dmarc   Value
		dkim         []Value
		policy       string
	}{
		{
			name: "everything passes", raw: signed, client: client, envelopeFrom: "bounce@example.com",
			zone: zone{"example.com": "v=spf1 ip4:192.0.2.1 -all", "key._domainkey.example.com": key, "_dmarc.example.com": "v=DMARC1; p=reject"},
			spf:  Pass, dkim: []Value{Pass}, dmarc: Pass, policy: "reject",
		},
		{
			name: "another host", raw: unsigned, client: net.ParseIP("192.0.2.9"), envelopeFrom: "bounce@example.com",
			zone: zone{"example.com": "v=spf1 ip4:192.0.2.1 -all", "_dmarc.example.com": "v=DMARC1; p=reject; sp=quarantine"},
			spf:  Fail, dmarc: Fail, policy: "quarantine",
		},
		{
			name: "passes for a domain that is not aligned", raw: foreign, client: client, envelopeFrom: "bounce@other.test",
			zone: zone{"other.test": "v=spf1 ip4:192.0.2.1 -all", "key._domainkey.other.test": foreignKey, "_dmarc.example.com": "v=DMARC1; p=none"},
			spf:  Pass, dkim: []Value{Pass}, dmarc: Fail, policy: "none",
		},
		{
			name: "strict alignment", raw: signed, client: client, envelopeFrom: "bounce@example.com",
			zone: zone{"example.com": "v=spf1 ip4:192.0.2.1 -all", "key._domainkey.example.com": key,
				"_dmarc.mail.example.com": "v=DMARC1; p=reject; adkim=s; aspf=s"},
			spf: Pass, dkim: []Value{Pass}, dmarc: Fail, policy: "reject",
		},
		{
			name: "a changed body", raw: strings.Replace(signed, "Hello!", "Hullo!", 1), client: client, envelopeFrom: "bounce@example.com",
			zone: zone{"key._domainkey.example.com": key, "_dmarc.example.com": "v=DMARC1; p=none"},
			spf:  None, dkim: []Value{Fail}, dmarc: Fail, policy: "none",
		},
		{
			name: "no records", raw: signed, client: client, envelopeFrom: "bounce@example.com", zone: zone{},
			spf: None, dkim: []Value{PermError}, dmarc: None,
		},
		{
			name: "a bounce and an unknown host", raw: unsigned, zone: zone{"_dmarc.example.com": "v=DMARC1; p=none"},
			spf: None, dmarc: Fail, policy: "none",
		},
		{
			name: "the DNS is silent", raw: signed, client: client, envelopeFrom: "bounce@example.com",
			zone: zone{"example.com": "silent", "key._domainkey.example.com": "silent", "_dmarc.mail.example.com": "silent"},
			spf:  TempError, dkim: []Value{TempError}, dmarc: TempError,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			checker := New(NewResolver(test.zone.start(t)), time.Second)
			got := checker.Check(context.Background(), Message{
				Client: test.client, Helo: "mail.example.com", EnvelopeFrom: test.envelopeFrom, From: "ada@mail.example.com",
				Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(test.raw)), nil },
			})
			if got.SPF.Result != test.spf || got.DMARC.Result != test.dmarc || got.Policy != test.policy || len(got.DKIM) != len(test.dkim) {
				t.Fatalf("got %+v", got)
			}
			for i, want := range test.dkim {
				if got.DKIM[i].Result != want {
					t.Errorf("signature %d: %+v", i, got.DKIM[i])
				}
			}
		})
	}
}
