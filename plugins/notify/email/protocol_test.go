package email_test

import (
	"encoding/base64"
	"net"
	"strconv"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

func port(n int) string { return strconv.Itoa(n) }

const secret = "s3cret-0815"

func TestOddServers(t *testing.T) {
	plain := base64.StdEncoding.EncodeToString([]byte("\x00user\x00" + secret))
	auth := map[string]string{"EHLO": "250-hello\r\n250 AUTH PLAIN", "AUTH": "535 5.7.8 no " + plain + " or " + secret}
	for _, tt := range []struct {
		name    string
		answers map[string]string
		want    notify.Outcome
		reason  string
		words   string
	}{
		{"good", nil, notify.Delivered, "", ""},
		{"lost after the end", map[string]string{".": "drop"}, notify.Uncertain, notify.ReasonOutcomeUnknown, "the connection ended"},
		{"silent after the end", map[string]string{".": "hang"}, notify.Uncertain, notify.ReasonOutcomeUnknown, "no answer in time"},
		{"refused after the end", map[string]string{".": "554 5.7.1 spam"}, notify.Refused, errs.ReasonStatus, "554 5.7.1 spam"},
		{"deferred after the end", map[string]string{".": "451 4.3.0 later"}, notify.Retryable, errs.ReasonStatus, "451 4.3.0 later"},
		{"no DATA", map[string]string{"DATA": "452 4.3.1 full"}, notify.Retryable, errs.ReasonStatus, "452"},
		{"lost before the text", map[string]string{"DATA": "drop"}, notify.Retryable, errs.ReasonProtocol, "the connection ended"},
		{"silent before the text", map[string]string{"MAIL": "hang"}, notify.Retryable, errs.ReasonTimeout, "no answer in time"},
		{"sender refused", map[string]string{"MAIL": "553 5.1.8 bad sender"}, notify.Refused, errs.ReasonStatus, "bad sender"},
		{"closing", map[string]string{"RCPT": "421 4.3.2 closing"}, notify.Retryable, errs.ReasonStatus, "421"},
		{"busy", map[string]string{"greeting": "421 4.3.2 busy"}, notify.Retryable, errs.ReasonStatus, "421"},
		{"no service", map[string]string{"greeting": "554 5.3.2 no service"}, notify.Refused, errs.ReasonStatus, "554"},
		{"no SMTP", map[string]string{"greeting": "HTTP/1.1 400 Bad Request"}, notify.Retryable, errs.ReasonProtocol, "not SMTP"},
		{"STARTTLS fails", map[string]string{"EHLO": "250-hello\r\n250 STARTTLS", "STARTTLS": "454 4.7.0 not now"}, notify.Retryable,
			errs.ReasonStatus, "454"},
		{"STARTTLS ends", map[string]string{"EHLO": "250-hello\r\n250 STARTTLS", "STARTTLS": "drop"}, notify.Retryable, errs.ReasonProtocol,
			"starting TLS"},
		{"the password comes back", auth, notify.Refused, "AUTH_FAILED", "535 5.7.8 no (password) or (password)"},
		{"no AUTH", map[string]string{"EHLO": "250 hello"}, notify.Delivered, "", ""},
		{"old", map[string]string{"EHLO": "502 unknown", "HELO": "250 hello"}, notify.Delivered, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			user := ""
			if tt.answers["AUTH"] != "" {
				user = "user:" + secret + "@"
			}
			c, out := client(t, `{"timeout":"400ms"}`)
			_, err := c.Send(t.Context(), finished(), to("smtp://"+user+script(t, "127.0.0.1", tt.answers)+"/?to=a@example.com"))
			e := errs.From(err)
			if got := notify.OutcomeOf(err); got != tt.want || err != nil && (e.Reason != tt.reason || !strings.Contains(e.Message, tt.words)) {
				t.Errorf("%s, %+v", got, e)
			}
			if err != nil && (strings.Contains(err.Error(), secret) || strings.Contains(err.Error(), plain)) ||
				strings.Contains(out.String(), secret) {
				t.Errorf("the password is told: %v\n%s", err, out)
			}
		})
	}
}

func TestNobodyListens(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	for _, scheme := range []string{"smtp", "smtps"} {
		c, _ := client(t, `{}`)
		_, err := c.Send(t.Context(), finished(), to(scheme+"://"+address+"/?to=a@example.com"))
		if e := errs.From(err); notify.OutcomeOf(err) != notify.Retryable || e.Reason != errs.ReasonConnect ||
			!strings.Contains(e.Message, "refused") {
			t.Errorf("%s: %v", scheme, err)
		}
	}
}

// A password leaves the machine over an encrypted connection only.
func TestPasswordNeedsEncryption(t *testing.T) {
	own := ownAddress()
	testkit.Require(t, "an address besides loopback", own != "", "connect the machine to a network")
	for _, query := range []string{"", "&tls=none", "&tls=opportunistic"} {
		server := script(t, own, map[string]string{"EHLO": "250-hello\r\n250 AUTH PLAIN", "AUTH": "235 welcome"})
		c, _ := client(t, `{}`)
		_, err := c.Send(t.Context(), finished(), to("smtp://user:"+secret+"@"+server+"/?to=a@example.com"+query))
		if e := errs.From(err); notify.OutcomeOf(err) != notify.Refused || e.Reason != "TLS_MISSING" {
			t.Errorf("%s: %v", query, err)
		}
		if _, err := c.Send(t.Context(), finished(), to("smtp://"+server+"/?to=a@example.com"+query)); err != nil {
			t.Errorf("%s without a password: %v", query, err)
		}
	}
}

// ownAddress is an IPv4 address of the machine that is not loopback, or empty.
func ownAddress() string {
	all, _ := net.InterfaceAddrs()
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && n.IP.To4() != nil {
			return n.IP.String()
		}
	}
	return ""
}

// A recipient reaches no server in a private network that the configuration does not name, by address or by name.
func TestPrivateServersAreRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c, _ := guardedClient(t, `{"allow_hosts":["10.0.0.0/8"]}`)
	for host, reason := range map[string]string{
		"127.0.0.1": "INVALID_TARGET", "[::1]": "INVALID_TARGET", "169.254.169.254": "INVALID_TARGET", "192.168.0.1": "INVALID_TARGET",
		"localhost": httpx.ReasonRefused,
	} {
		target := to("smtp://" + host + ":" + port + "/?to=a@example.com")
		_, err := c.Send(t.Context(), finished(), target)
		if e := errs.From(err); notify.OutcomeOf(err) != notify.Refused || e.Reason != reason || !strings.Contains(e.Message, "allow_hosts") {
			t.Errorf("%s: %v", host, err)
		}
		ds, err := c.ValidateTarget(t.Context(), target)
		if err != nil || ds.HasErrors() != (reason == "INVALID_TARGET") {
			t.Errorf("%s: is stored with %v, %v", host, ds, err)
		}
	}
	own, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	first, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if first.RemoteAddr().String() != own.LocalAddr().String() {
		t.Errorf("the server was reached from %s", first.RemoteAddr())
	}
	if ds, err := c.ValidateTarget(t.Context(), to("smtp://10.1.2.3/?to=a@example.com")); err != nil || ds.HasErrors() {
		t.Errorf("what is permitted: %v, %v", ds, err)
	}
}
