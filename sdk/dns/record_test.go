package dns_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/sdk/dns"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

func TestNormalized(t *testing.T) {
	for _, tt := range []struct {
		recordType   dns.Type
		values, want []string
	}{
		{dns.A, []string{"192.0.2.2", "192.0.2.1", "192.0.2.2"}, []string{"192.0.2.1", "192.0.2.2"}},
		{dns.AAAA, []string{"2001:DB8:0::1"}, []string{"2001:db8::1"}},
		{dns.CNAME, []string{"Mail.Example.COM."}, []string{"mail.example.com"}},
		{dns.MX, []string{"010  Mail.example.com.", "0 ."}, []string{"0 .", "10 mail.example.com"}},
		{dns.TXT, []string{`v=spf1 "x" \`}, []string{`v=spf1 "x" \`}},
	} {
		got, err := dns.RecordSet{Name: "*.A.Example.com.", Type: tt.recordType, Values: tt.values}.Normalized()
		if err != nil || got.Name != "*.a.example.com" || !slices.Equal(got.Values, tt.want) {
			t.Errorf("%s %q: %+v, %v", tt.recordType, tt.values, got, err)
		}
	}
	for value, recordType := range map[string]dns.Type{
		"192.0.2.256": dns.A, "::1": dns.A, "192.0.2.1": dns.AAAA, "fe80::1%eth0": dns.AAAA, "a b": dns.CNAME, "*.example.com": dns.CNAME,
		"mail.example.com":       dns.MX,
		"65536 mail.example.com": dns.MX, "-1 mail.example.com": dns.MX, "": dns.TXT, "a\x00b": dns.TXT,
		strings.Repeat("x", dns.MaxText+1): dns.TXT,
	} {
		_, err := dns.RecordSet{Name: "a.example.com", Type: recordType, Values: []string{value}}.Normalized()
		if e := errs.From(err); e == nil || e.Reason != dns.ReasonInvalidRequest || e.Source != errs.Caller {
			t.Errorf("%s %.30q: %v", recordType, value, err)
		}
	}
}

func TestLongestZone(t *testing.T) {
	zones := []dns.Zone{{ID: "1", Name: "example.com"}, {ID: "2", Name: "sub.example.com"}, {ID: "3", Name: "ple.com"}}
	for name, want := range map[string]string{"example.com": "1", "a.example.com": "1", "sub.example.com": "2", "a.b.sub.example.com": "2",
		"xsub.example.com": "1"} {
		if got, err := dns.LongestZone(zones, name); err != nil || got.ID != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if _, err := dns.LongestZone(zones, "xexample.com"); err == nil || errs.From(err).Reason != dns.ReasonNoZone {
		t.Errorf("%v", err)
	}
}

func TestIsLocal(t *testing.T) {
	for name, want := range map[string]bool{"localhost": true, "mail.LOCALHOST.": true, "notlocalhost": false,
		"localhost.example.com": false} {
		if dns.IsLocal(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}
