package oci_test

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

const (
	user     = "reader"
	password = "correct-horse"
	// hashed is the line of htpasswd for them.
	hashed = "reader:$2y$05$sj6DWkcC7sByCgATs89Lr.Br7qUV5WZu9Ti.sci9RDwyOgsgagDc6\n"
)

// login writes a Docker client configuration for a host.
func login(t testing.TB, host, user, password string) string {
	t.Helper()
	auth := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return write(t, filepath.Join(t.TempDir(), "config.json"), fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, auth))
}

func TestPassword(t *testing.T) {
	dir := t.TempDir()
	want := newServer(t, dir, "").push(t, "app", "1", "linux/amd64")
	file := write(t, filepath.Join(t.TempDir(), "htpasswd"), hashed)
	s := newServer(t, dir, fmt.Sprintf("auth:\n  htpasswd:\n    realm: test\n    path: %s\n", file))
	p := newProxy(t, s.host)
	c := client(t, "{}")
	good, bad := login(t, p.host, user, password), login(t, p.host, user, "wrong-"+password)
	ask := func(config string) (*registry.Resolved, error) {
		return c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:1", Known: []string{want},
			Access: registry.Access{DockerConfig: config}})
	}
	for i, requests := range []int{2, 1, 1} {
		got, err := ask(good)
		if err != nil || got.Digest != want {
			t.Fatalf("%+v, %v", got, err)
		}
		if n := len(p.requests()); n != requests {
			t.Errorf("question %d took %d requests", i, n)
		}
	}
	for name, config := range map[string]string{"wrong password": bad, "anonymous": ""} {
		_, err := ask(config)
		e := errs.From(err)
		if e == nil || e.Code != codes.Unauthenticated || e.Source != errs.Upstream || strings.Contains(err.Error(), password) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p.requests()
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	write(t, bad, string(raw)+" ")
	if got, err := ask(bad); err != nil || got.Digest != want {
		t.Errorf("after the file was corrected: %+v, %v", got, err)
	}
	hosts, err := c.Credentials(t.Context(), registry.Access{DockerConfig: filepath.Dir(good)}, []string{"docker.io", p.host, "other.example"})
	if err != nil || !slices.Equal(hosts, []string{p.host}) {
		t.Errorf("credentials for %q, %v", hosts, err)
	}
}

// tokens is a token server whose tokens a docker-registry accepts.
type tokens struct {
	*httptest.Server
	key  *rsa.PrivateKey
	cert []byte
	life time.Duration

	mu    sync.Mutex
	given int
}

const (
	issuer  = "test-issuer"
	service = "test-service"
)

func newTokens(t *testing.T) *tokens {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: issuer}, NotBefore: time.Now().Add(-time.Hour),
		NotAfter: time.Now().Add(time.Hour),
		IsCA:     true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	s := &tokens{key: key, cert: cert, life: time.Minute}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

// section is the auth section of the registry's configuration.
func (s *tokens) section(t *testing.T) string {
	t.Helper()
	bundle := write(t, filepath.Join(t.TempDir(), "ca.pem"), string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.cert})))
	return fmt.Sprintf("auth:\n  token:\n    realm: %s/token\n    service: %s\n    issuer: %s\n    rootcertbundle: %s\n", s.URL, service,
		issuer, bundle)
}

func (s *tokens) serve(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	name, secret, _ := r.BasicAuth()
	switch {
	case r.Form.Get("service") != service:
		w.WriteHeader(http.StatusBadRequest)
		return
	case r.Method == http.MethodPost && (r.Form.Get("grant_type") != "refresh_token" || r.Form.Get("refresh_token") != password),
		r.Method == http.MethodGet && (name != user || secret != password):
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	s.given++
	life := s.life
	s.mu.Unlock()
	parts := strings.Split(r.Form.Get("scope"), ":")
	now := time.Now()
	claims := map[string]any{
		"iss": issuer, "sub": user, "aud": service, "iat": now.Unix(), "nbf": now.Add(-time.Minute).Unix(), "exp": now.Add(time.Minute).Unix(),
		"jti":    fmt.Sprint(now.UnixNano()),
		"access": []map[string]any{{"type": parts[0], "name": parts[1], "actions": strings.Split(parts[2], ",")}},
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": s.sign(claims), "expires_in": life.Seconds()})
}

func (s *tokens) sign(claims map[string]any) string {
	encode := func(v any) string {
		raw, _ := json.Marshal(v)
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	header := map[string]any{"typ": "JWT", "alg": "RS256", "x5c": []string{base64.StdEncoding.EncodeToString(s.cert)}}
	text := encode(header) + "." + encode(claims)
	sum := sha256.Sum256([]byte(text))
	signature, _ := rsa.SignPKCS1v15(rand.Reader, s.key, crypto.SHA256, sum[:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (s *tokens) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.given
}

// TestTokens asks a registry whose token server stands on a private address, at another port.
func TestTokens(t *testing.T) {
	dir := t.TempDir()
	open := newServer(t, dir, "")
	want := open.push(t, "team/app", "1", "linux/amd64")
	open.push(t, "team/other", "1", "linux/amd64")
	ts := newTokens(t)
	s := newServer(t, dir, ts.section(t))
	p := newProxy(t, s.host)
	identity := write(t, filepath.Join(t.TempDir(), "config.json"), fmt.Sprintf(`{"auths":{%q:{"identitytoken":%q}}}`, p.host, password))
	for name, config := range map[string]string{"password": login(t, p.host, user, password), "identity token": identity} {
		t.Run(name, func(t *testing.T) {
			c := client(t, fmt.Sprintf(`{"docker_config":%q}`, config))
			before := ts.count()
			ask := func(repo string) error {
				_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/team/" + repo + ":1", Known: []string{want}})
				return err
			}
			p.requests()
			if err := ask("app"); err != nil {
				t.Fatal(err)
			}
			if got := p.requests(); len(got) != 2 {
				t.Errorf("the first question: %q", got)
			}
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					if err := ask("app"); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if got := p.requests(); len(got) != 8 || ts.count()-before != 1 {
				t.Errorf("%d tokens, requests %q", ts.count()-before, got)
			}
			if _, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/team/other:1"}); err != nil {
				t.Error(err)
			}
			if n := ts.count() - before; n != 2 {
				t.Errorf("%d tokens for two repositories", n)
			}
		})
	}
	_, err := client(t, fmt.Sprintf(`{"docker_config":%q}`, login(t, p.host, user, "wrong"))).Resolve(t.Context(),
		registry.ResolveRequest{Ref: p.host + "/team/app:1"})
	if e := errs.From(err); e == nil || e.Code != codes.Unauthenticated || e.Source != errs.Upstream ||
		"http://"+e.Upstream.GetHost() != ts.URL {
		t.Errorf("a wrong password: %v", err)
	}
}

// A token that the registry takes back is replaced, once.
func TestTokenTakenBack(t *testing.T) {
	dir := t.TempDir()
	want := newServer(t, dir, "").push(t, "app", "1", "linux/amd64")
	ts := newTokens(t)
	p := newProxy(t, newServer(t, dir, ts.section(t)).host)
	c := client(t, fmt.Sprintf(`{"docker_config":%q}`, login(t, p.host, user, password)))
	ask := func() error {
		_, err := c.Resolve(t.Context(), registry.ResolveRequest{Ref: p.host + "/app:1", Known: []string{want}})
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	old := ""
	p.set(func(w http.ResponseWriter, r *http.Request) bool {
		mu.Lock()
		defer mu.Unlock()
		if old == "" {
			old = r.Header.Get("Authorization")
		}
		if r.Header.Get("Authorization") != old {
			return false
		}
		w.Header().Set("Www-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service=%q,error="invalid_token"`, ts.URL, service))
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}, nil)
	if err := ask(); err != nil {
		t.Error(err)
	}
	if got := p.requests(); len(got) != 2 || ts.count() != 2 {
		t.Errorf("%d tokens, requests %q", ts.count(), got)
	}
}
