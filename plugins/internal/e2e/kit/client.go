package kit

import (
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// HTTPClient is a client without a limit on connections. Each test's requests are its own.
var HTTPClient = &http.Client{Timeout: 60 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 256, DisableCompression: true}}

// Answer is a whole answer.
type Answer struct {
	Status int
	Header http.Header
	Body   string
}

// Request is what a client sends to a path, below the proxy unless it is absolute; no method means POST.
type Request struct {
	Method, Path, Token, Body string
	Header                    http.Header
}

// Build makes the HTTP request to the core, with its token or the key of the core.
func (c *Core) Build(r Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodPost
	}
	path := r.Path
	if !strings.HasPrefix(path, "/") {
		path = "/search/api/proxy/" + path
	}
	req, err := http.NewRequest(method, c.Base+path, strings.NewReader(r.Body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if token := cmp.Or(r.Token, c.Key); token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for k, v := range r.Header {
		req.Header[k] = v
	}
	return req, nil
}

// Try sends a request; the error is one of the connection.
func (c *Core) Try(r Request) (Answer, error) {
	req, err := c.Build(r)
	if err != nil {
		return Answer{}, err
	}
	resp, err := HTTPClient.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return Answer{resp.StatusCode, resp.Header, string(body)}, err
}

// Send sends a request; an error of the connection fails the test.
func (c *Core) Send(t testing.TB, r Request) Answer {
	t.Helper()
	a, err := c.Try(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.Path, err)
	}
	return a
}

// Post sends a body to an operation.
func (c *Core) Post(t testing.TB, token, path, body string) Answer {
	t.Helper()
	return c.Send(t, Request{Path: path, Token: token, Body: body})
}

// Search asks something and expects a status.
func (c *Core) Search(t testing.TB, token string, want int) Answer {
	t.Helper()
	a := c.Post(t, token, "search", `{"query":"how do plugins restart"}`)
	if a.Status != want {
		t.Fatalf("search: status %d, want %d: %s", a.Status, want, a.Body)
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

// Usage asks for the usage of a token.
func (c *Core) Usage(t testing.TB, token string) usage {
	t.Helper()
	a := c.Send(t, Request{Method: http.MethodGet, Path: "usage", Token: token})
	if a.Status != http.StatusOK {
		t.Fatalf("usage: status %d: %s", a.Status, a.Body)
	}
	return Decode[usage](t, a.Body)
}

// Decode reads JSON; what is none fails the test.
func Decode[T any](t testing.TB, body string) (out T) {
	t.Helper()
	if err := json.Unmarshal([]byte(body), &out); err != nil {
		t.Fatalf("decode %.200q: %v", body, err)
	}
	return out
}

// Problem is the common error body.
type Problem struct {
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

// Refused checks that an answer is an error of the proxy, whole in all its parts.
func (a Answer) Refused(t testing.TB, status int, code string) Problem {
	t.Helper()
	p := Decode[Problem](t, a.Body)
	if a.Status != status || p.Code != code {
		t.Errorf("status %d, code %q; want %d, %q: %s", a.Status, p.Code, status, code, a.Body)
	}
	if p.Message == "" || p.Error != p.Code || p.Detail.Error != p.Message {
		t.Errorf("the error body is not whole: %s", a.Body)
	}
	if p.RequestID == "" || p.RequestID != a.Header.Get("X-Request-Id") {
		t.Errorf("the request id of the body, %q, is not that of the header, %q", p.RequestID, a.Header.Get("X-Request-Id"))
	}
	if got := a.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("Content-Type %q", got)
	}
	return p
}
