package mail

import (
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/cloudflaretest"
	"github.com/patchbay-dev/patchbay/plugins/internal/dnstest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// dnsVendor is a vendor of DNS that the mail service is bound to, as the instance dns.vendor.
type dnsVendor struct {
	// hcl declares the instance, whose requests go through proxy.
	hcl   string
	proxy *dnstest.Proxy
	// dump returns all that the vendor has: by its API, and by its name server where there is one.
	dump func(t testing.TB) string
	// routed matches the part of a dump that brings mail for inbox.test to us.
	routed *regexp.Regexp
	// rule is whether the vendor has a rule for each mailbox.
	rule bool
}

// startDNSVendors are the vendors, a real PowerDNS and the stand-in of Cloudflare.
func startDNSVendors() map[string]func(*testing.T) *dnsVendor {
	return map[string]func(*testing.T) *dnsVendor{"powerdns": startPowerDNS, "cloudflare": startCloudflare}
}

// askVendor returns the answer of a vendor's API.
func askVendor(t testing.TB, url, header, value string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set(header, value)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("GET %s: %d %s %v", url, resp.StatusCode, raw, err)
	}
	return string(raw) + "\n"
}

var zoneNames = regexp.MustCompile(`"name": ?"([a-z0-9-]+\.test)\.?"`)

// startPowerDNS runs PowerDNS with a zone that is not ours.
func startPowerDNS(t *testing.T) *dnsVendor {
	s := dnstest.StartPowerDNS(t, "other.test")
	dig, err := exec.LookPath("dig")
	testkit.Require(t, "dig", err == nil, "install Debian's package bind9-dnsutils")
	host, port, _ := strings.Cut(s.Addr, ":")
	zones := s.URL + "/api/v1/servers/localhost/zones"
	v := &dnsVendor{proxy: dnstest.NewProxy(t, s.URL),
		routed: regexp.MustCompile(`(?m)^inbox\.test\.\s+3600\s+IN\s+MX\s+10 mx\.inbox\.test\.$`)}
	v.hcl = fmt.Sprintf("dns \"powerdns\" \"vendor\" {\n  config {\n    api_url = %q\n    api_key = %q\n    name_servers = [\"ns1.example.net\"]\n    resolvers = [%q]\n  }\n}\n", v.proxy.URL, s.Key, s.Addr)
	v.dump = func(t testing.TB) string {
		t.Helper()
		list := askVendor(t, zones, "X-API-Key", s.Key)
		out := []string{list}
		for _, zone := range zoneNames.FindAllStringSubmatch(list, -1) {
			out = append(out, askVendor(t, zones+"/"+zone[1]+".", "X-API-Key", s.Key))
			answer, err := exec.Command(dig, "@"+host, "-p", port, "+noall", "+answer", "+onesoa", "AXFR", zone[1]).CombinedOutput()
			if err != nil {
				t.Fatalf("dig: %v %s", err, answer)
			}
			out = append(out, string(answer))
		}
		return strings.Join(out, "")
	}
	return v
}

// startCloudflare runs the stand-in with a zone that is not ours.
func startCloudflare(t *testing.T) *dnsVendor {
	s := cloudflaretest.New(t)
	s.AddRule(s.AddZone("other.test"), "ada@other.test")
	origin, path, _ := strings.Cut(s.URL, "/client/")
	v := &dnsVendor{proxy: dnstest.NewProxy(t, origin), rule: true,
		routed: regexp.MustCompile(`"name":"inbox\.test","type":"MX","content":"route1\.mx\.cloudflare\.net"`)}
	v.hcl = fmt.Sprintf("dns \"cloudflare\" \"vendor\" {\n  config {\n    base_url = %q\n    api_token = %q\n    account_id = %q\n    worker = %q\n  }\n}\n",
		v.proxy.URL+"/client/"+path, cloudflaretest.Token, cloudflaretest.Account, cloudflaretest.Worker)
	v.dump = func(t testing.TB) string {
		t.Helper()
		ask := func(path string) string {
			return askVendor(t, s.URL+path, "Authorization", "Bearer "+cloudflaretest.Token)
		}
		out := ask("/zones?page=1&per_page=50")
		for _, zone := range regexp.MustCompile(`"id":"([0-9a-f]{32})"`).FindAllStringSubmatch(out, -1) {
			at := "/zones/" + zone[1]
			out += ask(at+"/dns_records?page=1&per_page=50") + ask(at+"/email/routing/rules?page=1&per_page=50") +
				ask(at+"/email/routing/rules/catch_all")
		}
		return out
	}
	return v
}

// message returns the text of a mail that Postfix adds nothing to, besides Received fields at its beginning.
func message(to, id string) string {
	return "From: Ada <ada@example.com>\r\nTo: " + to + "\r\nSubject: " + id + "\r\nDate: Sat, 21 Nov 2026 10:00:00 +0000\r\nMessage-ID: <" +
		id + "@example.com>\r\n\r\nHello\t \r\n.\r\n..\r\n"
}

// arrives sends a mail to an address and returns the message that is stored, whose raw bytes are those that were sent.
func (m *mailCore) arrives(t testing.TB, to, id string) {
	t.Helper()
	text := message(to, id)
	if err := m.submit(to, text); err != nil {
		t.Fatal(err)
	}
	found, _ := m.api(t, http.MethodGet, "messages?wait=30&mailbox="+to, "", http.StatusOK)["messages"].([]any)
	if len(found) != 1 {
		t.Fatalf("%s has %d messages\n%s", to, len(found), m.relay.Log())
	}
	_, raw, err := m.tryAPI(http.MethodGet, "messages/"+found[0].(map[string]any)["id"].(string)+"/raw", "")
	if err != nil || !strings.HasSuffix(string(raw), "\r\n"+text) || !strings.HasPrefix(string(raw), "Received: ") {
		t.Errorf("the raw message: %q %v", raw, err)
	}
}

// isRefused sends a mail to an address, of which Postfix hears that it is unknown.
func (m *mailCore) isRefused(t testing.TB, to, id string) {
	t.Helper()
	if err := m.submit(to, message(to, id)); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, 20*time.Second, "Postfix hears that there is no mailbox "+to, func() bool {
		return regexp.MustCompile(`to=<` + regexp.QuoteMeta(to) + `>.*status=bounced.* 550 5\.1\.1 `).MatchString(m.relay.Log())
	})
}

// TestMailDomainAtVendors: a domain is added by the API, mail comes from Postfix to a mailbox that the API made, the catch-all
// makes mailboxes while it is on, and leaves nothing behind at the vendor.
func TestMailDomainAtVendors(t *testing.T) {
	t.Parallel()
	for name, start := range startDNSVendors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := start(t)
			m := startMailWith(t, kit.Storage{}, v.hcl, "dns = dns.vendor", "admin")
			before := v.dump(t)
			bound := m.api(t, http.MethodPost, "domains/bind", `{"mailDomain":"inbox.test"}`, http.StatusCreated)
			at := "domains/" + bound["id"].(string)
			if bound["status"] != "active" || !v.routed.MatchString(v.dump(t)) {
				t.Fatalf("the domain is %v, the vendor has\n%s", bound, v.dump(t))
			}
			for _, record := range bound["records"].([]any) {
				if record.(map[string]any)["state"] != "visible" {
					t.Errorf("the record %v cannot be seen", record)
				}
			}
			box := m.api(t, http.MethodPost, "mailboxes", `{"localPart":"box","subdomain":"desk","mailDomain":"inbox.test"}`, http.StatusCreated)
			if got := strings.Contains(v.dump(t), "box@desk.inbox.test"); got != v.rule {
				t.Errorf("the vendor has a rule: %t, want %t", got, v.rule)
			}
			m.arrives(t, "box@desk.inbox.test", "one")
			m.isRefused(t, "shop@inbox.test", "two")

			off := v.dump(t)
			m.api(t, http.MethodPost, at+"/catch-all/enable", "", http.StatusOK)
			if on := v.dump(t); (on != off) != v.rule {
				t.Errorf("with the catch-all the vendor has\n%s", on)
			}
			m.arrives(t, "shop@inbox.test", "three")
			caught := m.api(t, http.MethodGet, "mailboxes/resolve?address=shop@inbox.test", "", http.StatusOK)
			if caught["source"] != "catch_all" {
				t.Errorf("the mailbox is %v", caught)
			}
			m.api(t, http.MethodPost, at+"/catch-all/disable", "", http.StatusOK)
			if got := v.dump(t); got != off {
				t.Errorf("without the catch-all the vendor has\n%s\nwant\n%s", got, off)
			}
			m.isRefused(t, "other@inbox.test", "four")

			for _, b := range []map[string]any{box, caught} {
				m.api(t, http.MethodDelete, "mailboxes/"+b["id"].(string), "", http.StatusOK)
			}
			m.api(t, http.MethodPost, at+"/delete", "", http.StatusNoContent)
			if got := v.dump(t); got != before {
				t.Errorf("without the domain the vendor has\n%s\nwant\n%s", got, before)
			}
		})
	}
}
