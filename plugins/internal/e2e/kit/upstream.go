package kit

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

// Upstream is the stand-in for the search vendor, as a process.
type Upstream struct {
	t   testing.TB
	URL string
}

// Scripted is an answer that the stand-in shall give before its regular ones.
type Scripted struct {
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

// StartUpstream runs a stand-in until the test ends.
func StartUpstream(t testing.TB, args ...string) *Upstream {
	t.Helper()
	cmd := exec.Command(Built.upstream, args...)
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
	return &Upstream{t: t, URL: strings.TrimSpace(line)}
}

// Script adds answers.
func (u *Upstream) Script(answers ...Scripted) {
	u.t.Helper()
	body, err := json.Marshal(answers)
	if err != nil {
		u.t.Fatal(err)
	}
	u.sendControl(http.MethodPost, "script", body)
}

// Reset forgets script and requests.
func (u *Upstream) Reset() { u.t.Helper(); u.sendControl(http.MethodPost, "reset", nil) }

// Requests are what the stand-in has received of clients, in order: the core asks for the quota of its keys by the clock, so perhaps just
// now.
func (u *Upstream) Requests() []received {
	u.t.Helper()
	all := Decode[[]received](u.t, u.sendControl(http.MethodGet, "requests", nil))
	return slices.DeleteFunc(all, func(r received) bool { return r.Path == "/usage" })
}

// Received waits until the stand-in has got n requests.
func (u *Upstream) Received(n int) []received {
	u.t.Helper()
	var got []received
	Eventually(u.t, 10*time.Second, fmt.Sprintf("the upstream gets %d requests", n), func() bool {
		got = u.Requests()
		return len(got) >= n
	})
	return got
}

func (u *Upstream) sendControl(method, name string, body []byte) string {
	u.t.Helper()
	req, err := http.NewRequest(method, u.URL+"/_control/"+name, bytes.NewReader(body))
	if err != nil {
		u.t.Fatal(err)
	}
	resp, err := HTTPClient.Do(req)
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

// WebHCL is a configuration with one web instance at an address. service is put into the service block, instance into
// the instance's config block.
func WebHCL(url, instance, service string) string {
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

// StartWeb runs a core before a stand-in, with keys, and returns both and a token.
func StartWeb(t testing.TB, instance, service string, keys ...string) (*Core, *Upstream, string) {
	t.Helper()
	up := StartUpstream(t)
	c := StartCore(t, WebHCL(up.URL, instance, service))
	if len(keys) == 0 {
		keys = []string{"key-one"}
	}
	c.AddKeys(keys...)
	return c, up, c.Token()
}
