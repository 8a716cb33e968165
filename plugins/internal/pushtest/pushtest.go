// Package pushtest runs a push service for tests: one from npm that decrypts what it is sent, as a browser would, behind
// a front that keeps the headers and can be told to refuse. It needs Node 20 or newer with npm.
package pushtest

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/testkit"
	"github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed package.json package-lock.json
var files embed.FS

// Service is a running push service.
type Service struct {
	// Host is its address with port, to be allowed by the channel's guard.
	Host string

	front   *httptest.Server
	backend string

	mu     sync.Mutex
	posts  []Post
	answer http.HandlerFunc
}

// Post is one message that arrived, whatever became of it.
type Post struct {
	Path   string
	Header http.Header
	// Size is the length of the encrypted body.
	Size int
	// Status is what it was answered with; 0 until then.
	Status int
}

// Subscription is one of a browser.
type Subscription struct {
	Endpoint string
	Keys     notify.PushKeys

	service *Service
	id      string
}

// Start installs and starts the push service; it ends with the test. Where Node is missing the test is skipped, or fails
// if PATCHBAY_REQUIRE is all.
func Start(t testing.TB) *Service {
	t.Helper()
	_, nodeErr := exec.LookPath("node")
	_, npmErr := exec.LookPath("npm")
	testkit.Require(t, "node", nodeErr == nil && npmErr == nil, "install Node 20 or newer with npm")
	s := &Service{backend: startService(t, installService(t))}
	target, err := url.Parse(s.backend)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }}
	s.front = httptest.NewServer(s.keepRequests(proxy))
	t.Cleanup(s.front.Close)
	s.Host = strings.TrimPrefix(s.front.URL, "http://")
	return s
}

func installService(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json"} {
		raw, err := files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := testkit.InstallPackages(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// startService runs the push service on a free port and returns its address.
func startService(t testing.TB, dir string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
	_ = l.Close()
	var said bytes.Buffer
	cmd := exec.Command("node", filepath.Join("node_modules", "web-push-testing", "src", "bin", "server.js"), port)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if t.Failed() {
			t.Logf("the push service said:\n%s", said.String())
		}
	})
	base := "http://127.0.0.1:" + port
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if res, err := http.Post(base+"/status", "application/json", nil); err == nil {
			_ = res.Body.Close()
			return base
		}
		if time.Now().After(deadline) {
			t.Fatal("the push service does not start")
		}
	}
}

// keepRequests notes what arrives, and lets next or Answer answer it.
func (s *Service) keepRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		s.mu.Lock()
		at, answer := len(s.posts), s.answer
		s.posts = append(s.posts, Post{Path: r.URL.Path, Header: r.Header.Clone(), Size: len(body)})
		s.mu.Unlock()
		seen := &status{ResponseWriter: w, code: http.StatusOK}
		if answer != nil {
			answer(seen, r)
		} else {
			next.ServeHTTP(seen, r)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.posts[at].Status = seen.code
	})
}

type status struct {
	http.ResponseWriter
	code int
}

// WriteHeader implements http.ResponseWriter.
func (s *status) WriteHeader(code int) {
	s.code = code
	s.ResponseWriter.WriteHeader(code)
}

// Answer makes h answer all messages from now on, in place of the push service; nil ends that.
func (s *Service) Answer(h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = h
}

// Posts are the messages so far, in order.
func (s *Service) Posts() []Post {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Post(nil), s.posts...)
}

// callService asks the push service itself, as the emulated browser.
func (s *Service) callService(t testing.TB, path string, values url.Values, out any) {
	t.Helper()
	res, err := http.PostForm(s.backend+path, values)
	if err != nil {
		t.Fatalf("ask the push service: %v", err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("the push service answers %s with status %d: %s, %v", path, res.StatusCode, raw, err)
	}
	if out == nil {
		return
	}
	if err := json.Unmarshal(raw, &struct{ Data any }{out}); err != nil {
		t.Fatalf("read the answer of the push service: %v", err)
	}
}

// Subscribe makes a subscription that takes messages signed with one public key, base64url.
func (s *Service) Subscribe(t testing.TB, vapidPublicKey string) *Subscription {
	t.Helper()
	out := &Subscription{service: s}
	s.callService(t, "/subscribe", url.Values{"userVisibleOnly": {"true"}, "applicationServerKey": {vapidPublicKey}}, out)
	out.id = path.Base(out.Endpoint)
	out.Endpoint = s.front.URL + "/notify/" + out.id
	return out
}

// Received are the messages that arrived and could be decrypted, in order.
func (sub *Subscription) Received(t testing.TB) []string {
	t.Helper()
	var out struct{ Messages []string }
	sub.service.callService(t, "/get-notifications", url.Values{"clientHash": {sub.id}}, &out)
	return out.Messages
}

// Expire ends the subscription: from now on the push service answers with 410.
func (sub *Subscription) Expire(t testing.TB) {
	t.Helper()
	sub.service.callService(t, "/expire-subscription/"+sub.id, nil, nil)
}

// Target is the subscription for the channel, with the sender's public key and subject.
func (sub *Subscription) Target(vapidPublicKey, subject string) notify.PushTarget {
	return notify.PushTarget{Endpoint: sub.Endpoint, Keys: sub.Keys, VAPIDPublicKey: vapidPublicKey, VAPIDSubject: subject}
}
