package github_test

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// TestOAuth signs in as a browser does, and refreshes the token.
func TestOAuth(t *testing.T) {
	s := world(t)
	s.SetOAuthApp(githubtest.OAuthApp{
		ClientID: "app", Secret: "secret-of-app", Callback: "https://patchbay.example.com/callback", Login: "me", Token: token.Reveal(),
		Refresh: "ghr_1", ExpiresIn: 28800,
	})
	c := client(t, `{"base_url":"`+s.URL+`"}`)
	const verifier = "verifier-of-forty-three-characters-at-least-x"
	sum := sha256.Sum256([]byte(verifier))
	app := codehost.OAuthClient{ID: "app", Secret: "secret-of-app", RedirectURL: "https://patchbay.example.com/callback"}
	newCode := func() schema.Secret {
		t.Helper()
		page, err := c.AuthorizeURL(t.Context(),
			codehost.AuthorizeRequest{Client: app, State: "st", CodeChallenge: base64.RawURLEncoding.EncodeToString(sum[:])})
		if err != nil || !strings.HasPrefix(page, s.URL+"/login/oauth/authorize?") {
			t.Fatalf("%s, %v", page, err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, page, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
		back, err := url.Parse(res.Header.Get("Location"))
		if err != nil || back.Query().Get("state") != "st" || back.Query().Get("code") == "" {
			t.Fatalf("sent back to %s", back)
		}
		return schema.Secret(back.Query().Get("code"))
	}
	code := newCode()
	got, err := c.ExchangeCode(t.Context(), app, code, verifier)
	if err != nil || got.AccessToken != token || got.RefreshToken != "ghr_1" || time.Until(got.ExpiresAt) < 7*time.Hour {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err = c.RefreshToken(t.Context(), app, "ghr_1"); err != nil || got.AccessToken != token {
		t.Errorf("%+v, %v", got, err)
	}
	wrong := app
	wrong.Secret = "secret-of-nobody"
	for name, call := range map[string]func() error{
		"a used code":             func() error { return second(c.ExchangeCode(t.Context(), app, code, verifier)) },
		"another verifier":        func() error { return second(c.ExchangeCode(t.Context(), app, newCode(), verifier+"x")) },
		"another secret":          func() error { return second(c.ExchangeCode(t.Context(), wrong, newCode(), verifier)) },
		"a refresh token of none": func() error { return second(c.RefreshToken(t.Context(), app, "ghr_0")) },
	} {
		e := errs.From(call())
		if e == nil || e.Code != codes.Unauthenticated || e.Source != errs.Upstream || strings.Contains(e.Error(), "secret-of") {
			t.Errorf("%s: %v", name, e)
		}
	}
	s.Instead(func(*http.Request) *githubtest.Answer { return &githubtest.Answer{Status: 503, Body: "{}"} })
	if e := errs.From(second(c.ExchangeCode(t.Context(), app, "x", verifier))); e == nil || e.Code != codes.Unavailable {
		t.Errorf("a host that is down: %v", e)
	}
	s.Instead(func(*http.Request) *githubtest.Answer { return &githubtest.Answer{Status: 200, Body: "<html>"} })
	if e := errs.From(second(c.ExchangeCode(t.Context(), app, "x", verifier))); e == nil || e.Code != codes.Unavailable {
		t.Errorf("an answer that is no JSON: %v", e)
	}
}
