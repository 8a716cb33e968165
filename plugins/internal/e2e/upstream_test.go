package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// upstream is the stand-in for the search vendor, as a process.
type upstream struct {
	t   testing.TB
	url string
}

// scripted is an answer that the stand-in shall give before its regular ones.
type scripted struct {
	Path    string            `json:"path,omitempty"`
	Key     string            `json:"key,omitempty"`
	Times   int               `json:"times,omitempty"`
	Status  int               `json:"status,omitempty"`
	Header  map[string]string `json:"header,omitempty"`
	Body    string            `json:"body,omitempty"`
	DelayMS int               `json:"delay_ms,omitempty"`
	Fault   string            `json:"fault,omitempty"`
}

// received is a request that the stand-in got.
type received struct {
	Time   time.Time   `json:"time"`
	Method string      `json:"method"`
	Path   string      `json:"path"`
	Query  string      `json:"query"`
	Header http.Header `json:"header"`
	Body   string      `json:"body"`
}

// startUpstream runs a stand-in until the test ends.
func startUpstream(t testing.TB, args ...string) *upstream {
	t.Helper()
	cmd := exec.Command(built.upstream, args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGKILL)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the stand-in tells no address: %v", err)
	}
	return &upstream{t: t, url: strings.TrimSpace(line)}
}

// script adds answers.
func (u *upstream) script(answers ...scripted) {
	u.t.Helper()
	body, err := json.Marshal(answers)
	if err != nil {
		u.t.Fatal(err)
	}
	u.control(http.MethodPost, "script", body)
}

// reset forgets script and requests.
func (u *upstream) reset() { u.t.Helper(); u.control(http.MethodPost, "reset", nil) }

// requests are what the stand-in has received of clients, in order: the core asks for the quota of its keys by the clock, so perhaps just
// now.
func (u *upstream) requests() []received {
	u.t.Helper()
	all := decode[[]received](u.t, u.control(http.MethodGet, "requests", nil))
	return slices.DeleteFunc(all, func(r received) bool { return r.Path == "/usage" })
}

// received waits until the stand-in has got n requests.
func (u *upstream) received(n int) []received {
	u.t.Helper()
	var got []received
	eventually(u.t, 10*time.Second, fmt.Sprintf("the upstream gets %d requests", n), func() bool {
		got = u.requests()
		return len(got) >= n
	})
	return got
}

func (u *upstream) control(method, name string, body []byte) string {
	u.t.Helper()
	req, err := http.NewRequest(method, u.url+"/_control/"+name, bytes.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	resp, err := http1.Do(req)
	if err != nil {
		u.t.Fatal(err)
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode >= 300 {
		u.t.Fatalf("control %s: status %d, %v: %s", name, resp.StatusCode, err, out)
	}
	return string(out)
}

// webHCL is a configuration with one web instance at an address. service is put into the service block, instance into
// the instance's config block.
func webHCL(url, instance, service string) string {
	return fmt.Sprintf(`
search "tavily" "web" {
  config {
    base_url = %q
    %s
  }
}
service "search" {
  backend = search.web
  %s
}
`, url, instance, service)
}

// startWeb runs a core before a stand-in, with keys, and returns both and a token.
func startWeb(t testing.TB, instance, service string, keys ...string) (*core, *upstream, string) {
	t.Helper()
	up := startUpstream(t)
	c := startCore(t, webHCL(up.url, instance, service))
	if len(keys) == 0 {
		keys = []string{"key-one"}
	}
	c.addKeys(keys...)
	return c, up, c.token()
}
