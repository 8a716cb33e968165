package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/notify/webhook"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// Signing secrets of the tests.
const (
	secretOne = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
	secretTwo = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD"
)

type request struct {
	header http.Header
	body   string
	path   string
}

// receiver is an HTTP server whose paths decide what it answers: /ok, /status/N, /slow, /reset, /redirect.
type receiver struct {
	*httptest.Server

	mu  sync.Mutex
	got []request
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	mux := http.NewServeMux()
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, q *http.Request) {
		w.Header()["Retry-After"] = []string{q.URL.Query().Get("after")}
		code, _ := strconv.Atoi(q.PathValue("code"))
		w.WriteHeader(code)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, q *http.Request) { <-q.Context().Done() })
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/redirect", func(w http.ResponseWriter, q *http.Request) {
		http.Redirect(w, q, "/followed", http.StatusTemporaryRedirect)
	})
	mux.HandleFunc("/long", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, strings.Repeat("x", 1<<20)) })
	mux.HandleFunc("/", func(http.ResponseWriter, *http.Request) {})
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		r.got = append(r.got, request{header: q.Header.Clone(), body: string(body), path: q.URL.Path})
		r.mu.Unlock()
		mux.ServeHTTP(w, q)
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) requests() []request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]request(nil), r.got...)
}

func (r *receiver) ids() (out []string) {
	for _, q := range r.requests() {
		out = append(out, q.header.Get("webhook-id"))
	}
	return out
}

func (r *receiver) host() string { return strings.TrimPrefix(r.URL, "http://") }

// config is a config block for a path of the receiver, with more members.
func (r *receiver) config(path, more string) string {
	return fmt.Sprintf(`{"url":%q,"allow_hosts":[%q]%s}`, r.URL+path, r.host(), more)
}

// verify is the receiver's side of the specification.
func verify(q request, secret string) error {
	at, err := strconv.ParseInt(q.header.Get("webhook-timestamp"), 10, 64)
	if err != nil || time.Since(time.Unix(at, 0)).Abs() > 5*time.Minute {
		return fmt.Errorf("timestamp %q: %v", q.header.Get("webhook-timestamp"), err)
	}
	key, err := base64.StdEncoding.DecodeString(secret[len("whsec_"):])
	if err != nil {
		return err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%d.%s", q.header.Get("webhook-id"), at, q.body)
	for _, s := range strings.Split(q.header.Get("webhook-signature"), " ") {
		version, text, _ := strings.Cut(s, ",")
		if raw, err := base64.StdEncoding.DecodeString(text); err == nil && version == "v1" && hmac.Equal(raw, mac.Sum(nil)) {
			return nil
		}
	}
	return errors.New("no signature is right")
}

// client configures an instance and calls it over the wire.
func client(t *testing.T, config string) *notify.Client {
	t.Helper()
	l := plugintest.Load(t, webhook.Plugin())
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "ops", config)))
}

func alert() *notify.Notification {
	return &notify.Notification{
		ID: "n-1", Kind: "search.key_invalid", Version: 1, SentAt: time.Unix(1_700_000_000, 0), Severity: notify.Warning,
		Title: notify.Text{Plain: "A key is invalid"}, Summary: notify.Text{Plain: "s"}, Detail: notify.Text{Plain: "d"},
		Links: []notify.Link{{Label: "Keys", URL: "https://example.com/keys"}},
	}
}
