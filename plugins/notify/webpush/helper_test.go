package webpush_test

import (
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/pushtest"
	"github.com/patchbay-dev/patchbay/plugins/notify/webpush"
	"github.com/patchbay-dev/patchbay/sdk/notify"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

const subject = "mailto:ops@example.com"

// keys makes a pair, base64url.
func keys(t testing.TB) (public, private string) {
	t.Helper()
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return encodeMember(key.PublicKey().Bytes()), encodeMember(key.Bytes())
}

func encodeMember(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

// target is a recipient as JSON and secret.
func target(t testing.TB, to notify.PushTarget, private string) notify.Target {
	t.Helper()
	out, err := notify.NewTarget(to, schema.Secret(private))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// somewhere is a good target at an address.
func somewhere(t testing.TB, endpoint string) (notify.PushTarget, string) {
	t.Helper()
	public, private := keys(t)
	browser, _ := keys(t)
	return notify.PushTarget{
		Endpoint: endpoint, Keys: notify.PushKeys{P256dh: browser, Auth: encodeMember(make([]byte, 16))}, VAPIDPublicKey: public,
		VAPIDSubject: subject,
	}, private
}

// client configures an instance and calls it over the wire.
func client(t testing.TB, config string) *notify.Client {
	t.Helper()
	l := plugintest.Load(t, webpush.Plugin())
	return notify.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, notify.Kind, "push", config)))
}

func allow(host, more string) string { return `{"allow_hosts":["` + host + `"]` + more + `}` }

func event() *notify.Notification {
	return &notify.Notification{
		ID: "n-1", Kind: "new_version", Version: 2, SentAt: time.Unix(1_700_000_000, 0), Severity: notify.Info,
		Title: notify.Text{Plain: "网关 has a new version"}, Summary: notify.Text{Plain: "1.2 → 1.3"}, Detail: notify.Text{Plain: "d"},
		Links: []notify.Link{{Label: "Service", URL: "https://example.com/services/a/b"}},
	}
}

// message is what the service worker reads.
type message struct{ ID, Title, Body, URL, Kind string }

func parse(t testing.TB, text string) (m message) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &m); err != nil {
		t.Fatalf("the message %q: %v", text, err)
	}
	return m
}

// received are the ids of the messages of a subscription.
func received(t testing.TB, sub *pushtest.Subscription) (ids []string) {
	t.Helper()
	for _, text := range sub.Received(t) {
		ids = append(ids, parse(t, text).ID)
	}
	return ids
}

// refusing is a push service that answers by the path: /status/N, /slow, /reset.
func refusing(t testing.TB) (host string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Retry-After"] = []string{r.URL.Query().Get("after")}
		code := 0
		for _, d := range r.PathValue("code") {
			code = code*10 + int(d-'0')
		}
		w.WriteHeader(code)
	})
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, r *http.Request) {
		// The end of the connection is noticed only once the body was read.
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
	mux.HandleFunc("/reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://")
}

// mine are the posts to one subscription.
func mine(s *pushtest.Service, sub *pushtest.Subscription) (out []pushtest.Post) {
	for _, p := range s.Posts() {
		if strings.HasSuffix(sub.Endpoint, p.Path) {
			out = append(out, p)
		}
	}
	return out
}

type claims struct {
	Aud, Sub string
	Exp      int64
}

// verify is the push service's side of RFC 8292.
func verify(header, public string) (out claims, err error) {
	var token, key string
	if _, err := fmt.Sscanf(strings.ReplaceAll(header, ",", " "), "vapid t=%s k=%s", &token, &key); err != nil || key != public {
		return out, fmt.Errorf("header %q: %v", header, err)
	}
	parts := strings.Split(token, ".")
	var raw [3][]byte
	for i := range raw {
		if raw[i], err = base64.RawURLEncoding.DecodeString(parts[i]); err != nil {
			return out, err
		}
	}
	point, err := base64.RawURLEncoding.DecodeString(public)
	if err != nil {
		return out, err
	}
	pub, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return out, err
	}
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	if !ecdsa.Verify(pub, sum[:], new(big.Int).SetBytes(raw[2][:32]), new(big.Int).SetBytes(raw[2][32:])) {
		return out, errors.New("the signature is wrong")
	}
	if !strings.Contains(string(raw[0]), `"ES256"`) {
		return out, fmt.Errorf("the token's header is %s", raw[0])
	}
	return out, json.Unmarshal(raw[1], &out)
}
