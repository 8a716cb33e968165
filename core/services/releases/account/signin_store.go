package account

import (
	"context"
	"encoding/hex"
	"time"

	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// SignInFor is how long a person has to come back from the code host.
const SignInFor = 10 * time.Minute

// SignIn is a sign-in at a code host that has begun.
type SignIn struct {
	// State comes back from the host, Browser from the browser that began.
	State, Browser string
	// UserID is who links an account; "" for somebody who signs in.
	UserID string
	Host   string
	// Verifier is that of the code challenge.
	Verifier schema.Secret
	// Next is the page of ours at which it ends.
	Next string
}

// signInRow is a sign-in as it is stored. ExpiresAt is in Unix milliseconds.
type signInRow struct {
	StateHash   string `gorm:"primaryKey"`
	BrowserHash string
	UserID      string
	Host        string
	Verifier    string
	Next        string
	ExpiresAt   int64
}

// TableName implements gorm's Tabler.
func (signInRow) TableName() string { return "release_sign_ins" }

const (
	signInTable    = "release_sign_ins"
	verifierColumn = "verifier"
)

func hashText(text string) string { return hex.EncodeToString(secret.HashToken(text)) }

// AddSignIn keeps a sign-in that has begun, and forgets those whose time is over.
func (s *Store) AddSignIn(ctx context.Context, in SignIn, now time.Time) error {
	row := signInRow{
		StateHash: hashText(in.State), BrowserHash: hashText(in.Browser), UserID: in.UserID, Host: in.Host, Next: in.Next,
		ExpiresAt: store.Millis(now.Add(SignInFor)),
	}
	row.Verifier = s.ring.Seal([]byte(in.Verifier.Reveal()), signInTable, row.StateHash, verifierColumn)
	return s.store.Tx(ctx, "begin sign-in", func(ctx context.Context) error {
		if err := s.store.Writer(ctx).Where("expires_at <= ?", store.Millis(now)).Delete(&signInRow{}).Error; err != nil {
			return err
		}
		return s.store.Writer(ctx).Create(&row).Error
	})
}

var signInColumns = clause.Returning{Columns: []clause.Column{{Raw: true, Name: store.Columns(signInRow{}, "")}}}

// TakeSignIn returns the sign-in of a state and uses it up. It reports false for a state that is unknown, used, too old or of another
// browser.
func (s *Store) TakeSignIn(ctx context.Context, state, browser string, now time.Time) (in SignIn, ok bool, err error) {
	var rows []signInRow
	err = s.store.Tx(ctx, "end sign-in", func(ctx context.Context) error {
		rows = nil
		return s.store.Writer(ctx).Clauses(signInColumns).Where("state_hash = ? AND browser_hash = ? AND expires_at > ?", hashText(state),
			hashText(browser), store.Millis(now)).Delete(&rows).Error
	})
	if err != nil || len(rows) == 0 {
		return in, false, err
	}
	row := rows[0]
	verifier, err := s.ring.Open(row.Verifier, signInTable, row.StateHash, verifierColumn)
	return SignIn{State: state, Browser: browser, UserID: row.UserID, Host: row.Host, Verifier: schema.Secret(verifier), Next: row.Next},
		err == nil, err
}
