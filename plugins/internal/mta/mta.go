// Package mta runs a mail server for tests: Postfix on loopback ports with a configuration, a queue and a certificate
// authority of its own, which delivers into a Maildir that the test reads.
package mta

import (
	"bytes"
	"fmt"
	"net"
	"net/mail"
	"net/textproto"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

const (
	daemons    = "/usr/lib/postfix/sbin"
	attempts   = 3
	startWait  = 30 * time.Second
	settleWait = 30 * time.Second
	pollEvery  = 10 * time.Millisecond
)

// Server is a running mail server. It takes mail for every address of Domain, besides Refused (550) and Deferred (450).
type Server struct {
	// Host is the name in its certificate, which names no address; it leads to 127.0.0.1.
	Host string
	// Submission wants STARTTLS and then AUTH (PLAIN or LOGIN); SMTPS is the same with TLS from the start; Plain has no
	// TLS and wants no AUTH, but takes it.
	Submission, SMTPS, Plain int
	// User and Password are the one account. They hold characters that must be encoded in a URL.
	User, Password string
	// CAFile is the PEM file of the authority that signed the certificate.
	CAFile string
	// CertFile and KeyFile are its certificate, which other servers on this host may use.
	CertFile, KeyFile string
	// Domain is the one that is delivered; Refused and Deferred are addresses in it.
	Domain, Refused, Deferred string

	dir string
	// relayed maps domains to the servers that take their mail.
	relayed map[string]string
	t       testing.TB
	cmd     *exec.Cmd
	done    chan struct{}
}

// Message is one copy that was delivered.
type Message struct {
	// To and From are those of the envelope.
	To, From string
	Header   mail.Header
	Raw      []byte
}

// Start runs a server until the test ends. Where Postfix is missing or the test is not root's, the test is skipped, or fails
// with PATCHBAY_REQUIRE=all.
func Start(t testing.TB) *Server {
	t.Helper()
	return StartRelay(t, nil)
}

// StartRelay is Start for a server that passes the mail of some domains on: relayed has their servers, such as
// 127.0.0.1:2525. A server that refuses for a time is tried again every second or two.
func StartRelay(t testing.TB, relayed map[string]string) *Server {
	t.Helper()
	requirePostfix(t)
	dir, err := os.MkdirTemp("", "patchbay-mta-")
	if err != nil {
		t.Fatalf("make the mail server's directory: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s := &Server{
		Host: "localhost", User: "patchbay@mail.test", Password: "p@ss:w/rd?%&-7391",
		Domain: "patchbay.test", Refused: "refused@patchbay.test", Deferred: "deferred@patchbay.test",
		dir: dir, relayed: relayed, t: t, CAFile: filepath.Join(dir, "ca.pem"), CertFile: filepath.Join(dir, "cert.pem"),
		KeyFile: filepath.Join(dir, "key.pem"),
	}
	s.writeConfig()
	s.startServer()
	return s
}

// requirePostfix skips the test where the server cannot run.
func requirePostfix(t testing.TB) {
	t.Helper()
	missing := ""
	for _, bin := range []string{filepath.Join(daemons, "master"), "/usr/sbin/postfix", "/usr/sbin/saslpasswd2"} {
		if _, err := os.Stat(bin); err != nil {
			missing = "install postfix, sasl2-bin, libsasl2-modules and libsasl2-modules-db"
		}
	}
	if os.Getuid() != 0 {
		missing = "its processes can only be started by root"
	}
	testkit.Require(t, "postfix", missing == "", missing)
}

func (s *Server) pathTo(name ...string) string {
	return filepath.Join(append([]string{s.dir}, name...)...)
}

func (s *Server) writeFile(name, content string, mode os.FileMode) {
	s.t.Helper()
	if err := os.WriteFile(s.pathTo(name), []byte(content), mode); err != nil {
		s.t.Fatal(err)
	}
}

func (s *Server) runCommand(in, name string, args ...string) {
	s.t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		s.t.Fatalf("%s: %v\n%s%s", filepath.Base(name), err, out, s.Log())
	}
}

// writeConfig writes what the server reads.
func (s *Server) writeConfig() {
	s.t.Helper()
	if err := os.Chmod(s.dir, 0o755); err != nil {
		s.t.Fatal(err)
	}
	for name, owner := range map[string]string{"conf/sasl": "", "queue": "", "data": "postfix", "mail": "nobody"} {
		if err := os.MkdirAll(s.pathTo(name), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if owner != "" {
			uid, gid := lookUpIDs(s.t, owner)
			if err := os.Chown(s.pathTo(name), uid, gid); err != nil {
				s.t.Fatal(err)
			}
		}
	}
	uid, gid := lookUpIDs(s.t, "nobody")
	s.makeCertificates()
	s.writeFile("conf/main.cf", s.mainConfig(uid, gid), 0o644)
	// Debian's Postfix looks for the file in sasl, below its configuration.
	s.writeFile("conf/sasl/smtpd.conf", fmt.Sprintf("pwcheck_method: auxprop\nauxprop_plugin: sasldb\nmech_list: PLAIN LOGIN\nsasldb_path: %s\n", s.pathTo("accounts")), 0o644)
	s.writeFile("conf/recipients", fmt.Sprintf("%s 550 5.1.1 There is no such mailbox here\n%s 450 4.2.1 The mailbox is busy\n", s.Refused,
		s.Deferred), 0o644)
	name, realm, _ := strings.Cut(s.User, "@")
	s.runCommand(s.Password, "/usr/sbin/saslpasswd2", "-c", "-p", "-f", s.pathTo("accounts"), "-u", realm, name)
	puid, pgid := lookUpIDs(s.t, "postfix")
	if err := os.Chown(s.pathTo("accounts"), puid, pgid); err != nil {
		s.t.Fatal(err)
	}
}

func lookUpIDs(t testing.TB, name string) (uid, gid int) {
	t.Helper()
	u, err := user.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	uid, _ = strconv.Atoi(u.Uid)
	gid, _ = strconv.Atoi(u.Gid)
	return uid, gid
}

// startServer runs the server and waits until it answers. Somebody else may have taken a port that was free a moment ago: then it
// tries others.
func (s *Server) startServer() {
	s.t.Helper()
	s.t.Cleanup(s.stopServer)
	for range attempts {
		s.Submission, s.SMTPS, s.Plain = testkit.FreePort(s.t), testkit.FreePort(s.t), testkit.FreePort(s.t)
		s.writeFile("conf/master.cf", s.masterConfig(), 0o644)
		s.runCommand("", "/usr/sbin/postfix", "-c", s.pathTo("conf"), "check")
		s.launchMaster()
		if s.waitUntilAnswering() {
			return
		}
		s.stopServer()
	}
	s.t.Fatalf("the mail server does not answer; its log:\n%s", s.Log())
}

// launchMaster starts the first process. The kernel ends it when the test's process ends, whichever way that happens: that needs
// the thread that started it to live as long as it does.
func (s *Server) launchMaster() {
	s.t.Helper()
	cmd, done := exec.Command(filepath.Join(daemons, "master"), "-c", s.pathTo("conf")), make(chan struct{})
	cmd.Env = append(os.Environ(), "MAIL_CONFIG="+s.pathTo("conf"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	started := make(chan error)
	go func() {
		defer close(done)
		runtime.LockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
		}
	}()
	if err := <-started; err != nil {
		s.t.Fatalf("start the mail server: %v", err)
	}
	s.cmd, s.done = cmd, done
}

// waitUntilAnswering waits until all ports do, or the server has ended.
func (s *Server) waitUntilAnswering() bool {
	for deadline := time.Now().Add(startWait); time.Now().Before(deadline); time.Sleep(pollEvery) {
		select {
		case <-s.done:
			return false
		default:
		}
		if s.greetsOn(s.Plain) && s.greetsOn(s.Submission) {
			return true
		}
	}
	return false
}

func (s *Server) greetsOn(port int) bool {
	conn, err := net.DialTimeout("tcp", "127.0.0.1:"+strconv.Itoa(port), time.Second)
	if err != nil {
		return false
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _, err = textproto.NewReader(newReader(conn)).ReadResponse(220)
	return err == nil
}

func (s *Server) stopServer() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Signal(syscall.SIGTERM)
	<-s.done
	s.cmd = nil
}

// Log is what the server has logged so far.
func (s *Server) Log() string {
	raw, _ := os.ReadFile(s.pathTo("log"))
	return string(raw)
}

// URL is the address of a port with the account, for example URL("smtps", s.SMTPS, "to=a@patchbay.test").
func (s *Server) URL(scheme string, port int, query string) string {
	return s.URLWith(scheme, s.Password, port, query)
}

// URLWith is URL with another password.
func (s *Server) URLWith(scheme, password string, port int, query string) string {
	return fmt.Sprintf("%s://%s:%s@%s:%d/?%s", scheme, encodeUserInfo(s.User), encodeUserInfo(password), s.Host, port, query)
}

// Messages are the copies that were delivered, in the order of their deliveries; those of messages that are in the queue at once overtake
// each other. It waits until the server's queue is empty.
func (s *Server) Messages() []Message {
	s.t.Helper()
	for deadline := time.Now().Add(settleWait); !s.isSettled(); time.Sleep(pollEvery) {
		if time.Now().After(deadline) {
			s.t.Errorf("mail stays in the queue; the log:\n%s", s.Log())
			return nil
		}
	}
	entries, err := os.ReadDir(s.pathTo("mail", "inbox", "new"))
	if err != nil && !os.IsNotExist(err) {
		s.t.Errorf("read the mailbox: %v", err)
		return nil
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return modifiedTime(a).Compare(modifiedTime(b)) })
	var out []Message
	for _, e := range entries {
		raw, err := os.ReadFile(s.pathTo("mail", "inbox", "new", e.Name()))
		if err != nil {
			s.t.Errorf("read a message: %v", err)
			continue
		}
		m, err := mail.ReadMessage(bytes.NewReader(raw))
		if err != nil {
			s.t.Errorf("read a message: %v", err)
			continue
		}
		out = append(out, Message{To: m.Header.Get("Delivered-To"), From: strings.Trim(m.Header.Get("Return-Path"), "<>"), Header: m.Header,
			Raw: raw})
	}
	return out
}

func modifiedTime(e os.DirEntry) time.Time {
	info, err := e.Info()
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// isSettled reports whether nothing waits for delivery.
func (s *Server) isSettled() bool {
	for _, queue := range []string{"incoming", "active", "deferred", "maildrop"} {
		empty := true
		_ = filepath.WalkDir(s.pathTo("queue", queue), func(_ string, d os.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				empty = false
				return filepath.SkipAll
			}
			return nil
		})
		if !empty {
			return false
		}
	}
	return true
}
