package releases

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// maxAccounts is how many accounts a user may have.
const maxAccounts = 20

// Account is an account of the caller at a code host.
type Account struct {
	ID          string     `json:"id"`
	Host        string     `json:"host" doc:"The code host, such as codehost.hub."`
	Login       string     `json:"login"`
	AvatarURL   *string    `json:"avatar_url"`
	MaskedToken string     `json:"masked_token"`
	Check       TokenCheck `json:"check"`
	SignIn      bool       `json:"sign_in" doc:"Whether the caller signs in with it."`
	AccountReads
}

// AccountReads are what is read with an account.
type AccountReads struct {
	Stars    bool `json:"stars" doc:"The repositories that it has starred."`
	Inbox    bool `json:"inbox" doc:"Its notifications."`
	Activity bool `json:"activity" doc:"Who stars its repositories and follows it, and what those release whom it follows."`
}

type (
	accountsOutput struct {
		Body struct {
			Accounts []Account `json:"accounts" nullable:"false"`
		}
	}
	accountOutput struct{ Body Account }
	accountInput  struct {
		ID string `path:"id" maxLength:"64"`
	}
	accountReadsInput struct {
		ID   string `path:"id" maxLength:"64"`
		Body AccountReads
	}
)

func (s *Service) accountsAPI(a *api.API) {
	const path = "/api/accounts"
	op := func(id, method, path, summary string, errors ...int) api.Operation {
		return newOperation(id, method, path, tagToken, httpd.Session, summary, errors...)
	}
	api.Register(a, withText(op("accounts", http.MethodGet, path, "Accounts at the code host"), "The first one is that of /api/reaction-token."), s.listAccounts)
	api.Register(a, op("account-add", http.MethodPost, path, "Add the account of a token", http.StatusConflict, http.StatusUnprocessableEntity, http.StatusServiceUnavailable), s.addAccount)
	api.Register(a, withText(op("account-reads", http.MethodPut, path+"/{id}", "Choose what is read with an account", http.StatusNotFound), "What is not read any more is forgotten."), s.setAccountReads)
	api.Register(a, withText(op("account-delete", http.MethodDelete, path+"/{id}", "Take an account away", http.StatusNotFound, http.StatusConflict), "With it go the stars, notifications and events that were read with it."), s.deleteAccount)
}

func accountOf(a own.Account) Account {
	return Account{
		ID: a.ID, Host: a.Host, Login: a.Login, AvatarURL: optional(a.AvatarURL), MaskedToken: a.Masked, SignIn: a.SignIn,
		Check: TokenCheck{string(a.State), optional(a.Message), api.OptionalTime(a.CheckedAt)}, AccountReads: AccountReads{a.ReadsStars, a.ReadsInbox, a.ReadsActivity},
	}
}

func (s *Service) listAccounts(ctx context.Context, _ *struct{}) (*accountsOutput, error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return nil, err
	}
	all, err := s.accounts.List(ctx, userID)
	if err != nil {
		return nil, err
	}
	out := &accountsOutput{}
	out.Body.Accounts = make([]Account, len(all))
	for i, a := range all {
		out.Body.Accounts[i] = accountOf(a)
	}
	return out, nil
}

func (s *Service) addAccount(ctx context.Context, in *tokenBody) (*accountOutput, error) {
	saved, err := s.saveToken(ctx, in, false)
	if err != nil {
		return nil, err
	}
	return &accountOutput{accountOf(saved)}, nil
}

// lockAccount returns an account of the caller, and all of them, locked for the running transaction.
func (s *Service) lockAccount(ctx context.Context, id string) (a own.Account, all []own.Account, err error) {
	userID, err := ownerOf(ctx)
	if err != nil {
		return a, nil, err
	}
	if all, err = s.accounts.LockAll(ctx, userID); err != nil {
		return a, nil, err
	}
	for _, a := range all {
		if a.ID == id {
			return a, all, nil
		}
	}
	return a, nil, fault.New(fault.NotFound, "There is no such account.")
}

func (s *Service) setAccountReads(ctx context.Context, in *accountReadsInput) (*accountOutput, error) {
	var a own.Account
	err := s.cfg.Store.Tx(ctx, "choose what is read", func(ctx context.Context) (err error) {
		if a, _, err = s.lockAccount(ctx, in.ID); err != nil {
			return err
		}
		former := AccountReads{a.ReadsStars, a.ReadsInbox, a.ReadsActivity}
		a.ReadsStars, a.ReadsInbox, a.ReadsActivity = in.Body.Stars, in.Body.Inbox, in.Body.Activity
		if former != in.Body {
			if err := s.forgetRead(ctx, a); err != nil {
				return err
			}
		}
		return s.accounts.SetReads(ctx, a)
	})
	if err != nil {
		return nil, err
	}
	return &accountOutput{accountOf(a)}, nil
}

func (s *Service) deleteAccount(ctx context.Context, in *accountInput) (*struct{}, error) {
	return nil, s.cfg.Store.Tx(ctx, "unlink account", func(ctx context.Context) error {
		a, all, err := s.lockAccount(ctx, in.ID)
		if err != nil {
			return err
		}
		return s.unlinkAccount(ctx, a, all)
	})
}

// saveAccount keeps an account of a user in the running transaction. signIn says that the user signs in with it; an account with which
// the user signs in already stays one.
func (s *Service) saveAccount(ctx context.Context, userID, host string, token codehost.OAuthToken, owner codehost.Account, signIn bool) (own.Account, error) {
	saved, err := s.accounts.Save(ctx, userID, host, token, owner, signIn, s.cfg.Now())
	if err != nil {
		return saved, err
	}
	all, err := s.accounts.List(ctx, userID)
	if err == nil && len(all) > maxAccounts {
		err = fault.New(fault.Conflict, "You have %d accounts already: take one away first.", maxAccounts)
	}
	return saved, err
}

// unlinkAccount takes an account away from its user, in the running transaction, unless it is the user's last way in. all are the user's
// accounts, which are locked. Sessions that began with an account end with it.
func (s *Service) unlinkAccount(ctx context.Context, a own.Account, all []own.Account) error {
	if err := s.checkOtherWayIn(ctx, a, all); err != nil {
		return err
	}
	if a.SignIn {
		if err := s.cfg.Users.Sessions.EndLinked(ctx, a.UserID); err != nil {
			return err
		}
	}
	return s.forgetAccount(ctx, a)
}

// checkOtherWayIn refuses to take away the account with which a user signs in who has no other way in. all are the user's accounts, which
// are locked, so that two that are taken away at once do not both go.
func (s *Service) checkOtherWayIn(ctx context.Context, a own.Account, all []own.Account) error {
	if !a.SignIn {
		return nil
	}
	for _, other := range all {
		if other.ID != a.ID && other.SignIn {
			return nil
		}
	}
	if has, err := s.cfg.Users.HasCredential(ctx, a.UserID); err != nil || has {
		return err
	}
	return fault.New("last_github_connection_guard", "This account is your last way in: register a passkey first.").WithStatus(http.StatusConflict)
}

// forgetAccount forgets an account and what was read with it.
func (s *Service) forgetAccount(ctx context.Context, a own.Account) error {
	if err := s.forgetRead(ctx, a); err != nil {
		return err
	}
	return s.accounts.Delete(ctx, a.ID)
}

// forgetRead forgets what was read with an account.
func (s *Service) forgetRead(ctx context.Context, a own.Account) error {
	for _, forget := range []func(context.Context, string, string) error{s.repos.ForgetAccount, s.feed.ForgetEvents, s.reads.Forget} {
		if err := forget(ctx, a.UserID, a.ID); err != nil {
			return err
		}
	}
	return nil
}
