package auth

import (
	"context"
	"net/http"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// confirmFor is how long a passkey check counts for what is asked to be confirmed.
const confirmFor = 10 * time.Minute

// codeConfirm is the code of a request that needs a newer passkey check.
const codeConfirm fault.Code = "passkey_check_required"

// RequireConfirmed refuses a principal without a passkey check of the last ten minutes. A sign-in with a passkey is one, and
// so is a set-up link for the session that it began. Nothing else, such as an API key or a forwarded identity, can be confirmed.
func (pk *Passkeys) RequireConfirmed(p *Principal) error {
	if p.Via != ViaSession {
		return fault.New(fault.Forbidden, "This needs a sign-in with a passkey.")
	}
	if pk.isConfirmed(p) {
		return nil
	}
	return fault.New(codeConfirm,
		"Confirm with your passkey: your last confirmation is more than ten minutes old.").WithStatus(http.StatusForbidden)
}

// CheckNewWayIn refuses a principal whose user has passkeys, but who has not shown one in the last ten minutes: whoever has taken a
// session over must not add another way in.
func (pk *Passkeys) CheckNewWayIn(ctx context.Context, p *Principal) error {
	n, err := pk.countPasskeys(ctx, p.User.ID)
	if err != nil {
		return err
	}
	return pk.checkNewWayIn(p, n)
}

// Has reports whether a user has a passkey, which CheckNewWayIn asks for.
func (pk *Passkeys) Has(ctx context.Context, userID string) (bool, error) {
	n, err := pk.countPasskeys(ctx, userID)
	return n > 0, err
}

// checkNewWayIn is CheckNewWayIn for a principal whose user has n passkeys.
func (pk *Passkeys) checkNewWayIn(p *Principal, n int64) error {
	if n == 0 {
		return nil
	}
	return pk.RequireConfirmed(p)
}

func (pk *Passkeys) isConfirmed(p *Principal) bool {
	return p.Via == ViaSession && pk.cfg.Now().Sub(time.UnixMilli(p.CheckedAt)) < confirmFor
}

// BeginCheck asks a browser for a passkey of the principal's user; nil if the last check is new enough. The options are for
// navigator.credentials.get; the answer is due within five minutes, in the same session.
func (pk *Passkeys) BeginCheck(ctx context.Context, p *Principal, c Capability) (*protocol.PublicKeyCredentialRequestOptions, error) {
	if pk.isConfirmed(p) {
		return nil, nil
	}
	if p.Via != ViaSession {
		return nil, pk.RequireConfirmed(p)
	}
	lib, err := newRelyingParty(c)
	if err != nil {
		return nil, err
	}
	who, err := pk.loadHolder(pk.cfg.Store.DB(ctx), p.User)
	if err != nil {
		return nil, err
	}
	if len(who.credentials) == 0 {
		return nil, fault.New(fault.Conflict, "You have no passkey to confirm with: register one on the account page first.")
	}
	options, data, err := lib.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, wrapStoreError("begin passkey check", err)
	}
	options.Response.AllowedCredentials = webauthn.Credentials(who.credentials).CredentialDescriptors()
	return &options.Response, pk.storeChallenge(ctx, challenge{Kind: kindCheck, UserID: p.User.ID, SessionID: p.SessionID}, data, p.Address)
}

// FinishCheck verifies the answer and notes the check in the principal's session. A wrong answer counts as a failed sign-in.
func (pk *Passkeys) FinishCheck(ctx context.Context, p *Principal, c Capability, answer []byte) (err error) {
	from := Origin{Address: p.Address}
	lib, err := newRelyingParty(c)
	if err != nil {
		return err
	}
	if err := pk.sessions.allowAttempt(from); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			pk.sessions.recordFailure(ctx, from, p.Via, EventPasskeyChecked, p.User.ID, err)
		}
	}()
	asked, data, err := pk.consumeChallenge(ctx, kindCheck, answer)
	if err != nil {
		return err
	}
	if asked.UserID != p.User.ID || asked.SessionID != p.SessionID {
		return errChallenge()
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return errPasskey(err)
	}
	return wrapStoreError("check passkey", pk.cfg.Store.Tx(ctx, "check passkey", func(ctx context.Context) error {
		_, row, err := pk.verifyAssertion(ctx, lib, data, parsed)
		if err != nil {
			return err
		}
		if row.UserID != p.User.ID {
			return errPasskey(fault.New(fault.Forbidden, "The passkey belongs to another user."))
		}
		if err := pk.noteCheck(ctx, p); err != nil {
			return err
		}
		return pk.journal.recordEvent(ctx, Event{Action: EventPasskeyChecked, TargetID: row.ID, TargetName: row.Name, UserID: row.UserID})
	}))
}

// noteCheck notes in the running transaction that the person of a session has shown a passkey now.
func (pk *Passkeys) noteCheck(ctx context.Context, p *Principal) error {
	p.CheckedAt = pk.cfg.Now().UnixMilli()
	return pk.cfg.Store.Writer(ctx).Model(&session{}).Where("id = ? AND user_id = ?", p.SessionID, p.User.ID).Update("checked_at",
		p.CheckedAt).Error
}
