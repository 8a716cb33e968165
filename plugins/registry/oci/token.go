package oci

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// Life of a token whose answer does not tell it, and the bounds of what is believed.
const (
	defaultLife = 60 * time.Second
	maxLife     = 24 * time.Hour
	maxTokens   = 5000
)

// token is the token for one repository. lock is held while it is fetched, so that many questions share one.
type token struct {
	lock   chan struct{}
	header string
	until  time.Time
}

// bearerHeader returns a header with a token for a repository, fetched if there is none that is good.
func (s *session) bearerHeader(ctx context.Context, want *challenge, c credential, repo, refused string) (string, error) {
	t := s.tokenSlot(repo, c)
	select {
	case t.lock <- struct{}{}:
		defer func() { <-t.lock }()
	case <-ctx.Done():
		return "", contextError(ctx)
	}
	if t.header != "" && t.header != refused && s.reader.now().Before(t.until) {
		return t.header, nil
	}
	text, life, err := s.fetchToken(ctx, want, c, repo)
	if err != nil {
		return "", err
	}
	// A token is given up before it ends: a request takes time, and clocks differ.
	t.header, t.until = "Bearer "+text, s.reader.now().Add(life-life/10-time.Second)
	return t.header, nil
}

// tokenSlot returns the slot of a repository. Other credentials void all tokens.
func (s *session) tokenSlot(repo string, c credential) *token {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used != c || len(s.tokens) >= maxTokens {
		s.used = c
		clear(s.tokens)
	}
	t := s.tokens[repo]
	if t == nil {
		t = &token{lock: make(chan struct{}, 1)}
		s.tokens[repo] = t
	}
	return t
}

// fetchToken asks the token server that a challenge names.
func (s *session) fetchToken(ctx context.Context, want *challenge, c credential, repo string) (string, time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, s.reader.timeout)
	defer cancel()
	req, err := s.tokenRequest(want, c, repo)
	if err != nil {
		return "", 0, err
	}
	st, err := s.askRealm(ctx, req)
	if err != nil {
		return "", 0, err
	}
	defer st.Close()
	if st.Status != http.StatusOK {
		s.reader.creds.forgetCredential(s.key.dockerConfig, s.key.domain)
		r := s.toRefusal(question{method: req.Method, repo: repo, path: "token"}, st)
		r.host = req.URL.Host
		return "", 0, r.orError(nil)
	}
	body, err := readAll(st, maxToken)
	if err != nil {
		return "", 0, err
	}
	var got struct {
		Token       string  `json:"token"`
		AccessToken string  `json:"access_token"`
		ExpiresIn   float64 `json:"expires_in"`
	}
	if json.Unmarshal(body, &got) != nil {
		return "", 0, s.protocolError("the token server %s gave an answer that is not JSON", req.URL.Host)
	}
	if got.Token == "" {
		got.Token = got.AccessToken
	}
	if got.Token == "" || strings.ContainsAny(got.Token, " \r\n\t") {
		return "", 0, s.protocolError("the token server %s gave no token", req.URL.Host)
	}
	life := time.Duration(min(max(got.ExpiresIn, 0), maxLife.Seconds()) * float64(time.Second))
	if life == 0 {
		life = defaultLife
	}
	return got.Token, life, nil
}

func (s *session) tokenRequest(want *challenge, c credential, repo string) (*httpx.Request, error) {
	realm, err := url.Parse(want.realm)
	if err != nil || realm.Host == "" || realm.Scheme != "https" && realm.Scheme != "http" || realm.User != nil {
		return nil, s.protocolError("%s names no address where tokens are given", s)
	}
	if realm.Scheme == "http" && s.scheme == "https" && c != (credential{}) && !isLoopback(realm.Host) {
		return nil, s.protocolError("%s wants credentials sent to %s over plain HTTP", s, realm.Host)
	}
	scope := "repository:" + repo + ":pull"
	if c.identity != "" {
		form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.identity}, "client_id": {"patchbay"}, "scope": {scope}}
		if want.service != "" {
			form.Set("service", want.service)
		}
		header := http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}
		return &httpx.Request{Method: http.MethodPost, URL: realm, Header: header, Body: []byte(form.Encode())}, nil
	}
	query := realm.Query()
	query.Set("scope", scope)
	if want.service != "" {
		query.Set("service", want.service)
	}
	realm.RawQuery = query.Encode()
	req := &httpx.Request{Method: http.MethodGet, URL: realm, Header: http.Header{}}
	if c.user != "" || c.password != "" {
		req.Header["Authorization"] = []string{basicHeader(c)}
	}
	return req, nil
}

// protocolError returns the error of an upstream that does not keep to the protocol.
func (s *session) protocolError(format string, args ...any) *errs.Error {
	return errs.Unavailable(errs.ReasonProtocol, format, args...)
}
