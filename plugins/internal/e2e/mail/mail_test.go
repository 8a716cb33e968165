package mail

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/smtp"
	"net/url"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/mta"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// mailCore is a core with the mail service, and a Postfix that passes mail on to it.
type mailCore struct {
	*kit.Core
	relay *mta.Server
	key   string
}

// startMail starts both. Mail for inbox.test goes from Postfix to the core, which has the domain from the start.
func startMail(t *testing.T, s kit.Storage) *mailCore {
	t.Helper()
	return startMailWith(t, s, "", `domains = ["inbox.test"]`, "member")
}

// startMailWith is startMail with further blocks, with attributes of the service, and for a caller with a role.
func startMailWith(t testing.TB, s kit.Storage, blocks, attributes, role string) *mailCore {
	t.Helper()
	listen := testkit.FreeAddress(t)
	relay := mta.StartRelay(t, map[string]string{"inbox.test": listen})
	hcl := s.HCL + blocks + fmt.Sprintf(`
service "mail" {
  %s
  resolver = "127.0.0.1:1"
  smtp {
    listen   = %q
    hostname = "mx.inbox.test"
    tls_cert = %q
    tls_key  = %q
    # All mail comes from one address.
    rate_per_minute      = 0
    max_connections_each = 100
  }
}
`, attributes, listen, relay.CertFile, relay.KeyFile)
	m := &mailCore{Core: kit.StartCore(t, hcl), relay: relay}
	m.key = strings.TrimSpace(m.User("ada@example.com", role))
	return m
}

// api calls an endpoint of the mail service and decodes the answer.
func (m *mailCore) api(t testing.TB, method, path, body string, want int) map[string]any {
	t.Helper()
	status, raw, err := m.tryAPI(method, path, body)
	if err != nil || status != want {
		t.Fatalf("%s %s: %d %s %v", method, path, status, raw, err)
	}
	out := map[string]any{}
	_ = json.Unmarshal(raw, &out)
	return out
}

func (m *mailCore) tryAPI(method, path, body string) (int, []byte, error) {
	req, err := http.NewRequest(method, m.Base+"/mail/api/"+path, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+m.key)
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	return resp.StatusCode, raw, err
}

// subjects returns the subjects of all messages with how often each is there.
func (m *mailCore) subjects(t testing.TB) map[string]int {
	t.Helper()
	all, cursor := map[string]int{}, ""
	for {
		page := m.api(t, http.MethodGet, "messages?limit=200&cursor="+cursor, "", http.StatusOK)
		for _, item := range page["messages"].([]any) {
			all[item.(map[string]any)["subject"].(string)]++
		}
		next, more := page["nextCursor"].(string)
		if !more {
			return all
		}
		cursor = next
	}
}

// submit hands messages to Postfix on one connection.
func (m *mailCore) submit(to string, raw ...string) error {
	return m.submitFrom("ada@example.com", to, raw...)
}

func (m *mailCore) submitFrom(from, to string, raw ...string) error {
	c, err := smtp.Dial(fmt.Sprintf("127.0.0.1:%d", m.relay.Plain))
	if err != nil {
		return err
	}
	defer c.Close()
	for _, text := range raw {
		if err := c.Mail(from); err != nil {
			return err
		}
		if err := c.Rcpt(to); err != nil {
			return err
		}
		w, err := c.Data()
		if err != nil {
			return err
		}
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
		if err := w.Close(); err != nil {
			return err
		}
	}
	return c.Quit()
}

func TestMailComesFromPostfix(t *testing.T) {
	m := startMail(t, kit.Storage{})
	box := m.api(t, http.MethodPost, "mailboxes", `{"localPart":"box","subdomain":"desk","mailDomain":"inbox.test"}`, http.StatusCreated)
	waiting := make(chan map[string]any, 1)
	go func() {
		_, raw, _ := m.tryAPI(http.MethodGet, "messages/code?wait=30&mailbox=box@desk.inbox.test", "")
		out := map[string]any{}
		_ = json.Unmarshal(raw, &out)
		waiting <- out
	}()
	const body = "Your security code is A7K29Q.\r\n\r\n.a line that begins with a full stop\r\n"
	if err := m.submit("box@desk.inbox.test",
		"From: Ada <ada@example.com>\r\nTo: box@desk.inbox.test\r\nSubject: =?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n\r\n"+body); err != nil {
		t.Fatal(err)
	}
	found := <-waiting
	if found["code"] != "A7K29Q" {
		t.Fatalf("waiting for the code: %v\n%s", found, m.relay.Log())
	}
	id := found["messageId"].(string)
	detail := m.api(t, http.MethodGet, "messages/"+id, "", http.StatusOK)["message"].(map[string]any)
	if detail["subject"] != "Grüße" || detail["mailboxId"] != box["id"] || detail["tls"] != "TLS 1.3" ||
		detail["envelopeFrom"] != "ada@example.com" {
		t.Errorf("the message: %v", detail)
	}
	_, raw, err := m.tryAPI(http.MethodGet, "messages/"+id+"/raw", "")
	if err != nil || !strings.HasSuffix(string(raw), "\r\n\r\n"+body) || !strings.Contains(string(raw), "by mail.patchbay.test (Postfix)") {
		t.Errorf("the raw message: %q %v", raw, err)
	}
	if err := m.submit("nobody@desk.inbox.test", "Subject: x\r\n\r\ny\r\n"); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, 20*time.Second, "Postfix hears that there is no such mailbox", func() bool {
		return strings.Contains(m.relay.Log(), "550 5.1.1 Mailbox unavailable")
	})
	m.takesUTF8(t)
	m.takesBurst(t)
}

// takesUTF8 sends a message with an envelope and a header outside of ASCII through Postfix.
func (m *mailCore) takesUTF8(t *testing.T) {
	const sender, header = "用户@例子.example", "From: 用户 <用户@例子.example>\r\nSubject: 您好\r\n"
	if err := m.submitFrom(sender, "box@desk.inbox.test", header+"\r\n正文\r\n"); err != nil {
		t.Fatal(err)
	}
	kit.Eventually(t, 20*time.Second, "a message with SMTPUTF8 arrives", func() bool { return m.subjects(t)["您好"] == 1 })
	found := m.api(t, http.MethodGet, "messages?q="+url.QueryEscape("subject:您好"), "", http.StatusOK)["messages"].([]any)[0].(map[string]any)
	detail := m.api(t, http.MethodGet, "messages/"+found["id"].(string), "", http.StatusOK)["message"].(map[string]any)
	if detail["envelopeFrom"] != sender {
		t.Errorf("the envelope: %v", detail["envelopeFrom"])
	}
	if _, raw, err := m.tryAPI(http.MethodGet, "messages/"+found["id"].(string)+"/raw", ""); err != nil ||
		!strings.Contains(string(raw), header) || !strings.HasSuffix(string(raw), "\r\n\r\n正文\r\n") {
		t.Errorf("the raw message: %q %v", raw, err)
	}
}

// takesBurst has smtp-source of Postfix send messages on several connections as fast as it can: all are stored, once.
func (m *mailCore) takesBurst(t *testing.T) {
	const messages, sessions = 300, 12
	path, err := exec.LookPath("smtp-source")
	testkit.Require(t, "smtp-source", err == nil, "install Postfix")
	out, err := exec.CommandContext(t.Context(), path, "-s", fmt.Sprint(sessions), "-m", fmt.Sprint(messages), "-l", "10240", "-f",
		"ada@example.com", "-t", "box@desk.inbox.test", "-S", "burst", m.SMTPAddress()).CombinedOutput()
	if err != nil {
		t.Fatalf("smtp-source: %v %s", err, out)
	}
	// Every message was durable before it was acknowledged.
	if got := m.subjects(t)["burst"]; got != messages {
		t.Errorf("%d messages of %d are stored", got, messages)
	}
}

func TestNoMailIsLostWhenTheCoreIsKilled(t *testing.T) {
	kit.EachStorage(t, func(t *testing.T, s kit.Storage) {
		m := startMail(t, s)
		m.api(t, http.MethodPost, "mailboxes", `{"localPart":"box","subdomain":"desk","mailDomain":"inbox.test"}`, http.StatusCreated)
		const clients, each = 10, 100
		var senders sync.WaitGroup
		for n := range clients {
			senders.Go(func() {
				texts := make([]string, each)
				for i := range texts {
					texts[i] = fmt.Sprintf("From: ada@example.com\r\nSubject: %d\r\nMessage-ID: <%d@example.com>\r\n\r\n%s\r\n", n*each+i, n*each+i,
						strings.Repeat("engine ", 20))
				}
				if err := m.submit("box@desk.inbox.test", texts...); err != nil {
					t.Errorf("Postfix refuses a message: %v", err)
				}
			})
		}
		delivered := func() int { return strings.Count(m.relay.Log(), "status=sent") }
		for _, least := range []int{clients * each / 10, clients * each / 3} {
			kit.Eventually(t, 60*time.Second, fmt.Sprintf("%d messages are delivered", least), func() bool { return delivered() >= least })
			m.Kill()
			m.Start()
		}
		senders.Wait()
		kit.Eventually(t, 120*time.Second, "every message is delivered", func() bool { return delivered() >= clients*each })
		all := m.subjects(t)
		if len(all) != clients*each {
			t.Errorf("%d messages are stored, want %d", len(all), clients*each)
		}
		for subject, n := range all {
			if n != 1 {
				t.Errorf("message %s is stored %d times", subject, n)
			}
		}
	})
}
