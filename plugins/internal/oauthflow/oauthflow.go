// Package oauthflow is the authorization code flow of OAuth 2.0 with PKCE, for code hosts at which people sign in.
package oauthflow

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"golang.org/x/oauth2"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	sharedv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/shared/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Host is where the flow takes place.
type Host struct {
	HTTP *httpx.Client
	// AuthorizeURL is the page for people, TokenURL the address for programs.
	AuthorizeURL, TokenURL string
	// Scopes are what a token may do, in the words of the host.
	Scopes []string
}

// maxSaid is how much of the host's own words goes into an error, in bytes.
const maxSaid = 300

// configFor returns the flow for an application.
func (h Host) configFor(app codehost.OAuthClient) *oauth2.Config {
	return &oauth2.Config{
		ClientID: app.ID, ClientSecret: app.Secret.Reveal(), RedirectURL: app.RedirectURL, Scopes: h.Scopes,
		Endpoint: oauth2.Endpoint{AuthURL: h.AuthorizeURL, TokenURL: h.TokenURL, AuthStyle: oauth2.AuthStyleInParams},
	}
}

// PageFor returns the page at which a person lets an application act for them.
func (h Host) PageFor(req codehost.AuthorizeRequest) string {
	return h.configFor(req.Client).AuthCodeURL(req.State,
		oauth2.SetAuthURLParam("code_challenge", req.CodeChallenge), oauth2.SetAuthURLParam("code_challenge_method", "S256"))
}

// ExchangeCode returns the token for a code.
func (h Host) ExchangeCode(ctx context.Context, app codehost.OAuthClient, code, verifier schema.Secret) (*codehost.OAuthToken, error) {
	token, err := h.configFor(app).Exchange(h.withClient(ctx), code.Reveal(), oauth2.VerifierOption(verifier.Reveal()))
	return h.readToken(token, err)
}

// RefreshToken returns a token in the place of one that has expired.
func (h Host) RefreshToken(ctx context.Context, app codehost.OAuthClient, refreshToken schema.Secret) (*codehost.OAuthToken, error) {
	token, err := h.configFor(app).TokenSource(h.withClient(ctx),
		&oauth2.Token{RefreshToken: refreshToken.Reveal(), Expiry: time.Unix(1, 0)}).Token()
	return h.readToken(token, err)
}

// withClient returns a context in which requests of the flow go over the client of the host.
func (h Host) withClient(ctx context.Context) context.Context {
	return context.WithValue(ctx, oauth2.HTTPClient,
		&http.Client{Transport: transport{h.HTTP}, CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		}})
}

// readToken returns a token, or what the refusal of the host means. What was sent is in no error.
func (h Host) readToken(token *oauth2.Token, err error) (*codehost.OAuthToken, error) {
	if err == nil {
		return &codehost.OAuthToken{AccessToken: schema.Secret(token.AccessToken), RefreshToken: schema.Secret(token.RefreshToken),
			ExpiresAt: token.Expiry}, nil
	}
	var known *errs.Error
	if errors.As(err, &known) {
		return nil, known
	}
	var refused *oauth2.RetrieveError
	if !errors.As(err, &refused) {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer with the token cannot be read")
	}
	if status := refused.Response.StatusCode; status >= 500 || status == http.StatusTooManyRequests {
		return nil, h.explainRefusal(refused, codes.Unavailable)
	}
	return nil, h.explainRefusal(refused, codes.Unauthenticated)
}

// explainRefusal returns the error that a refusal means, with the code of the host, such as bad_verification_code.
func (h Host) explainRefusal(refused *oauth2.RetrieveError, code codes.Code) error {
	said := refused.ErrorCode
	if said == "" {
		said = http.StatusText(refused.Response.StatusCode)
	}
	e := errs.New(errs.Upstream, code, errs.ReasonStatus, "the host gives no token: %s", texts.Truncate(texts.Printable(said), maxSaid))
	e.Upstream = &sharedv1.UpstreamError{HttpStatus: int32(refused.Response.StatusCode), Host: refused.Response.Request.URL.Host}
	return e
}

// transport sends requests of package oauth2 with the client of a host.
type transport struct{ client *httpx.Client }

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	header := r.Header.Clone()
	// A host may answer with a form otherwise.
	header["Accept"] = []string{"application/json"}
	res, err := t.client.Do(r.Context(), &httpx.Request{Method: r.Method, URL: r.URL, Header: header, Body: body})
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: res.Status, Status: http.StatusText(res.Status), Header: res.Header, Body: io.NopCloser(bytes.NewReader(res.Body)),
		Request: r,
		Proto:   "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(res.Body)),
	}, nil
}
