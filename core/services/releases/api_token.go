package releases

import (
	"context"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// TokenStatus tells of the caller's personal access token.
type TokenStatus struct {
	Configured  bool                     `json:"configured"`
	MaskedToken *string                  `json:"masked_token"`
	Check       TokenCheck               `json:"check"`
	Owner       api.Optional[TokenOwner] `json:"owner"`
	SignIn      bool                     `json:"sign_in" doc:"Whether the caller signs in with the account."`
}

// TokenCheck is what the code host said of a token.
type TokenCheck struct {
	State     string    `json:"state" enum:"idle,valid,invalid" doc:"idle: there is no token."`
	Message   *string   `json:"message"`
	CheckedAt *api.Time `json:"checked_at" nullable:"true"`
}

// TokenOwner is whose a token is.
type TokenOwner struct {
	ID        string  `json:"id"`
	Login     string  `json:"login"`
	AvatarURL *string `json:"avatar_url"`
}

// TokenAnswer is the result of the check of a token.
type TokenAnswer struct {
	State   string                   `json:"state" enum:"valid,invalid"`
	Message string                   `json:"message"`
	Owner   api.Optional[TokenOwner] `json:"owner"`
}

type (
	tokenBody struct {
		Body struct {
			Token string `json:"token" minLength:"8" maxLength:"512" doc:"It is sensitive."`
		}
	}
	tokenStatusOutput struct{ Body TokenStatus }
	tokenAnswerOutput struct{ Body TokenAnswer }
)

func (s *Service) tokenAPI(a *api.API) {
	const path = "/api/reaction-token"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagToken, httpd.Session, summary, errors...)
	}
	api.Register(a, op("token", http.MethodGet, path, "Whether there is a token, and whose it is"), s.getToken)
	api.Register(a, op("token-save", http.MethodPut, path, "Save a token", http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.putToken)
	api.Register(a, withText(op("token-delete", http.MethodDelete, path, "Forget the token", http.StatusConflict), "With it go the stars, notifications and events that were read with it."), s.deleteToken)
	check := op("token-check", http.MethodPost, path+"/check", "Ask the code host about a token", http.StatusServiceUnavailable)
	check.Audit = httpd.Unaudited
	api.Register(a, check, s.checkToken)
}

// readToken returns a token without space around it.
func readToken(in *tokenBody) (schema.Secret, error) {
	token := strings.TrimSpace(in.Body.Token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fault.New(fault.BadRequest, "A token has visible ASCII characters alone.").With("field", "token")
	}
	return schema.Secret(token), nil
}

func ownerOfToken(a codehost.Account) api.Optional[TokenOwner] {
	return api.Optional[TokenOwner]{Of: &TokenOwner{a.ID, a.Login, optional(a.AvatarURL)}}
}

func (s *Service) getToken(ctx context.Context, _ *struct{}) (*tokenStatusOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	a, ok, err := s.accounts.Find(ctx, userID)
	if err != nil {
		return nil, err
	}
	return tokenStatusOf(a, ok), nil
}

// tokenStatusOf returns what is told of the token of an account; ok says that there is one.
func tokenStatusOf(a own.Account, ok bool) *tokenStatusOutput {
	out := &tokenStatusOutput{TokenStatus{Configured: ok, Check: TokenCheck{State: "idle"}}}
	if ok {
		out.Body.SignIn = a.SignIn
		out.Body.MaskedToken, out.Body.Owner = &a.Masked, ownerOfToken(codehost.Account{ID: a.RemoteID, Login: a.Login, AvatarURL: a.AvatarURL})
		out.Body.Check = TokenCheck{string(a.State), optional(a.Message), api.OptionalTime(a.CheckedAt)}
	}
	return out
}

func (s *Service) checkToken(ctx context.Context, in *tokenBody) (*tokenAnswerOutput, error) {
	token, err := readToken(in)
	if err != nil {
		return nil, err
	}
	owner, refusal, err := s.findTokenOwner(ctx, token)
	if err != nil {
		return nil, err
	}
	if refusal != "" {
		return &tokenAnswerOutput{TokenAnswer{State: string(own.Invalid), Message: refusal}}, nil
	}
	return &tokenAnswerOutput{TokenAnswer{State: string(own.Valid), Message: "The token belongs to " + owner.Login + ".", Owner: ownerOfToken(owner)}}, nil
}

// findTokenOwner returns whose a token is, or why the code host refuses it.
func (s *Service) findTokenOwner(ctx context.Context, token schema.Secret) (owner codehost.Account, refusal string, err error) {
	info, err := s.syncer.Viewer(ctx, token)
	if err != nil {
		if client.CauseOf(err) == client.CauseDenied {
			return owner, "The code host refuses the token.", nil
		}
		return owner, "", err
	}
	if info.Account.Login == "" {
		return owner, "The code host does not say whose the token is.", nil
	}
	return info.Account, "", nil
}

// putToken keeps the token of a user whom the code host knows by it. The account that a token was saved for before goes if the token
// is another one's.
func (s *Service) putToken(ctx context.Context, in *tokenBody) (*tokenStatusOutput, error) {
	saved, err := s.saveToken(ctx, in, true)
	if err != nil {
		return nil, err
	}
	return tokenStatusOf(saved, true), nil
}

// saveToken keeps the token of a user whom the code host knows by it. replace takes the first account away if it is another one, with
// which the user does not sign in.
func (s *Service) saveToken(ctx context.Context, in *tokenBody, replace bool) (saved own.Account, err error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return saved, err
	}
	token, err := readToken(in)
	if err != nil {
		return saved, err
	}
	owner, refusal, err := s.findTokenOwner(ctx, token)
	if err != nil {
		return saved, err
	}
	if refusal != "" {
		return saved, fault.New(codeTokenInvalid, "%s", refusal).WithStatus(http.StatusUnprocessableEntity).With("field", "token")
	}
	host, err := s.syncer.MainHost()
	if err != nil {
		return saved, err
	}
	err = s.cfg.Store.Tx(ctx, "save token", func(ctx context.Context) error {
		all, err := s.accounts.LockAll(ctx, userID)
		if err != nil {
			return err
		}
		if replace && len(all) > 0 && !all[0].SignIn && (all[0].Host != host.Ref || all[0].RemoteID != owner.ID) {
			if err := s.forgetAccount(ctx, all[0]); err != nil {
				return err
			}
		}
		saved, err = s.saveAccount(ctx, userID, host.Ref, codehost.OAuthToken{AccessToken: token}, owner, false)
		return err
	})
	return saved, err
}

func (s *Service) deleteToken(ctx context.Context, _ *struct{}) (*tokenStatusOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	err = s.cfg.Store.Tx(ctx, "forget token", func(ctx context.Context) error {
		all, err := s.accounts.LockAll(ctx, userID)
		if err != nil || len(all) == 0 {
			return err
		}
		return s.unlinkAccount(ctx, all[0], all)
	})
	if err != nil {
		return nil, err
	}
	return s.getToken(ctx, nil)
}
