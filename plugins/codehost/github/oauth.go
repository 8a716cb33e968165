package github

import (
	"context"

	"github.com/patchbay-dev/patchbay/plugins/internal/oauthflow"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// oauthScopes are what a token of a sign-in may do: read stars, the inbox and followers, and react to releases.
var oauthScopes = []string{"read:user", "notifications", "public_repo"}

// oauthHost returns where people sign in. The pages of a server of one's own are those of the same address.
func (h *host) oauthHost() oauthflow.Host {
	return oauthflow.Host{
		HTTP: h.http, AuthorizeURL: h.pages + "/login/oauth/authorize", TokenURL: h.pages + "/login/oauth/access_token", Scopes: oauthScopes,
	}
}

// AuthorizeURL implements codehost.OAuthHost.
func (h *host) AuthorizeURL(_ context.Context, req codehost.AuthorizeRequest) (string, error) {
	return h.oauthHost().PageFor(req), nil
}

// ExchangeCode implements codehost.OAuthHost.
func (h *host) ExchangeCode(ctx context.Context, app codehost.OAuthClient, code, verifier schema.Secret) (*codehost.OAuthToken, error) {
	return h.oauthHost().ExchangeCode(ctx, app, code, verifier)
}

// RefreshToken implements codehost.OAuthHost.
func (h *host) RefreshToken(ctx context.Context, app codehost.OAuthClient, refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	return h.oauthHost().RefreshToken(ctx, app, refreshToken)
}
