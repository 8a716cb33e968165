package mail

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// maxSteps bounds the requests of one operation.
const maxSteps = 40

// domainStep is an operation on a mail domain that takes several requests to the vendor.
type domainStep struct {
	name, path string
	// body returns the request of a try.
	body func(n int, lost bool) string
	// done reports whether an answer says that the operation has been done.
	done func(status int, domain map[string]any) bool
}

// TestMailDomainWhileVendorIsDown: the vendor goes down before each request of an operation, and after each of them before its
// answer. The operation is refused or noted as failed, never half done and called done, and the next try does all of it.
func TestMailDomainWhileVendorIsDown(t *testing.T) {
	t.Parallel()
	for name, start := range startDNSVendors() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := start(t)
			m := &mailCore{Core: kit.StartCore(t, v.hcl+"\nservice \"mail\" {\n  dns = dns.vendor\n  resolver = \"127.0.0.1:1\"\n  mx_host = \"mx.inbox.test\"\n}\n")}
			m.key = strings.TrimSpace(m.User("ada@example.com", "admin"))
			before := v.dump(t)
			active := func(status int, d map[string]any) bool { return status < 300 && d["status"] == "active" }
			catchAll := func(on bool) func(int, map[string]any) bool {
				return func(status int, d map[string]any) bool { return status < 300 && d["catchAllEnabled"] == on }
			}
			bind := domainStep{"bind", "domains/bind", func(n int, lost bool) string {
				if lost {
					return fmt.Sprintf(`{"mailDomain":"lost-%d.test"}`, n)
				}
				return `{"mailDomain":"inbox.test"}`
			}, active}
			bound := m.breakEach(t, v, bind, func(d map[string]any) {
				if d["bindingSource"] != "project_bind" {
					// The answer to the making of the zone was lost. Nobody knows who made it, so that it is not deleted.
					before = v.dump(t)
					return
				}
				m.api(t, http.MethodPost, "domains/"+d["id"].(string)+"/delete", "", http.StatusNoContent)
				if got := v.dump(t); got != before {
					t.Fatalf("without the domain the vendor has\n%s\nwant\n%s", got, before)
				}
			})
			if !v.routed.MatchString(bound) {
				t.Fatalf("the vendor has\n%s", bound)
			}
			at := "domains/" + m.api(t, http.MethodGet, "domains", "", http.StatusOK)["domains"].([]any)[0].(map[string]any)["id"].(string)
			enable := domainStep{"enable", at + "/catch-all/enable", noBody, catchAll(true)}
			disable := domainStep{"disable", at + "/catch-all/disable", noBody, catchAll(false)}
			m.breakEach(t, v, enable, func(map[string]any) {
				m.api(t, http.MethodPost, disable.path, "", http.StatusOK)
				if got := v.dump(t); got != bound {
					t.Fatalf("without the catch-all the vendor has\n%s\nwant\n%s", got, bound)
				}
			})
			if got := m.breakEach(t, v, disable, func(map[string]any) { m.api(t, http.MethodPost, enable.path, "", http.StatusOK) }); got != bound {
				t.Errorf("without the catch-all the vendor has\n%s\nwant\n%s", got, bound)
			}
		})
	}
}

func noBody(int, bool) string { return "" }

// breakEach runs an operation with a vendor that goes down after 0, 1, 2 and more requests, each time with the second try that
// must work, and takes it back with undo, until the vendor goes down too late to matter. It returns what the vendor has then.
func (m *mailCore) breakEach(t *testing.T, v *dnsVendor, s domainStep, undo func(domain map[string]any)) string {
	t.Helper()
	for n := range maxSteps {
		for _, lost := range []bool{false, true} {
			if n == 0 && lost {
				continue
			}
			repair := v.proxy.GoDownAfter(n, lost)
			status, raw, err := m.tryAPI(http.MethodPost, s.path, s.body(n, lost))
			repair()
			what := fmt.Sprintf("%s, down after %d requests, the last answer lost: %t", s.name, n, lost)
			domain := map[string]any{}
			if err != nil || json.Unmarshal(raw, &domain) != nil {
				t.Fatalf("%s: %s %v", what, raw, err)
			}
			whole := s.done(status, domain)
			if !whole {
				failed := status == http.StatusBadGateway && domain["code"] == "upstream_unavailable"
				if noted, _ := domain["lastProvisionError"].(string); !failed && noted == "" {
					t.Errorf("%s: %d %s", what, status, raw)
				}
				status, raw, err = m.tryAPI(http.MethodPost, s.path, s.body(n, lost))
				if clear(domain); err != nil || json.Unmarshal(raw, &domain) != nil || !s.done(status, domain) {
					t.Fatalf("%s, tried again: %d %s %v", what, status, raw, err)
				}
			}
			if whole && !lost {
				return v.dump(t)
			}
			undo(domain)
		}
	}
	t.Fatalf("%s takes more than %d requests", s.name, maxSteps)
	return ""
}
