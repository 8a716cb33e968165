package mta_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/smtp"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/plugins/internal/mta"
)

func TestServer(t *testing.T) {
	s := mta.Start(t)
	pem, err := os.ReadFile(s.CAFile)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	conf := &tls.Config{RootCAs: roots, ServerName: s.Host}

	plain := dial(t, s, s.Plain)
	send(t, plain, "a@"+s.Domain)

	start := dial(t, s, s.Submission)
	if err := start.StartTLS(conf); err != nil {
		t.Fatal(err)
	}
	if err := start.Mail("x@sender.test"); err == nil {
		err = start.Rcpt("b@" + s.Domain)
		if err == nil {
			t.Error("a recipient is taken without AUTH")
		}
		_ = start.Reset()
	}
	if err := start.Auth(smtp.PlainAuth("", s.User, s.Password, s.Host)); err != nil {
		t.Fatal(err)
	}
	for address, code := range map[string]string{s.Refused: "550", s.Deferred: "450"} {
		_ = start.Mail("x@sender.test")
		if err := start.Rcpt(address); err == nil || !strings.HasPrefix(err.Error(), code) {
			t.Errorf("%s: %v", address, err)
		}
		_ = start.Reset()
	}
	send(t, start, "b@"+s.Domain)

	if err := dialTLS(t, s, conf).Auth(smtp.PlainAuth("", s.User, "wrong", s.Host)); err == nil || !strings.HasPrefix(err.Error(), "535") {
		t.Errorf("a wrong password: %v", err)
	}
	c := dialTLS(t, s, conf)
	if err := c.Auth(smtp.PlainAuth("", s.User, s.Password, s.Host)); err != nil {
		t.Fatal(err)
	}
	send(t, c, "c@"+s.Domain)

	var to []string
	for _, m := range s.Messages() {
		to = append(to, m.To)
		if m.From != "x@sender.test" || m.Header.Get("Subject") != "hello" {
			t.Errorf("%+v", m)
		}
	}
	slices.Sort(to)
	if got := strings.Join(to, " "); got != "a@patchbay.test b@patchbay.test c@patchbay.test" {
		t.Errorf("delivered to %q\n%s", got, s.Log())
	}
}

func dial(t *testing.T, s *mta.Server, port int) *smtp.Client {
	t.Helper()
	conn, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.NewClient(conn, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func dialTLS(t *testing.T, s *mta.Server, conf *tls.Config) *smtp.Client {
	t.Helper()
	conn, err := tls.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", s.SMTPS), conf)
	if err != nil {
		t.Fatal(err)
	}
	c, err := smtp.NewClient(conn, s.Host)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func send(t *testing.T, c *smtp.Client, to string) {
	t.Helper()
	if err := c.Mail("x@sender.test"); err != nil {
		t.Fatal(err)
	}
	if err := c.Rcpt(to); err != nil {
		t.Fatal(err)
	}
	w, err := c.Data()
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write([]byte("Subject: hello\r\nFrom: x@sender.test\r\n\r\nbody\r\n"))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := c.Quit(); err != nil {
		t.Fatal(err)
	}
}
