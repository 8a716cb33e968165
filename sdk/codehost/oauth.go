package codehost

import (
	"context"
	"net/url"
	"time"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// OAuthHost is a code host at which people let applications act for them, by the authorization code flow of OAuth 2.0 with
// PKCE: CapOAuth.
type OAuthHost interface {
	// AuthorizeURL returns the page at which a person lets the application act for them, with the scopes that the other calls
	// need. It is pure: no network.
	AuthorizeURL(ctx context.Context, req AuthorizeRequest) (string, error)
	// ExchangeCode returns the token for a code with which the host sent a person back. A code that the host refuses is
	// UNAUTHENTICATED.
	ExchangeCode(ctx context.Context, client OAuthClient, code, verifier schema.Secret) (*OAuthToken, error)
	// RefreshToken returns a token in the place of one that has expired. A refresh token that the host refuses is
	// UNAUTHENTICATED.
	RefreshToken(ctx context.Context, client OAuthClient, refreshToken schema.Secret) (*OAuthToken, error)
}

// OAuthClient is an application that is registered at the host.
type OAuthClient struct {
	ID string
	// Secret is not needed by AuthorizeURL.
	Secret schema.Secret
	// RedirectURL is where the host sends people back to, as it is registered.
	RedirectURL string
}

// AuthorizeRequest is what a person is asked at the host.
type AuthorizeRequest struct {
	Client OAuthClient
	// State comes back with the person, unchanged.
	State string
	// CodeChallenge is the SHA-256 digest of the verifier, in base64url without padding.
	CodeChallenge string
}

// OAuthToken is a token that a person let an application have.
type OAuthToken struct {
	AccessToken schema.Secret
	// RefreshToken is empty if the token cannot be refreshed; ExpiresAt is zero if it does not end.
	RefreshToken schema.Secret
	ExpiresAt    time.Time
}

// maxCode bounds codes, verifiers and tokens, in bytes.
const maxCode = 4096

func (c OAuthClient) toProto() *codehostv1.OAuthClient {
	return &codehostv1.OAuthClient{Id: c.ID, Secret: secretToProto(c.Secret), RedirectUrl: c.RedirectURL}
}

func oauthClientFrom(p *codehostv1.OAuthClient) OAuthClient {
	return OAuthClient{ID: p.GetId(), Secret: secretFrom(p.GetSecret()), RedirectURL: p.GetRedirectUrl()}
}

func (t *OAuthToken) toProto() *codehostv1.TokenResponse {
	return &codehostv1.TokenResponse{AccessToken: secretToProto(t.AccessToken), RefreshToken: secretToProto(t.RefreshToken),
		ExpiresUnixMs: unixMS(t.ExpiresAt)}
}

func oauthTokenFrom(p *codehostv1.TokenResponse) *OAuthToken {
	return &OAuthToken{AccessToken: secretFrom(p.GetAccessToken()), RefreshToken: secretFrom(p.GetRefreshToken()),
		ExpiresAt: timeFrom(p.GetExpiresUnixMs())}
}

// checkClient refuses an application that no host can know.
func checkClient(p *codehostv1.OAuthClient) error {
	u, err := url.Parse(p.GetRedirectUrl())
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return errs.BadInput(ReasonInvalidRequest, "the redirect address must be absolute")
	}
	return checkText("the id of the application", p.GetId(), maxName)
}

// checkSecret refuses a secret that is empty, too long or has spaces, without quoting it.
func checkSecret(what string, s schema.Secret) error { return checkText(what, s.Reveal(), maxCode) }

// AuthorizeURL implements the service.
func (s *server) AuthorizeURL(ctx context.Context, p *codehostv1.AuthorizeURLRequest) (out *codehostv1.AuthorizeURLResponse, err error) {
	if err := firstError(checkClient(p.GetClient()), checkText("the state", p.GetState(), maxName),
		checkText("the code challenge", p.GetCodeChallenge(), maxName)); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapOAuth, func(h OAuthHost) error {
		page, err := h.AuthorizeURL(ctx, AuthorizeRequest{Client: oauthClientFrom(p.GetClient()), State: p.GetState(),
			CodeChallenge: p.GetCodeChallenge()})
		out = &codehostv1.AuthorizeURLResponse{Url: page}
		return err
	})
	return out, err
}

// ExchangeCode implements the service.
func (s *server) ExchangeCode(ctx context.Context, p *codehostv1.ExchangeCodeRequest) (out *codehostv1.TokenResponse, err error) {
	code, verifier := secretFrom(p.GetCode()), secretFrom(p.GetCodeVerifier())
	if err := firstError(checkClient(p.GetClient()), checkSecret("the code", code), checkSecret("the code verifier", verifier)); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapOAuth, func(h OAuthHost) error {
		got, err := h.ExchangeCode(ctx, oauthClientFrom(p.GetClient()), code, verifier)
		if err == nil && got != nil {
			out = got.toProto()
		}
		return err
	})
	return out, err
}

// RefreshToken implements the service.
func (s *server) RefreshToken(ctx context.Context, p *codehostv1.RefreshTokenRequest) (out *codehostv1.TokenResponse, err error) {
	refresh := secretFrom(p.GetRefreshToken())
	if err := firstError(checkClient(p.GetClient()), checkSecret("the refresh token", refresh)); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapOAuth, func(h OAuthHost) error {
		got, err := h.RefreshToken(ctx, oauthClientFrom(p.GetClient()), refresh)
		if err == nil && got != nil {
			out = got.toProto()
		}
		return err
	})
	return out, err
}

// AuthorizeURL implements OAuthHost.
func (c *Client) AuthorizeURL(ctx context.Context, req AuthorizeRequest) (string, error) {
	out, err := callInstance(ctx, c, c.rpc.AuthorizeURL,
		&codehostv1.AuthorizeURLRequest{Client: req.Client.toProto(), State: req.State, CodeChallenge: req.CodeChallenge})
	return out.GetUrl(), err
}

// ExchangeCode implements OAuthHost.
func (c *Client) ExchangeCode(ctx context.Context, client OAuthClient, code, verifier schema.Secret) (*OAuthToken, error) {
	out, err := callInstance(ctx, c, c.rpc.ExchangeCode,
		&codehostv1.ExchangeCodeRequest{Client: client.toProto(), Code: secretToProto(code), CodeVerifier: secretToProto(verifier)})
	if err != nil {
		return nil, err
	}
	return oauthTokenFrom(out), nil
}

// RefreshToken implements OAuthHost.
func (c *Client) RefreshToken(ctx context.Context, client OAuthClient, refreshToken schema.Secret) (*OAuthToken, error) {
	out, err := callInstance(ctx, c, c.rpc.RefreshToken,
		&codehostv1.RefreshTokenRequest{Client: client.toProto(), RefreshToken: secretToProto(refreshToken)})
	if err != nil {
		return nil, err
	}
	return oauthTokenFrom(out), nil
}
