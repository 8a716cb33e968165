package link

import (
	"context"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
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

// readToken returns a token without space around it.
func readToken(token string) (schema.Secret, error) {
	if n := len(strings.TrimSpace(token)); n < 8 || n > 512 {
		return "", fault.New(fault.BadRequest, "A token must have 8 to 512 characters.").With("field", "token")
	}
	token = strings.TrimSpace(token)
	if strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", fault.New(fault.BadRequest, "A token can have only visible ASCII characters.").With("field", "token")
	}
	return schema.Secret(token), nil
}

func ownerOfToken(a codehost.Account) api.Optional[TokenOwner] {
	return api.Optional[TokenOwner]{Of: &TokenOwner{a.ID, a.Login, api.TextOrNull(a.AvatarURL)}}
}

// TokenStatus tells of the token of the caller's first account.
func (l *Links) TokenStatus(ctx context.Context) (out TokenStatus, err error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return out, err
	}
	a, ok, err := l.cfg.Accounts.Find(ctx, userID)
	if err != nil {
		return out, err
	}
	return newTokenStatus(a, ok), nil
}

// newTokenStatus returns what is told of the token of an account; ok says that there is one.
func newTokenStatus(a own.Account, ok bool) TokenStatus {
	out := TokenStatus{Configured: ok, Check: TokenCheck{State: "idle"}}
	if ok {
		out.SignIn = a.SignIn
		out.MaskedToken, out.Owner = &a.Masked, ownerOfToken(codehost.Account{ID: a.RemoteID, Login: a.Login, AvatarURL: a.AvatarURL})
		out.Check = TokenCheck{string(a.State), api.TextOrNull(a.Message), api.OptionalTime(a.CheckedAt)}
	}
	return out
}

// CheckToken asks the code host whose a token is.
func (l *Links) CheckToken(ctx context.Context, text string) (out TokenAnswer, err error) {
	token, err := readToken(text)
	if err != nil {
		return out, err
	}
	owner, refusal, err := l.findTokenOwner(ctx, token)
	if err != nil {
		return out, err
	}
	if refusal != "" {
		return TokenAnswer{State: string(own.Invalid), Message: refusal}, nil
	}
	return TokenAnswer{State: string(own.Valid), Message: "The token belongs to " + owner.Login + ".", Owner: ownerOfToken(owner)}, nil
}

// findTokenOwner returns whose a token is, or why the code host refuses it.
func (l *Links) findTokenOwner(ctx context.Context, token schema.Secret) (owner codehost.Account, refusal string, err error) {
	info, err := l.cfg.Syncer.Viewer(ctx, token)
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

// SaveToken keeps the token of a user whom the code host knows by it. The account that a token was saved for before goes if the token
// is another one's.
func (l *Links) SaveToken(ctx context.Context, text string) (TokenStatus, error) {
	saved, err := l.saveToken(ctx, text, true)
	return newTokenStatus(saved, true), err
}

// saveToken keeps the token of a user whom the code host knows by it. replace takes the first account away if it is another one, with
// which the user does not sign in.
func (l *Links) saveToken(ctx context.Context, text string, replace bool) (saved own.Account, err error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return saved, err
	}
	token, err := readToken(text)
	if err != nil {
		return saved, err
	}
	owner, refusal, err := l.findTokenOwner(ctx, token)
	if err != nil {
		return saved, err
	}
	if refusal != "" {
		return saved, fault.New(sync.CodeTokenInvalid, "%s", refusal).WithStatus(http.StatusUnprocessableEntity).With("field", "token")
	}
	host, err := l.cfg.Syncer.MainHost()
	if err != nil {
		return saved, err
	}
	err = l.cfg.Store.Tx(ctx, "save token", func(ctx context.Context) error {
		all, err := l.cfg.Accounts.LockAll(ctx, userID)
		if err != nil {
			return err
		}
		if replace && len(all) > 0 && !all[0].SignIn && (all[0].Host != host.Ref || all[0].RemoteID != owner.ID) {
			if err := l.forgetAccount(ctx, all[0]); err != nil {
				return err
			}
		}
		saved, err = l.SaveAccount(ctx, userID, host.Ref, codehost.OAuthToken{AccessToken: token}, owner, false)
		return err
	})
	return saved, err
}

// DeleteToken takes the caller's first account away.
func (l *Links) DeleteToken(ctx context.Context) error {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return err
	}
	return l.cfg.Store.Tx(ctx, "forget token", func(ctx context.Context) error {
		all, err := l.cfg.Accounts.LockAll(ctx, userID)
		if err != nil || len(all) == 0 {
			return err
		}
		return l.unlinkAccount(ctx, all[0], all)
	})
}
