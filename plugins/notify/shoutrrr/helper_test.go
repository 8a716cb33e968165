package shoutrrr_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/notify/shoutrrr"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

type request struct {
	method, host, path, query, body string
	header                          http.Header
}

// services stands in for the servers of many services; it answers in their published forms. Paths: /status/N, /slow.
type services struct {
	*httptest.Server

	mu  sync.Mutex
	got []request
}

func newServices(t testing.TB) *services {
	t.Helper()
	s := &services{}
	end := make(chan struct{})
	mux := http.NewServeMux()
	say := func(pattern, answer string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, answer)
		})
	}
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, q *http.Request) {
		code, _ := strconv.Atoi(q.PathValue("code"))
		http.Error(w, "tok-in-answer", code)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, q *http.Request) {
		select {
		case <-q.Context().Done():
		case <-end:
		}
	})
	mux.HandleFunc("/limited", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, `{"code":42901,"http":429,"error":"limit reached: too many requests"}`)
	})
	mux.HandleFunc("/forbidden", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"code":40301,"http":403,"error":"forbidden"}`)
	})
	say("POST /topic", `{"id":"Ab1","time":1700000000,"event":"message","topic":"topic","message":"m"}`)
	say("POST /message", `{"id":1,"appid":2,"message":"m","title":"t","priority":0,"date":"2026-01-01T00:00:00Z"}`)
	say("GET /_matrix/client/r0/login", `{"flows":[{"type":"m.login.password"}]}`)
	mux.HandleFunc("POST /_matrix/client/r0/login", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = io.WriteString(w, `{"errcode":"M_FORBIDDEN","error":"Invalid username or password"}`)
	})
	say("POST /_matrix/client/r0/join/{room}", `{"room_id":"!room:example.com"}`)
	say("POST /_matrix/client/r0/rooms/{room}/send/m.room.message", `{"event_id":"$1"}`)
	say("POST /push", `{"code":200,"message":"success","timestamp":1700000000}`)
	mux.HandleFunc("POST /hooks/{token}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("POST /services/{a}/{b}/{c}", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") })
	mux.HandleFunc("POST /api/webhooks/{id}/{token}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "1") })
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		s.mu.Lock()
		s.got = append(s.got, request{q.Method, q.Host, q.URL.Path, q.URL.RawQuery, string(body), q.Header.Clone()})
		s.mu.Unlock()
		mux.ServeHTTP(w, q)
	}))
	t.Cleanup(func() {
		close(end)
		s.Close()
	})
	return s
}

func (s *services) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.got...)
}

func (s *services) host() string { return strings.TrimPrefix(s.URL, "http://") }

// generic is the address of a path for the service that posts the text.
func (s *services) generic(path string) string { return "generic+" + s.URL + path }

// config is a config block for some addresses.
func config(more string, urls ...string) string {
	raw, err := json.Marshal(urls)
	if err != nil {
		panic(err)
	}
	return fmt.Sprintf(`{"urls":%s%s}`, raw, more)
}

// client configures an instance and calls it over the wire.
func client(t testing.TB, config string) *notify.Client {
	t.Helper()
	l := plugintest.Load(t, shoutrrr.Plugin())
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "chat", config)))
}

func event(title string) *notify.Notification {
	return &notify.Notification{
		ID: "n-1", Kind: "job_finished", Version: 2, SentAt: time.Unix(1_700_000_000, 0), Severity: notify.Success,
		Title: notify.Text{Plain: title}, Summary: notify.Text{Plain: "更新完成 100%"}, Detail: notify.Text{Plain: "line 1\nline 2"},
		Links: []notify.Link{{Label: "Job", URL: "https://example.com/queue/1?a=b&c=d"}},
	}
}
