// Package link links accounts at the code hosts to users.
package link

import (
	"context"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
	own "github.com/patchbay-dev/patchbay/core/services/releases/account"
	"github.com/patchbay-dev/patchbay/core/services/releases/feed"
	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
	"github.com/patchbay-dev/patchbay/core/services/releases/repo"
	"github.com/patchbay-dev/patchbay/core/services/releases/sync"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

// Config is what Links need.
type Config struct {
	Store    *store.Store
	Accounts *own.Store
	Repos    *repo.Store
	Feed     *feed.Store
	Reads    *sync.State
	Users    *auth.Users
	Syncer   *sync.Syncer
	Now      func() time.Time
}

// Links links accounts at the code hosts to users.
type Links struct{ cfg Config }

// New returns what links accounts to users.
func New(cfg Config) *Links { return &Links{cfg} }

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

func newAccount(a own.Account) Account {
	return Account{
		ID: a.ID, Host: a.Host, Login: a.Login, AvatarURL: api.TextOrNull(a.AvatarURL), MaskedToken: a.Masked, SignIn: a.SignIn,
		Check:        TokenCheck{string(a.State), api.TextOrNull(a.Message), api.OptionalTime(a.CheckedAt)},
		AccountReads: AccountReads{a.ReadsStars, a.ReadsInbox, a.ReadsActivity},
	}
}

// Accounts returns the caller's accounts at the code host.
func (l *Links) Accounts(ctx context.Context) ([]Account, error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return nil, err
	}
	all, err := l.cfg.Accounts.List(ctx, userID)
	if err != nil {
		return nil, err
	}
	return lists.ConvertAll(all, newAccount), nil
}

// AddAccount adds the account of a token to those of the caller.
func (l *Links) AddAccount(ctx context.Context, token string) (Account, error) {
	saved, err := l.saveToken(ctx, token, false)
	return newAccount(saved), err
}

// lockAccount returns an account of the caller, and all of them, locked for the running transaction.
func (l *Links) lockAccount(ctx context.Context, id string) (a own.Account, all []own.Account, err error) {
	userID, err := reader.OwnerID(ctx)
	if err != nil {
		return a, nil, err
	}
	if all, err = l.cfg.Accounts.LockAll(ctx, userID); err != nil {
		return a, nil, err
	}
	for _, a := range all {
		if a.ID == id {
			return a, all, nil
		}
	}
	return a, nil, fault.New(fault.NotFound, "There is no such account.")
}

// SetAccountReads chooses what is read with an account of the caller.
func (l *Links) SetAccountReads(ctx context.Context, id string, reads AccountReads) (Account, error) {
	var a own.Account
	err := l.cfg.Store.Tx(ctx, "choose what is read", func(ctx context.Context) (err error) {
		if a, _, err = l.lockAccount(ctx, id); err != nil {
			return err
		}
		former := AccountReads{a.ReadsStars, a.ReadsInbox, a.ReadsActivity}
		a.ReadsStars, a.ReadsInbox, a.ReadsActivity = reads.Stars, reads.Inbox, reads.Activity
		if former != reads {
			if err := l.forgetRead(ctx, a); err != nil {
				return err
			}
		}
		return l.cfg.Accounts.SetReads(ctx, a)
	})
	return newAccount(a), err
}

// DeleteAccount takes an account of the caller away.
func (l *Links) DeleteAccount(ctx context.Context, id string) error {
	return l.cfg.Store.Tx(ctx, "unlink account", func(ctx context.Context) error {
		a, all, err := l.lockAccount(ctx, id)
		if err != nil {
			return err
		}
		return l.unlinkAccount(ctx, a, all)
	})
}

// SaveAccount keeps an account of a user in the running transaction. signIn says that the user signs in with it; an account with which
// the user signs in already stays one.
func (l *Links) SaveAccount(ctx context.Context, userID, host string, token codehost.OAuthToken, owner codehost.Account,
	signIn bool) (own.Account, error) {
	saved, err := l.cfg.Accounts.Save(ctx, userID, host, token, owner, signIn, l.cfg.Now())
	if err != nil {
		return saved, err
	}
	all, err := l.cfg.Accounts.List(ctx, userID)
	if err == nil && len(all) > maxAccounts {
		err = fault.New(fault.Conflict, "You have %d accounts, which is the limit: unlink one first.", maxAccounts)
	}
	return saved, err
}

// unlinkAccount takes an account away from its user, in the running transaction, unless it is the user's last way in. all are the user's
// accounts, which are locked. Sessions that began with an account end with it.
func (l *Links) unlinkAccount(ctx context.Context, a own.Account, all []own.Account) error {
	if err := l.checkOtherWayIn(ctx, a, all); err != nil {
		return err
	}
	if a.SignIn {
		if err := l.cfg.Users.Sessions.EndLinked(ctx, a.UserID); err != nil {
			return err
		}
	}
	return l.forgetAccount(ctx, a)
}

// checkOtherWayIn refuses to take away the account with which a user signs in who has no other way in. all are the user's accounts, which
// are locked, so that two that are taken away at once do not both go.
func (l *Links) checkOtherWayIn(ctx context.Context, a own.Account, all []own.Account) error {
	if !a.SignIn {
		return nil
	}
	for _, other := range all {
		if other.ID != a.ID && other.SignIn {
			return nil
		}
	}
	if has, err := l.cfg.Users.HasCredential(ctx, a.UserID); err != nil || has {
		return err
	}
	return fault.New("last_github_connection_guard",
		"This account is your last way in: register a passkey first.").WithStatus(http.StatusConflict)
}

// forgetAccount forgets an account and what was read with it.
func (l *Links) forgetAccount(ctx context.Context, a own.Account) error {
	if err := l.forgetRead(ctx, a); err != nil {
		return err
	}
	return l.cfg.Accounts.Delete(ctx, a.ID)
}

// forgetRead forgets what was read with an account.
func (l *Links) forgetRead(ctx context.Context, a own.Account) error {
	for _, forget := range []func(context.Context, string, string) error{l.cfg.Repos.ForgetAccount, l.cfg.Feed.ForgetEvents,
		l.cfg.Reads.Forget} {
		if err := forget(ctx, a.UserID, a.ID); err != nil {
			return err
		}
	}
	return nil
}
