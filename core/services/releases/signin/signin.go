// Package signin lets people sign in with their accounts at the code host.
package signin

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"golang.org/x/oauth2"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/secret"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/link"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Config is what SignIns need.
type Config struct {
	Store    *store.Store
	Accounts *own.Store
	Users    *auth.Users
	// Links keeps the accounts with which people sign in.
	Links *link.Links
	// Current returns what is in force: all of one reload.
	Current func() Current
	Now     func() time.Time
}

// Current is what is in force at a time.
type Current struct {
	Settings Settings
	// RedirectURL is the address to which the code host sends people back, "" if the public address of the core is unknown.
	RedirectURL string
	// Hosts are the code hosts. People sign in at the first.
	Hosts []sync.Host
}

// SignIns lets people sign in with their accounts at the code host.
type SignIns struct {
	cfg Config
	// begun counts the sign-ins that begin at an address.
	begun *limit.Limiter
}

// New returns what lets people sign in.
func New(cfg Config) (*SignIns, error) {
	begun, err := limit.New(limit.Config{Burst: 20, Every: 6 * time.Second, Now: cfg.Now, Store: cfg.Store, Name: "code_host_sign_in"})
	return &SignIns{cfg, begun}, err
}

// SignInPath is where a sign-in at the code host begins, SignInCallbackPath where the host sends people back to.
const (
	SignInPath         = "/sign-in"
	SignInCallbackPath = SignInPath + "/callback"
)

const (
	// stateLength is of states and of what the browser keeps, in characters.
	stateLength = 43
	// maxHostWords bounds what the code host says of a refusal, in bytes.
	maxHostWords = 300
)

// codeSignIn is the code of a sign-in that does not end well.
const codeSignIn fault.Code = "sign_in_failed"

// SignInStart is where a browser goes to sign in, and what it keeps until it comes back.
type SignInStart struct{ Page, Browser string }

// SignInAnswer is what a browser comes back with.
type SignInAnswer struct {
	// State, Code, Error and Description are what the code host has sent, Browser what the browser has kept.
	State, Code, Error, Description, Browser string
}

// SignInResult is how a sign-in has ended.
type SignInResult struct {
	// Next is the page at which it ends.
	Next string
	// Cookie is that of the new session; "" if an account was linked to the user who had one.
	Cookie string
}

// SignInName returns what people call the code host at which they sign in, "" if they do not.
func (si *SignIns) SignInName() string {
	if set := si.cfg.Current().Settings; set.Enabled() {
		return set.Name
	}
	return ""
}

// Application returns the application as which people sign in.
func (si *SignIns) Application() codehost.OAuthClient {
	return si.cfg.Current().newApplication()
}

func (cur Current) newApplication() codehost.OAuthClient {
	return codehost.OAuthClient{ID: cur.Settings.ClientID, Secret: cur.Settings.ClientSecret, RedirectURL: cur.RedirectURL}
}

// signInHost is the code host at which people sign in, with what is in force there: a request reads it once, so that a reload
// changes nothing between.
type signInHost struct {
	sync.Host
	settings Settings
	app      codehost.OAuthClient
}

// findHost returns where people sign in at present.
func (si *SignIns) findHost() (signInHost, error) {
	cur := si.cfg.Current()
	if !cur.Settings.Enabled() {
		return signInHost{}, fault.New(fault.NotFound, "Sign-in with a code host is off: set sign_in in the settings.")
	}
	if cur.RedirectURL == "" {
		return signInHost{}, fault.New(fault.NotReady, "Set public_url (SVC_PUBLIC_URL): the code host needs it to send people back here.")
	}
	host, err := sync.ChooseMainHost(cur.Hosts)
	if err != nil {
		return signInHost{}, err
	}
	can, err := host.Abilities()
	if err == nil && !(can.OAuth && can.Viewer) {
		err = fault.New(fault.NotReady, "Sign-in with the code host %s is not configured.", host.Ref)
	}
	return signInHost{host, cur.Settings, cur.newApplication()}, err
}

// checkLinker returns the id of the user to whom an account is linked, "" for somebody who signs in. An API key links nothing.
func checkLinker(p *auth.Principal) (string, error) {
	switch {
	case p == nil || !p.HasAccount():
		return "", nil
	case p.Via == auth.ViaKey || p.Via == auth.ViaExchanged:
		return "", fault.New(fault.Forbidden, "An API key cannot link accounts: sign in with a passkey.")
	}
	return p.User.ID, nil
}

// BeginSignIn begins a sign-in at the code host, or the linking of an account to the user who is signed in. next is the page of
// ours at which it ends.
func (si *SignIns) BeginSignIn(ctx context.Context, p *auth.Principal, from auth.Origin, next string) (out SignInStart, err error) {
	host, err := si.findHost()
	if err != nil {
		return out, err
	}
	if err := si.cfg.Users.Sessions.CheckAttempt(from); err != nil {
		return out, err
	}
	userID, err := checkLinker(p)
	if err == nil && userID != "" {
		err = si.cfg.Users.Passkeys.CheckNewWayIn(ctx, p)
	}
	if err != nil {
		return out, err
	}
	if wait, ok := si.begun.Take(limit.Client(from.Address)); !ok {
		return out, fault.New(fault.RateLimited, "Rate limited: too many sign-ins from this address.").WithRetryAfter(wait)
	}
	in := own.SignIn{
		State: secret.RandomString(stateLength, secret.Alphanumeric), Browser: secret.RandomString(stateLength, secret.Alphanumeric),
		UserID: userID, Host: host.Ref, Verifier: schema.Secret(oauth2.GenerateVerifier()), Next: next,
	}
	out.Browser = in.Browser
	out.Page, err = host.OAuth.AuthorizeURL(ctx,
		codehost.AuthorizeRequest{Client: host.app, State: in.State,
			CodeChallenge: oauth2.S256ChallengeFromVerifier(in.Verifier.Reveal())})
	if err != nil {
		return out, err
	}
	return out, si.cfg.Accounts.AddSignIn(ctx, in, si.cfg.Now())
}

// FinishSignIn ends a sign-in: it begins a session for the user to whom the account is linked, or links it to the user who began.
func (si *SignIns) FinishSignIn(ctx context.Context, p *auth.Principal, from auth.Origin,
	answer SignInAnswer) (out SignInResult, err error) {
	if err := si.cfg.Users.Sessions.CheckAttempt(from); err != nil {
		return out, err
	}
	defer func() {
		if fault.CodeOf(err) == codeSignIn {
			si.cfg.Users.Sessions.FailLinked(ctx, from, err)
		}
	}()
	host, err := si.findHost()
	if err != nil {
		return out, err
	}
	in, ok, err := si.cfg.Accounts.TakeSignIn(ctx, answer.State, answer.Browser, si.cfg.Now())
	if err != nil {
		return out, err
	}
	if !ok || in.Host != host.Ref {
		return out, fault.New(codeSignIn,
			"This sign-in is unknown, already used, older than ten minutes or from another browser: start again.").
			WithStatus(http.StatusBadRequest)
	}
	out.Next = in.Next
	if answer.Error != "" || answer.Code == "" {
		return out, errHostRefuses(answer)
	}
	linker, err := checkLinker(p)
	if err != nil {
		return out, err
	}
	if in.UserID != "" && in.UserID != linker {
		return out, fault.New(codeSignIn,
			"A different user is signed in than the one who started to link an account: start again.").WithStatus(http.StatusForbidden)
	}
	token, owner, err := si.exchangeCode(ctx, host, answer.Code, in.Verifier)
	if err != nil {
		return out, err
	}
	if in.UserID != "" {
		return out, si.linkAccount(ctx, p, host.Ref, token, owner)
	}
	out.Cookie, err = si.signInAccount(ctx, host, token, owner, from)
	return out, err
}

// errHostRefuses is the error of a person whom the code host has sent back without a code.
func errHostRefuses(answer SignInAnswer) error {
	words := texts.OneLine(answer.Description, maxHostWords)
	if words == "" {
		words = texts.OneLine(answer.Error, maxHostWords)
	}
	if words == "" {
		words = "no code was sent"
	}
	return fault.New(codeSignIn, "The code host did not sign you in: %s", words).WithStatus(http.StatusForbidden)
}

// exchangeCode returns the token for a code, and whose it is.
func (si *SignIns) exchangeCode(ctx context.Context, host signInHost, code string,
	verifier schema.Secret) (codehost.OAuthToken, codehost.Account, error) {
	token, err := host.OAuth.ExchangeCode(ctx, host.app, schema.Secret(code), verifier)
	if err != nil {
		if client.CauseOf(err) == client.CauseDenied {
			err = fault.Wrap(err, codeSignIn,
				"The code host refused this sign-in: start again. If that does not help, check the application's id, secret and "+
					"callback in the settings.").WithStatus(http.StatusForbidden)
		}
		return codehost.OAuthToken{}, codehost.Account{}, err
	}
	info, err := host.Account.Viewer(ctx, token.AccessToken)
	if err != nil {
		return *token, codehost.Account{}, err
	}
	if info.Account.ID == "" || info.Account.Login == "" {
		return *token, info.Account, fault.New(codeSignIn, "The code host did not say which account this is.").WithStatus(http.StatusBadGateway)
	}
	return *token, info.Account, nil
}

// linkAccount links an account to the user of a principal, who signs in with it from then on. It locks the accounts of the user before
// the user, and refuses when the user was disabled or the session has ended since the request was recognised.
func (si *SignIns) linkAccount(ctx context.Context, p *auth.Principal, host string, token codehost.OAuthToken,
	owner codehost.Account) error {
	return si.cfg.Store.Tx(ctx, "link account", func(ctx context.Context) error {
		linked, ok, err := si.cfg.Accounts.LockSignIn(ctx, host, owner.ID)
		if err != nil {
			return err
		}
		if ok && linked.UserID != p.User.ID {
			return fault.New(fault.Conflict, "The account %s is linked to another user.", owner.Login)
		}
		if _, err := si.cfg.Accounts.LockAll(ctx, p.User.ID); err != nil {
			return err
		}
		if err := si.cfg.Users.Sessions.LockOwner(ctx, p); err != nil {
			return err
		}
		_, err = si.cfg.Links.SaveAccount(ctx, p.User.ID, host, token, owner, true)
		return err
	})
}

// signInAccount begins a session for the user to whom an account is linked. A user is made for it if the settings allow that.
func (si *SignIns) signInAccount(ctx context.Context, host signInHost, token codehost.OAuthToken, owner codehost.Account,
	from auth.Origin) (cookie string, err error) {
	err = si.cfg.Store.Tx(ctx, "sign in with account", func(ctx context.Context) error {
		linked, ok, err := si.cfg.Accounts.LockSignIn(ctx, host.Ref, owner.ID)
		if err != nil {
			return err
		}
		userID := linked.UserID
		if !ok {
			if userID, err = si.signUp(ctx, host, owner, from); err != nil {
				return err
			}
		}
		if cookie, err = si.cfg.Users.Sessions.BeginLinked(ctx, userID, from); err != nil {
			return err
		}
		_, err = si.cfg.Links.SaveAccount(ctx, userID, host.Ref, token, owner, true)
		return err
	})
	return cookie, err
}

// signUp makes a member of somebody whom nobody here knows, and returns the id.
func (si *SignIns) signUp(ctx context.Context, host signInHost, owner codehost.Account, from auth.Origin) (string, error) {
	set := host.settings
	isLogin := func(login string) bool { return strings.EqualFold(login, owner.Login) }
	if !set.SignUp || len(set.Logins) > 0 && !slices.ContainsFunc(set.Logins, isLogin) {
		return "", fault.New(codeSignIn,
			"The account %s is not linked to a user here. Sign in another way and link it in the settings of releases, or ask an "+
				"administrator for a user.", owner.Login).WithStatus(http.StatusForbidden)
	}
	name := owner.Name
	if name == "" {
		name = owner.Login
	}
	_, instance, _ := strings.Cut(host.Ref, ".")
	user, err := si.cfg.Users.AddLinked(ctx, cutMailbox(owner.Login)+"-"+cutMailbox(owner.ID)+"-"+cutMailbox(instance), name, from)
	return user.ID, err
}

// cutMailbox returns a text of which only what a local part of an address may have is left.
func cutMailbox(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, strings.ToLower(text))
}
