package fake

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/url"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// AuthorizeURL implements client.CodeHost.
func (h *CodeHost) AuthorizeURL(_ context.Context, req codehost.AuthorizeRequest) (string, error) {
	return "https://code.example.com/authorize?" + url.Values{
		"client_id": {req.Client.ID}, "redirect_uri": {req.Client.RedirectURL}, "state": {req.State}, "code_challenge": {req.CodeChallenge},
	}.Encode(), nil
}

// Grant lets a person who was sent to a page of AuthorizeURL come back with a code for a token, once. It returns the code.
func (h *CodeHost) Grant(page string, token codehost.OAuthToken) (code string) {
	u, err := url.Parse(page)
	if err != nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	code = "code-" + string(token.AccessToken)
	h.grants[code] = oauthGrant{challenge: u.Query().Get("code_challenge"), redirect: u.Query().Get("redirect_uri"), token: token}
	return code
}

// oauthGrant is what a code stands for.
type oauthGrant struct {
	challenge, redirect string
	token               codehost.OAuthToken
}

// ExchangeCode implements client.CodeHost.
func (h *CodeHost) ExchangeCode(ctx context.Context, app codehost.OAuthClient, code, verifier schema.Secret) (*codehost.OAuthToken, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "parse", Of: "exchangecode"}); err != nil {
		return nil, err
	}
	grant, ok := h.grants[code.Reveal()]
	delete(h.grants, code.Reveal())
	sum := sha256.Sum256([]byte(verifier.Reveal()))
	if !ok || grant.redirect != app.RedirectURL || grant.challenge != base64.RawURLEncoding.EncodeToString(sum[:]) {
		return nil, CodeHostError(401, 0)
	}
	return &grant.token, nil
}

// SetRefreshed sets the token that a refresh token is worth.
func (h *CodeHost) SetRefreshed(refreshToken schema.Secret, token codehost.OAuthToken) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.refreshed[refreshToken] = token
}

// RefreshToken implements client.CodeHost. A refresh token is good for one call.
func (h *CodeHost) RefreshToken(ctx context.Context, _ codehost.OAuthClient, refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "parse", Of: "refreshtoken"}); err != nil {
		return nil, err
	}
	token, ok := h.refreshed[refreshToken]
	delete(h.refreshed, refreshToken)
	if !ok {
		return nil, CodeHostError(401, 0)
	}
	return &token, nil
}
