package dnstest

import (
	"bytes"
	"os"
	"os/exec"
	"testing"
	"time"

	mdns "github.com/miekg/dns"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
)

// startWait is how long a name server may take until it answers.
const startWait = 30 * time.Second

// findProgram returns the path of a name server's program. The test is skipped without it, or fails with
// PATCHBAY_REQUIRE=all.
func findProgram(t testing.TB, name, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		path = "/usr/sbin/" + name
		_, err = os.Stat(path)
	}
	testkit.Require(t, name, err == nil, "install the Debian package "+pkg)
	return path
}

// startServer runs a name server until the test ends, and returns when it answers for a name.
func startServer(t testing.TB, addr, name string, cmd *exec.Cmd) {
	t.Helper()
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { _ = cmd.Wait(); close(ended) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-ended })
	for deadline := time.Now().Add(startWait); ; {
		msg := new(mdns.Msg)
		msg.SetQuestion(mdns.Fqdn(name), mdns.TypeSOA)
		if _, _, err := (&mdns.Client{Net: "tcp", Timeout: time.Second}).Exchange(msg, addr); err == nil {
			return
		}
		select {
		case <-ended:
			t.Fatalf("%s ended: %s", cmd.Path, log.String())
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			<-ended
			t.Fatalf("%s does not answer: %s", cmd.Path, log.String())
		}
	}
}
