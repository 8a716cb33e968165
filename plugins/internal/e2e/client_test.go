package e2e

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// http1 is a client without a limit on connections. Each test's requests are its own.
var http1 = &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// request is what a client sends to a path, below the proxy unless it is absolute; no method means POST.
type request struct {
	method, path, token, body string
	header                    http.Header
}

func (c *core) build(r request) (*http.Request, error) {
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	path := r.path
	if !strings.HasPrefix(path, "/") {
		path = "/search/api/proxy/" + path
	}
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token := cmp.Or(r.token, c.key); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for k, v := range r.header {
		req.Header[k] = v
	}
	return req, nil
}

// try sends a request; the error is one of the connection.
func (c *core) try(r request) (answer, error) {
	req, err := c.build(r)
	if err != nil {
		return answer{}, err
	}
	resp, err := http1.Do(req)
	if err != nil {
		return answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return answer{resp.StatusCode, resp.Header, string(body)}, err
}

func (c *core) send(t testing.TB, r request) answer {
	t.Helper()
	a, err := c.try(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.method, r.path, err)
	}
	return a
}

// post sends a body to an operation.
func (c *core) post(t testing.TB, token, path, body string) answer {
	t.Helper()
	return c.send(t, request{path: path, token: token, body: body})
}

// search asks something and expects a status.
func (c *core) search(t testing.TB, token string, want int) answer {
	t.Helper()
	a := c.post(t, token, "search", `{"query":"how do plugins restart"}`)
	if a.status != want {
		t.Fatalf("search: status %d, want %d: %s", a.status, want, a.body)
	}
	return a
}

// usage is the part of the usage endpoint that tests look at.
type usage struct {
	TokenID               string
	DailySuccess          int64
	DailyError            int64
	MonthlyQuotaExhausted int64
	HourlyRequests        int64
	HourlyRequestsLimit   int64
	HourlyCredits         int64
	HourlyCreditsLimit    int64
	DailyCredits          int64
	MonthlyCredits        int64
}

func (c *core) usage(t testing.TB, token string) usage {
	t.Helper()
	a := c.send(t, request{method: http.MethodGet, path: "usage", token: token})
	if a.status != http.StatusOK {
		t.Fatalf("usage: status %d: %s", a.status, a.body)
	}
	return decode[usage](t, a.body)
}

func decode[T any](t testing.TB, body string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("decode %.200q: %v", body, err)
	}
	return out
}

// problem is the common error body.
type problem struct {
	Code       string
	Message    string
	RequestID  string `json:"request_id"`
	Error      string
	Detail     struct{ Error string }
	Field      string
	RetryAfter int64 `json:"retry_after"`
	Scope      string
	Window     string
	Limit      int64
	Used       int64
	ResetAt    string `json:"reset_at"`
}

// refused checks that an answer is an error of the proxy, whole in all its parts.
func (a answer) refused(t testing.TB, status int, code string) problem {
	t.Helper()
	p := decode[problem](t, a.body)
	if a.status != status || p.Code != code {
		t.Errorf("status %d, code %q; want %d, %q: %s", a.status, p.Code, status, code, a.body)
	}
	if p.Message == "" || p.Error != p.Code || p.Detail.Error != p.Message {
		t.Errorf("the error body is not whole: %s", a.body)
	}
	if p.RequestID == "" || p.RequestID != a.header.Get("X-Request-Id") {
		t.Errorf("the request id of the body, %q, is not that of the header, %q", p.RequestID, a.header.Get("X-Request-Id"))
	}
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return p
}
