package auth

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/secret"
	"github.com/patchbay-dev/patchbay/core/store"
)

const (
	challengeFor = 5 * time.Minute
	kindLogin    = "login"
	kindRegister = "register"
	kindCheck    = "check"
)

// challenge is what a browser has been asked to sign, until it answers or the time is over.
type challenge struct {
	Hash      []byte `gorm:"primaryKey"`
	Kind      string
	UserID    string
	SessionID string
	Name      string
	Data      string
	ExpiresAt int64
}

// TableName implements gorm's Tabler.
func (challenge) TableName() string { return "passkey_challenges" }

// storeChallenge stores a challenge.
func (pk *Passkeys) storeChallenge(ctx context.Context, c challenge, data *webauthn.SessionData, address string) error {
	if wait, ok := pk.asked.Take(limit.Client(address)); !ok {
		return fault.New(fault.RateLimited, "Rate limited: too many passkey requests from this address.").WithRetryAfter(wait)
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return wrapStoreError("write challenge", err)
	}
	c.Hash, c.Data, c.ExpiresAt = secret.HashToken(data.Challenge), string(raw), pk.cfg.Now().Add(challengeFor).UnixMilli()
	return wrapStoreError("store challenge", pk.cfg.Store.Tx(ctx, "store challenge", func(ctx context.Context) error {
		return pk.cfg.Store.Writer(ctx).Create(&c).Error
	}))
}

func errChallenge() error {
	return fault.New(
		"challenge_expired", "This passkey request is unknown, already used or older than five minutes: try again.").
		WithStatus(fault.BadRequest.Status())
}

var challengeColumns = store.Columns(challenge{}, "")

// consumeChallenge returns the challenge that a browser answers and deletes it, so that it can be answered once only.
func (pk *Passkeys) consumeChallenge(ctx context.Context, kind string, answer []byte) (c challenge, data webauthn.SessionData, err error) {
	text := challengeIn(answer)
	if text == "" {
		return c, data, errChallenge()
	}
	var rows []challenge
	err = pk.cfg.Store.Tx(ctx, "use challenge", func(ctx context.Context) error {
		return pk.cfg.Store.Writer(ctx).Raw("DELETE FROM passkey_challenges WHERE hash = ? RETURNING "+challengeColumns, secret.HashToken(text)).Scan(&rows).Error
	})
	if err != nil {
		return c, data, wrapStoreError("use challenge", err)
	}
	if len(rows) == 0 || rows[0].Kind != kind || rows[0].ExpiresAt <= pk.cfg.Now().UnixMilli() {
		return c, data, errChallenge()
	}
	return rows[0], data, wrapStoreError("read challenge", json.Unmarshal([]byte(rows[0].Data), &data))
}

// challengeIn is the challenge that an answer names, "" if it names none. The answer is verified later.
func challengeIn(answer []byte) string {
	var outer struct {
		Response struct {
			ClientDataJSON string `json:"clientDataJSON"`
		} `json:"response"`
	}
	if json.Unmarshal(answer, &outer) != nil {
		return ""
	}
	raw, err := base64.RawURLEncoding.DecodeString(outer.Response.ClientDataJSON)
	if err != nil {
		return ""
	}
	var inner struct {
		Challenge string `json:"challenge"`
	}
	if json.Unmarshal(raw, &inner) != nil {
		return ""
	}
	return inner.Challenge
}
