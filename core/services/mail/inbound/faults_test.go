package inbound

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"database/sql"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

func TestFullDisk(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	limitPages := func(pages string) {
		t.Helper()
		err := e.store.Tx(context.Background(), "limit the database", func(ctx context.Context) error {
			return e.store.Writer(ctx).Exec("PRAGMA max_page_count = " + pages).Error
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	random := make([]byte, 600<<10)
	for i := range random {
		random[i] = byte('a' + (i*i>>7)%26)
	}
	raw := sample(1, 100) + strings.Join(strings.SplitAfter(hex.EncodeToString(random), "0"), "\r\n") + "\r\n"
	limitPages("1")
	c := e.greeted()
	c.send("box@inbox.test", raw, "452 4.3.1")
	if got := e.all(); len(got) != 0 {
		t.Fatalf("announced: %+v", got)
	}
	limitPages("1000000")
	c.send("box@inbox.test", raw, "250")
	if got := e.all(); len(got) != 1 || e.raw(got[0]) != raw {
		t.Error("the message is not stored as it was sent")
	}
}

func TestLockedDatabase(t *testing.T) {
	cfg := testkit.SQLiteConfig(t)
	cfg.WriteWait = 100 * time.Millisecond
	e := newEnv(t, cfg, nil)
	other, err := sql.Open("sqlite3", "file:"+cfg.Path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	held, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}
	c := e.greeted()
	c.send("box@inbox.test", sample(1, 100), "451 4.3.0")
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	c.send("box@inbox.test", sample(1, 100), "250")
	if got := e.all(); len(got) != 1 {
		t.Errorf("stored: %+v", got)
	}
}

func TestSpoolDirectoryIsMissing(t *testing.T) {
	e := newEnv(t, testkit.SQLiteConfig(t), nil)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	e.ingester.cfg.SpoolDir = filepath.Join(file, "spool")
	c := e.greeted()
	c.send("box@inbox.test", sample(1, 2<<20), "451 4.3.0")
	c.send("box@inbox.test", sample(1, 100), "250")
}

func TestStartTLS(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	first := writeCertificate(t, cert, key)
	e := newEnv(t, testkit.SQLiteConfig(t), func(c *ServerConfig) { c.CertFile, c.KeyFile = cert, key })
	c := e.greeted()
	c.say("STARTTLS", "220")
	secured := tls.Client(c.conn, &tls.Config{ServerName: "mx.inbox.test", RootCAs: first})
	if err := secured.Handshake(); err != nil {
		t.Fatal(err)
	}
	c.conn = secured
	c.in.Reset(secured)
	c.say("EHLO client", "250")
	c.send("box@inbox.test", sample(1, 100), "250")
	if got := e.all(); len(got) != 1 || got[0].TLS != "TLS 1.3" {
		t.Errorf("stored: %+v", got)
	}
}

func TestCertificateIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key)
	f := &certificateFile{cert: cert, key: key, logger: hclog.NewNullLogger()}
	old, err := f.loadCertificate()
	if err != nil {
		t.Fatal(err)
	}
	writeCertificate(t, cert, key)
	for _, name := range []string{cert, key} {
		later := time.Now().Add(time.Hour)
		if err := os.Chtimes(name, later, later); err != nil {
			t.Fatal(err)
		}
	}
	fresh, err := f.getCertificate(nil)
	if err != nil || fresh == old {
		t.Fatalf("the certificate was not read again: %v", err)
	}
	if err := os.WriteFile(cert, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.lookedAt = time.Time{}
	if kept, err := f.getCertificate(nil); err != nil || kept != fresh {
		t.Errorf("a file that cannot be used has replaced the certificate: %v", err)
	}
}

// TestSignatures: the signature binds time, envelope and content, and is checked before any of the body is read.
func TestSignatures(t *testing.T) {
	now := time.Unix(1_790_000_000, 0)
	const body = "Subject: x\r\n\r\ny\r\n"
	hash := sha256.Sum256([]byte(body))
	content := hex.EncodeToString(hash[:])
	sign := func(secret string, at time.Time, change ...func(http.Header)) http.Header {
		h := http.Header{}
		h.Set(HeaderTimestamp, strconv.FormatInt(at.Unix(), 10))
		h.Set(HeaderEnvelopeFrom, "a@example.net")
		h.Set(HeaderEnvelopeTo, "b@example.com")
		h.Set(HeaderContentSHA256, content)
		digest := hmac.New(sha256.New, []byte(secret))
		_, _ = io.WriteString(digest, h.Get(HeaderTimestamp)+"\na@example.net\nb@example.com\n"+content)
		h.Set(HeaderSignature, hex.EncodeToString(digest.Sum(nil)))
		for _, f := range change {
			f(h)
		}
		return h
	}
	set := func(name, value string) func(http.Header) { return func(h http.Header) { h.Set(name, value) } }
	former := func(h http.Header) {
		digest := hmac.New(sha256.New, []byte("secret"))
		_, _ = io.WriteString(digest, h.Get(HeaderTimestamp)+"."+body)
		h.Set(HeaderSignature, hex.EncodeToString(digest.Sum(nil)))
	}
	for _, test := range []struct {
		name   string
		header http.Header
		ok     bool
	}{
		{"right", sign("secret", now), true},
		{"four minutes early", sign("secret", now.Add(4*time.Minute)), true},
		{"six minutes late", sign("secret", now.Add(-6*time.Minute)), false},
		{"six minutes early", sign("secret", now.Add(6*time.Minute)), false},
		{"another secret", sign("secrets", now), false},
		{"another sender", sign("secret", now, set(HeaderEnvelopeFrom, "c@example.net")), false},
		{"another recipient", sign("secret", now, set(HeaderEnvelopeTo, "c@example.com")), false},
		{"a recipient more", sign("secret", now, func(h http.Header) { h.Add(HeaderEnvelopeTo, "c@example.com") }), false},
		{"another content", sign("secret", now, set(HeaderContentSHA256, strings.Repeat("0", 64))), false},
		{"no content hash", sign("secret", now, func(h http.Header) { h.Del(HeaderContentSHA256) }), false},
		{"no signature", sign("secret", now, func(h http.Header) { h.Del(HeaderSignature) }), false},
		{"not hexadecimal", sign("secret", now, set(HeaderSignature, strings.Repeat("z", 64))), false},
		{"of timestamp and body, as before", sign("secret", now, former), false},
		{"no headers", http.Header{}, false},
	} {
		t.Run(test.name, func(t *testing.T) { expectUnauthorized(t, CheckSignature("secret", test.header, now), test.ok) })
	}
	header := sign("secret", now)
	read, err := ReadSigned(header, strings.NewReader(body), t.TempDir())
	if err != nil || read.Size() != int64(len(body)) {
		t.Errorf("the signed body: %v", err)
	}
	spool := t.TempDir()
	_, err = ReadSigned(header, strings.NewReader(body+strings.Repeat("z", 2<<20)), spool)
	expectUnauthorized(t, err, false)
	if left, err := os.ReadDir(spool); err != nil || len(left) > 0 {
		t.Errorf("another body leaves %v, %v", left, err)
	}
}

func expectUnauthorized(t *testing.T, err error, ok bool) {
	t.Helper()
	var f *fault.Error
	if ok && err != nil || !ok && (!errors.As(err, &f) || fault.StatusOf(f) != http.StatusUnauthorized) {
		t.Errorf("the error is %v", err)
	}
}
