package search

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
)

// dialCore opens a raw connection to the core.
func dialCore(t testing.TB, c *kit.Core) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.Base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

func TestSlowHeadersAreCutOff(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	conn := dialCore(t, c)
	began := time.Now()
	if _, err := io.WriteString(conn, "POST /search/api/proxy/search HTTP/1.1\r\nHost: localhost\r\nX-Slow: "); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(began.Add(kit.Slower(12 * time.Second))); err != nil {
		t.Fatal(err)
	}
	_, err := io.Copy(io.Discard, conn)
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		t.Fatal("the connection is still open")
	}
	if took := time.Since(began); took < 9*time.Second {
		t.Errorf("the connection was cut off after %s already", took)
	}
	c.Search(t, c.Token(), http.StatusOK)
}

func TestSlowBodiesAreCutOff(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	conn := dialCore(t, c)
	began := time.Now()
	head := "POST /search/api/proxy/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " + token + "\r\nContent-Length: 1000\r\n\r\n"
	if _, err := io.WriteString(conn, head+`{"query":`); err != nil {
		t.Fatal(err)
	}
	if err := conn.SetReadDeadline(began.Add(kit.Slower(35 * time.Second))); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("no answer: %v", err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	kit.Answer{Status: resp.StatusCode, Header: resp.Header, Body: string(body)}.Refused(t, http.StatusRequestTimeout, "bad_request")
	if took := time.Since(began); took < 29*time.Second {
		t.Errorf("the body was given up after %s already", took)
	}
	c.Search(t, token, http.StatusOK)
	if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.HourlyRequests != 1 {
		t.Errorf("usage %+v", used)
	}
}

func TestClientThatLeavesWhileSending(t *testing.T) {
	t.Parallel()
	c := kit.LocalCore(t, kit.LocalHCL)
	c.Start()
	t.Cleanup(c.Stop)
	token := c.Token()
	for _, length := range []string{"Content-Length: 1000\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n9\r\n"} {
		conn := dialCore(t, c)
		if _, err := io.WriteString(conn, "POST /search/api/proxy/search HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer "+token+"\r\n"+length+`{"query":`); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
	}
	c.Search(t, token, http.StatusOK)
	if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.HourlyRequests != 1 {
		t.Errorf("usage %+v", used)
	}
}

func TestCallOfAClientThatLeftEndsAndIsCharged(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", "")
	db := c.Records(t, kit.Storage{})
	up.Script(kit.Scripted{DelayMS: 1500})
	ctx, leave := context.WithCancel(context.Background())
	req, err := c.Build(kit.Request{Path: "search", Token: token, Body: `{"query":"q"}`, Header: http.Header{"X-Request-Id": {"leaver"}}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		resp, err := kit.HTTPClient.Do(req.WithContext(ctx))
		if err == nil {
			_ = resp.Body.Close()
		}
		ended <- err
	}()
	up.Received(1)
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the client's error: %v", err)
	}
	row := db.Audit("leaver")
	if row.Outcome != kit.OutcomeFailure || row.Status != 499 || row.Code != "client_closed_request" || row.Credits != 1 {
		t.Errorf("audit row %+v", row)
	}
	c.Search(t, token, http.StatusOK)
	if used := db.Balanced(c, token); used.HourlyRequests != 2 || used.DailyError != 1 || used.HourlyCredits != 2 {
		t.Errorf("usage %+v", used)
	}
	if state := db.Text("SELECT state FROM search_keys"); state != "active" {
		t.Errorf("the key is %s", state)
	}
}

func TestRateLimitHeadersOnProxiedAnswers(t *testing.T) {
	t.Parallel()
	c, up, token := kit.StartWeb(t, "", `
  limits {
    requests_hour = 3
  }`)
	for i := range 3 {
		if i == 1 {
			up.Script(kit.Scripted{Status: 500})
		}
		a := c.Post(t, token, "search", `{"query":"q"}`)
		h := a.Header
		if h.Get("X-RateLimit-Limit") != "3" || h.Get("X-RateLimit-Remaining") != strconv.Itoa(2-i) {
			t.Errorf("request %d: limit %q, remaining %q", i, h.Get("X-RateLimit-Limit"), h.Get("X-RateLimit-Remaining"))
		}
		if reset, err := strconv.Atoi(h.Get("X-RateLimit-Reset")); err != nil || reset < 1 || reset > 3600 {
			t.Errorf("request %d: reset %q", i, h.Get("X-RateLimit-Reset"))
		}
	}
	a := c.Post(t, token, "search", `{"query":"q"}`)
	p := a.Refused(t, http.StatusTooManyRequests, "quota_exhausted")
	if p.Scope != "requests" || p.Window != "hour" || p.Limit != 3 || p.Used != 3 {
		t.Errorf("the members of the refusal: %+v", p)
	}
	at, err := time.Parse(time.RFC3339, p.ResetAt)
	if err != nil {
		t.Errorf("reset_at %q: %v", p.ResetAt, err)
	}
	wait, err := strconv.ParseInt(a.Header.Get("Retry-After"), 10, 64)
	if err != nil || wait != p.RetryAfter || wait < 1 || wait > 3600 || time.Until(at) > time.Duration(wait)*time.Second {
		t.Errorf("Retry-After %q, retry_after %d, reset_at %s", a.Header.Get("Retry-After"), p.RetryAfter, p.ResetAt)
	}
	if a.Header.Get("X-RateLimit-Remaining") != "0" {
		t.Errorf("remaining %q", a.Header.Get("X-RateLimit-Remaining"))
	}
	if used := c.Records(t, kit.Storage{}).Balanced(c, token); used.MonthlyQuotaExhausted != 1 || used.HourlyRequests != 3 {
		t.Errorf("usage %+v", used)
	}
}
