package account

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
)

// SessionUser is the person of a session.
type SessionUser struct {
	ID    string    `json:"id"`
	Email string    `json:"email" doc:"Empty for the built-in developer."`
	Name  string    `json:"name"`
	Role  auth.Role `json:"role" enum:"admin,member"`
}

// Session is who is signed in, and how.
type Session struct {
	User            SessionUser `json:"user"`
	AuthenticatedAt api.Time    `json:"authenticatedAt" doc:"When the session began; now for an identity that is shown with each request."`
	Via             auth.Via    `json:"via" enum:"session,exchanged_session,linked_session,api_key,forward,anonymous,developer_session" doc:"session: passkey or set-up link. linked_session: an account at a code host. exchanged_session: an API key, at sign-in."`
	SessionID       *string     `json:"sessionId" doc:"Null without a session."`
	Scopes          []string    `json:"scopes" nullable:"false" doc:"Services that the caller is confined to; none means all."`
	CanReveal       bool        `json:"canReveal" doc:"Whether full API keys are shown again, which needs a sign-in with a passkey."`
}

func newSession(p *auth.Principal) Session {
	since := p.Since
	if since == 0 {
		since = time.Now().UnixMilli()
	}
	out := Session{
		User:            SessionUser{p.User.ID, p.User.Email, p.User.Name, p.User.Role},
		AuthenticatedAt: api.TimeOfMillis(since), Via: p.Via, Scopes: append([]string{}, p.Scopes...), CanReveal: p.Strong(),
	}
	if p.SessionID != "" {
		out.SessionID = &p.SessionID
	}
	return out
}

// sessionInput and signedIn are the question and the answer of a sign-in.
type (
	sessionInput struct {
		Request
		Body struct {
			APIKey string `json:"apiKey" minLength:"16" maxLength:"200" doc:"The API key."`
		}
	}
	passkeyInput struct {
		Request
		Body Answer
	}
	requestInput struct{ Request }
	signedIn     struct {
		SetCookie string `header:"Set-Cookie"`
		Body      Session
	}
	signedOut struct {
		SetCookie string `header:"Set-Cookie"`
	}
)

// Answer is what a browser has made of the options.
type Answer struct {
	Response json.RawMessage `json:"response" doc:"The credential, as PublicKeyCredential.toJSON writes it."`
}

const answerLimit = 64 << 10

// Auth are the routes of signing in and out: auth/passkey/options, auth/passkey/verify, auth/session.
func (s *Sets) Auth(a *api.API, base string) {
	api.Register(a, api.Operation{
		ID: "begin-passkey-sign-in", Method: http.MethodPost, Path: base + "/auth/passkey/options", Policy: httpd.Public, Audit: httpd.Unaudited,
		Tag: tagSignIn, Summary: "Ask for a passkey",
		Description: "The answer is for navigator.credentials.get, by way of PublicKeyCredential.parseRequestOptionsFromJSON. It is good for five minutes and for one answer.",
		Errors:      []int{403, 409, 429},
	}, s.loginOptions)
	api.Register(a, api.Operation{
		ID: "finish-passkey-sign-in", Method: http.MethodPost, Path: base + "/auth/passkey/verify", Policy: httpd.Public, Audit: httpd.Unaudited,
		Tag: tagSignIn, Summary: "Sign in with a passkey",
		BodyLimit: answerLimit, Errors: []int{401, 403, 409, 429},
	}, s.loginVerify)
	api.Register(a, api.Operation{
		ID: "begin-passkey-check", Method: http.MethodPost, Path: base + "/auth/passkey/check/options", Policy: httpd.Session,
		Audit: httpd.Unaudited, Tag: tagSignIn, Summary: "Ask for a passkey to confirm something with",
		Description: "What deletes passkeys, shows secrets or changes users needs a check of the last ten minutes. Null: there is one already. Else as for a sign-in.",
		Errors:      []int{409},
	}, func(ctx context.Context, in *requestInput) (*api.Out[json.RawMessage], error) {
		options, err := s.cfg.Users.Passkeys.BeginCheck(ctx, principalFrom(ctx), s.cfg.Access.Passkeys(in.httpRequest()))
		return writeOptions(options, err)
	})
	api.Register(a, api.Operation{
		ID: "finish-passkey-check", Method: http.MethodPost, Path: base + "/auth/passkey/check/verify", Policy: httpd.Session,
		Audit: httpd.Unaudited, Tag: tagSignIn, Summary: "Confirm with a passkey",
		BodyLimit: answerLimit, Status: http.StatusNoContent, Errors: []int{409},
	}, func(ctx context.Context, in *passkeyInput) (*none, error) {
		return emptyAnswer(s.cfg.Users.Passkeys.FinishCheck(ctx, principalFrom(ctx), s.cfg.Access.Passkeys(in.httpRequest()), in.Body.Response))
	})
	api.Register(a, api.Operation{
		ID: "get-session", Method: http.MethodGet, Path: base + "/auth/session", Policy: httpd.APIKey, Scoped: true, Tag: tagSignIn,
		Summary: "Who is signed in",
	}, func(ctx context.Context, _ *struct{}) (*api.Out[Session], error) {
		return api.AnswerWith(newSession(principalFrom(ctx)), nil)
	})
	api.Register(a, api.Operation{
		ID: "exchange-api-key", Method: http.MethodPost, Path: base + "/auth/session", Policy: httpd.Public, Audit: httpd.Unaudited,
		Tag: tagSignIn, Summary: "Sign in with an API key",
		Description: "The session has the key's scopes, ends with the key, and is refused where a sign-in with a passkey is asked for.",
		Errors:      []int{401, 403, 429},
	}, s.exchangeKey)
	api.Register(a, api.Operation{
		ID: "sign-out", Method: http.MethodDelete, Path: base + "/auth/session", Policy: httpd.Public, Audit: httpd.Unaudited, Tag: tagSignIn,
		Summary: "Sign out", Status: http.StatusNoContent,
		Errors: []int{403},
	}, s.signOut)
}

func (s *Sets) loginOptions(ctx context.Context, in *requestInput) (*api.Out[json.RawMessage], error) {
	if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
		return nil, err
	}
	options, err := s.cfg.Users.Passkeys.BeginLogin(ctx, s.cfg.Access.Passkeys(in.httpRequest()), in.signInOrigin())
	return writeOptions(options, err)
}

// writeOptions returns the answer with the options of a ceremony.
func writeOptions(options any, err error) (*api.Out[json.RawMessage], error) {
	if err != nil {
		return nil, err
	}
	return api.AnswerWith[json.RawMessage](json.Marshal(options))
}

func (s *Sets) loginVerify(ctx context.Context, in *passkeyInput) (*signedIn, error) {
	if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
		return nil, err
	}
	cookie, p, err := s.cfg.Users.Passkeys.FinishLogin(ctx, s.cfg.Access.Passkeys(in.httpRequest()), in.Body.Response, in.signInOrigin())
	return s.answerSignIn(&in.Request, cookie, p, err)
}

func (s *Sets) exchangeKey(ctx context.Context, in *sessionInput) (*signedIn, error) {
	if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
		return nil, err
	}
	cookie, p, err := s.cfg.Users.Sessions.Exchange(ctx, in.Body.APIKey, in.signInOrigin())
	return s.answerSignIn(&in.Request, cookie, p, err)
}

func (s *Sets) answerSignIn(r *Request, cookie string, p *auth.Principal, err error) (*signedIn, error) {
	if err != nil {
		return nil, err
	}
	return &signedIn{SetCookie: s.sessionCookie(r.httpRequest(), cookie), Body: newSession(p)}, nil
}

func (s *Sets) signOut(ctx context.Context, in *requestInput) (*signedOut, error) {
	if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
		return nil, err
	}
	for _, c := range in.httpRequest().CookiesNamed(auth.SessionCookie) {
		if err := s.cfg.Users.Sessions.SignOut(ctx, c.Value); err != nil {
			return nil, err
		}
	}
	return &signedOut{s.sessionCookie(in.httpRequest(), "")}, nil
}

// setupInput is what the first administrator says.
type setupInput struct {
	Request
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"200" doc:"From the set-up link."`
		Email string `json:"email,omitempty" maxLength:"254" doc:"Of the first administrator. Not looked at when the link is for a user."`
		Name  string `json:"name,omitempty" maxLength:"320" doc:"Likewise: 1 to 80 characters."`
	}
}

type setupCheck struct {
	Request
	Body struct {
		Token string `json:"token" minLength:"1" maxLength:"200"`
	}
}

type setupStateBody struct {
	First bool `json:"first" doc:"Whether the link makes the first administrator, so that email and name are asked for."`
}

// Setup are the routes of set-up links: setup, setup/check.
func (s *Sets) Setup(a *api.API, base string) {
	api.Register(a, api.Operation{
		ID: "check-setup-link", Method: http.MethodPost, Path: base + "/setup/check", Policy: httpd.Public, Audit: httpd.Unaudited,
		Tag: tagSignIn, Summary: "Look at a set-up link without using it",
		Errors: []int{401, 403, 429},
	}, func(ctx context.Context, in *setupCheck) (*api.Out[setupStateBody], error) {
		if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
			return nil, err
		}
		first, err := s.cfg.Users.Links.IsFirst(ctx, in.Body.Token)
		return api.AnswerWith(setupStateBody{first}, err)
	})
	api.Register(a, api.Operation{
		ID: "use-setup-link", Method: http.MethodPost, Path: base + "/setup", Policy: httpd.Public, Audit: httpd.Unaudited, Tag: tagSignIn,
		Summary:     "Use a set-up link and begin a session",
		Description: "A link works once. With an email address or a name that is refused it stays good.", Errors: []int{401, 403, 429},
	}, func(ctx context.Context, in *setupInput) (*signedIn, error) {
		if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
			return nil, err
		}
		cookie, p, err := s.cfg.Users.Links.Use(ctx, in.Body.Token, in.Body.Email, in.Body.Name, in.signInOrigin())
		return s.answerSignIn(&in.Request, cookie, p, err)
	})
	api.Register(a, api.Operation{
		ID: "look-around", Method: http.MethodPost, Path: base + "/setup/look-around", Policy: httpd.Public, Audit: httpd.Unaudited,
		Tag: tagSignIn, Summary: "Use the first set-up link to look around",
		Description: "Begins a session of the built-in administrator developer instead of making the first administrator. It ends when there is a user, after a day at the latest.",
		Errors:      []int{401, 403, 409, 429},
	}, func(ctx context.Context, in *setupCheck) (*signedIn, error) {
		if err := s.cfg.Access.SameSite(in.httpRequest()); err != nil {
			return nil, err
		}
		cookie, p, err := s.cfg.Users.LookAround(ctx, in.Body.Token, in.signInOrigin())
		return s.answerSignIn(&in.Request, cookie, p, err)
	})
}

// Meta is what a sign-in page needs to know before anybody is signed in.
type Meta struct {
	Version     string      `json:"version"`
	SetupNeeded bool        `json:"setupNeeded" doc:"There is no user yet: the log of the server shows a set-up link."`
	Anonymous   bool        `json:"anonymous" doc:"This caller is let in without an account, as an administrator, and may make the first user."`
	ForwardAuth bool        `json:"forwardAuth" doc:"A reverse proxy signs people in."`
	Passkeys    PasskeyMeta `json:"passkeys"`
}

// PasskeyMeta reports whether passkeys work at the address by which the browser has come.
type PasskeyMeta struct {
	Available bool    `json:"available"`
	Reason    *string `json:"reason" enum:"public_url_unset,public_url_not_https,public_url_is_address,other_address" doc:"What stands in the way."`
	Message   *string `json:"message" doc:"Why, and what to do."`
	URL       *string `json:"url" doc:"Address at which they work, if it is known."`
}

// Meta is the route meta.
func (s *Sets) Meta(a *api.API, base string) {
	api.Register(a, api.Operation{
		ID: "get-meta", Method: http.MethodGet, Path: base + "/meta", Policy: httpd.Public, Tag: tagSignIn,
		Summary: "What a sign-in page needs to know",
	}, func(ctx context.Context, in *requestInput) (*api.Out[Meta], error) {
		has, err := s.cfg.Users.HasAdmin(ctx)
		if err != nil {
			return nil, err
		}
		p, err := s.cfg.Users.Recognise(s.cfg.Access, in.httpRequest())
		if err != nil && fault.CodeOf(err) == fault.Internal {
			return nil, err
		}
		c, f := s.cfg.Access.Passkeys(in.httpRequest()), s.cfg.Access.Forward
		return api.AnswerWith(Meta{
			Version: s.cfg.Version, SetupNeeded: !has, Anonymous: p != nil && !p.HasAccount(),
			ForwardAuth: f.AllowedUser != "" || f.AllowedGroup != "",
			Passkeys:    PasskeyMeta{c.Available, optionalText(c.Reason), optionalText(c.Message), optionalText(c.URL)},
		}, nil)
	})
}

func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
