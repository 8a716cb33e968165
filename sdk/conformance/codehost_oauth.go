package conformance

import (
	"context"
	"fmt"
	"net/url"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// oauthRequest is what the suite asks a person with. The application is known at no host.
var oauthRequest = codehost.AuthorizeRequest{
	Client: codehost.OAuthClient{ID: "conformance", Secret: hookSecret, RedirectURL: "https://patchbay.example.com/callback"},
	State:  "state-of-conformance", CodeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
}

// checkOAuth checks the page of a sign-in, and that a code of nobody gives no token.
func (r *codehostRun) checkOAuth(ctx context.Context) error {
	if !r.hasAbility(codehost.CapOAuth) {
		return suite.Skip("the plugin does not have the capability " + codehost.CapOAuth)
	}
	ctx, cancel := r.WithTimeout(ctx)
	defer cancel()
	c := r.clientAt(r.MainID)
	page, err := c.AuthorizeURL(ctx, oauthRequest)
	if r.InspectError("AuthorizeURL", err) != nil {
		return fmt.Errorf("AuthorizeURL: %w", err)
	}
	r.NoteSecrets("AuthorizeURL", page)
	if err := checkAuthorizePage(page); err != nil {
		return err
	}
	foreign := oauthRequest
	foreign.Client.RedirectURL = "javascript:alert(1)"
	if _, err := c.AuthorizeURL(ctx, foreign); errs.From(err) == nil || errs.From(err).Code != codes.InvalidArgument {
		return fmt.Errorf("a redirect address that is not http should be INVALID_ARGUMENT; got: %v", err)
	}
	if !r.canAskHost() {
		return nil
	}
	if _, err := c.ExchangeCode(ctx, oauthRequest.Client, "code-of-nobody", "verifier-of-nobody"); r.InspectError("ExchangeCode", err) == nil {
		return fmt.Errorf("ExchangeCode: a code of nobody gave a token")
	}
	return nil
}

// checkAuthorizePage checks that the address of a page has what was asked for, and no secret.
func checkAuthorizePage(page string) error {
	u, err := url.Parse(page)
	if err != nil || u.Host == "" {
		return fmt.Errorf("AuthorizeURL: %q is not an absolute address", page)
	}
	q := u.Query()
	for name, want := range map[string]string{
		"response_type": "code", "client_id": oauthRequest.Client.ID, "redirect_uri": oauthRequest.Client.RedirectURL,
		"state":          oauthRequest.State,
		"code_challenge": oauthRequest.CodeChallenge, "code_challenge_method": "S256", "client_secret": "",
	} {
		if q.Get(name) != want {
			return fmt.Errorf("AuthorizeURL: %s is %q, want %q", name, q.Get(name), want)
		}
	}
	return nil
}
