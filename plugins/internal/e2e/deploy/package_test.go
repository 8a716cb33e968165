package deploy

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"net/smtp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// imageBuild is held while an image is made: several at once would keep the tests of others from the processor, and the engine from
// answering.
var imageBuild sync.Mutex

// makeImage makes a target of the Makefile that builds images.
func makeImage(t testing.TB, args ...string) {
	t.Helper()
	imageBuild.Lock()
	defer imageBuild.Unlock()
	kit.RunHost(t, kit.Root(), "make", args...)
}

// makePackage packs the binaries under test as a Debian package, and returns its name.
func makePackage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	tool, out := filepath.Join(dir, "release"), filepath.Join(dir, "out")
	kit.RunHost(t, filepath.Join(kit.Root(), "core/tools/release"), "go", "build", "-buildvcs=false", "-trimpath", "-o", tool, ".")
	kit.RunHost(t, kit.Root(), tool, "-version", "0.1.0-dev", "-arch", "amd64", "-formats", "deb", "-unsigned", "-binaries",
		filepath.Dir(kit.Built.Core), "-out", out)
	return filepath.Join(out, "patchbay_0.1.0-dev_linux_amd64.deb")
}

// machine is a Debian on which the package is installed.
type machine struct {
	*kit.Core
	root string
	env  []string
	// states are what the core tells the service manager.
	states chan string
	log    *bytes.Buffer
}

// unitValues returns the values of a setting of the unit.
func (m *machine) unitValues(name string) (values []string) {
	text, err := os.ReadFile(filepath.Join(m.root, "usr/lib/systemd/system/patchbay.service"))
	kit.Must(m.T, err)
	for _, found := range regexp.MustCompile(`(?m)^`+name+`=(.*)$`).FindAllStringSubmatch(string(text), -1) {
		values = append(values, found[1])
	}
	return values
}

// command returns a command of the machine as the user of the service, with the ports of the test.
func (m *machine) command(line string) *exec.Cmd {
	args := append([]string{"--userspec=patchbay:patchbay", m.root, "/usr/bin/env", "-i", "PATH=/usr/bin:/bin"}, m.env...)
	return exec.Command("chroot", append(args, strings.Fields(line)...)...)
}

// shell runs a command as the service's user, and returns what it prints.
func (m *machine) shell(line string) string {
	m.T.Helper()
	cmd := m.command(line)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		m.T.Fatalf("%s: %v\n%s%s", line, err, out, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

// startUnit runs what the unit runs, as its user, and waits until the core says that it is ready.
func (m *machine) startUnit() *exec.Cmd {
	m.T.Helper()
	for _, dir := range []string{"var/lib/patchbay", "run/patchbay"} {
		path := filepath.Join(m.root, dir)
		kit.Must(m.T, os.MkdirAll(path, 0o700))
		kit.RunHost(m.T, "", "chroot", m.root, "chown", "patchbay:patchbay", "/"+dir)
	}
	socket := filepath.Join(m.root, "run/notify")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	kit.Must(m.T, err)
	kit.Must(m.T, os.Chmod(socket, 0o777))
	m.T.Cleanup(func() { _ = listener.Close() })
	m.states = make(chan string, 16)
	go func() {
		buf := make([]byte, 1024)
		for {
			n, err := listener.Read(buf)
			if err != nil {
				return
			}
			m.states <- string(buf[:n])
		}
	}()
	m.env = []string{"NOTIFY_SOCKET=/run/notify", "SVC_HTTP_ADDR=127.0.0.1:0", "SVC_ADMIN_ADDR=127.0.0.1:0"}
	cmd := m.command(m.unitValues("ExecStart")[0])
	m.log = &bytes.Buffer{}
	stderr, err := cmd.StderrPipe()
	kit.Must(m.T, err)
	kit.Must(m.T, cmd.Start())
	m.T.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		m.log.WriteString(lines.Text() + "\n")
		if found := kit.Addresses.FindStringSubmatch(lines.Text()); found != nil {
			m.Base = "http://127.0.0.1:" + found[1]
			break
		}
	}
	go func() {
		for lines.Scan() {
		}
	}()
	if m.Base == "" {
		m.T.Fatalf("the core did not start:\n%s", m.log)
	}
	m.hears("READY=1")
	return cmd
}

// hears waits until the core has told the service manager a state.
func (m *machine) hears(state string) {
	m.T.Helper()
	select {
	case got := <-m.states:
		if got != state {
			m.T.Fatalf("the core told %q, want %q", got, state)
		}
	case <-time.After(kit.Patience * kit.StartWithin):
		m.T.Fatalf("the core did not tell %s", state)
	}
}

// TestDebianPackage installs the package on a Debian that has nothing else, starts what its unit starts, searches and receives mail
// from outside, and removes it again.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	root := debianMachine(t)
	kit.Must(t, os.Link(makePackage(t), filepath.Join(root, "patchbay.deb")))
	inside := func(line string) string { t.Helper(); return kit.RunHost(t, "", "chroot", root, "sh", "-c", line) }
	if out, err := exec.Command("chroot", root, "sh", "-c", "command -v go gcc make").CombinedOutput(); err == nil {
		t.Fatalf("the machine can build: %s", out)
	}
	inside("dpkg -i /patchbay.deb")
	if got := inside("stat -c '%U:%G %a' /etc/patchbay/plugin.hcl /etc/patchbay"); got != "root:patchbay 640\nroot:patchbay 750" {
		t.Errorf("the configuration belongs to %s", got)
	}
	// Two tests at once cannot have the port of the shipped file.
	inside("sed -i 's/127.0.0.1:2525/127.0.0.1:0/' /etc/patchbay/plugin.hcl")
	m := &machine{Core: &kit.Core{T: t}, root: root}
	running := m.startUnit()
	token := m.shell("patchbay token create -note first -config /etc/patchbay/plugin.hcl")
	kit.Eventually(t, time.Minute, "the documents of the package are found", func() bool {
		a, err := m.Try(kit.Request{Path: "search", Token: token, Body: `{"query":"what happens when a plugin crashes"}`})
		return err == nil && a.Status == http.StatusOK && strings.Contains(a.Body, "operations.md")
	})
	m.shell("patchbay user create -email ada@example.com -name Ada -config /etc/patchbay/plugin.hcl")
	address := m.shell("patchbay mailbox create -owner ada@example.com -config /etc/patchbay/plugin.hcl")
	smtpAddress := kit.SMTPListener.FindStringSubmatch(m.log.String())
	if smtpAddress == nil {
		t.Fatalf("the core takes no mail in:\n%s", m.log)
	}
	kit.Must(t, smtp.SendMail(smtpAddress[1], nil, "shop@example.com", []string{address},
		[]byte("From: shop@example.com\r\nTo: "+address+"\r\nSubject: Your code is 428319\r\n\r\nHello.\r\n")))
	if got := m.shell("patchbay mailbox wait -code -config /etc/patchbay/plugin.hcl " + address); got != "428319" {
		t.Errorf("the code is %q", got)
	}
	// The administrator works as root, without the environment of the service.
	inside("patchbay status -config /etc/patchbay/plugin.hcl")
	if listed := inside("patchbay token list -config /etc/patchbay/plugin.hcl"); !strings.Contains(listed, "first") {
		t.Errorf("root sees the tokens %s", listed)
	}
	m.shell(m.unitValues("ExecReload")[0])
	kit.Must(t, running.Process.Signal(syscall.SIGHUP))
	m.hears("RELOADING=1")
	m.hears("READY=1")
	kit.Must(t, running.Process.Signal(syscall.SIGTERM))
	m.hears("STOPPING=1")
	if err := running.Wait(); err != nil {
		t.Errorf("the core ended with %v", err)
	}
	inside("dpkg -r patchbay && test -f /var/lib/patchbay/patchbay.sqlite3 && test -f /etc/patchbay/plugin.hcl")
	inside("dpkg --purge patchbay && test ! -e /var/lib/patchbay && test ! -e /etc/patchbay && ! getent passwd patchbay")
}
