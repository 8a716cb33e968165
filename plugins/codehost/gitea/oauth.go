package gitea

import (
	"context"

	"github.com/patchbay-dev/patchbay/plugins/internal/oauthflow"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// oauthScopes are what a token of a sign-in may do. Servers without granular scopes ignore them.
var oauthScopes = []string{"read:user", "read:repository", "read:notification"}

// oauthHost returns where people sign in.
func (h *host) oauthHost() oauthflow.Host {
	return oauthflow.Host{
		HTTP: h.http, AuthorizeURL: h.webURL("login", "oauth", "authorize"), TokenURL: h.webURL("login", "oauth", "access_token"),
		Scopes: oauthScopes,
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
