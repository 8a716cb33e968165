package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/store"
)

// BeginRegistration asks a browser to make a passkey for the principal's user. The options are for
// navigator.credentials.create; the answer is due within five minutes, in the same session.
func (pk *Passkeys) BeginRegistration(ctx context.Context, p *Principal, c Capability,
	name string) (*protocol.PublicKeyCredentialCreationOptions, error) {
	if !p.HasAccount() {
		return nil, errNoAccount()
	}
	if name = strings.TrimSpace(name); name == "" {
		name = defaultPasskeyName
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	lib, err := newRelyingParty(c)
	if err != nil {
		return nil, err
	}
	who, err := pk.loadHolder(pk.cfg.Store.DB(ctx), p.User)
	if err != nil {
		return nil, err
	}
	n := int64(len(who.credentials))
	if err := pk.checkNewWayIn(p, n); err != nil {
		return nil, err
	}
	if err := checkPasskeyCount(n); err != nil {
		return nil, err
	}
	options, data, err := lib.BeginRegistration(who, webauthn.WithExclusions(webauthn.Credentials(who.credentials).CredentialDescriptors()))
	if err != nil {
		return nil, wrapStoreError("begin registration", err)
	}
	if err := pk.storeChallenge(ctx, challenge{Kind: kindRegister, UserID: p.User.ID, SessionID: p.SessionID, Name: name}, data,
		p.Address); err != nil {
		return nil, err
	}
	return &options.Response, nil
}

// FinishRegistration verifies what a browser has made and keeps it. The answer is the JSON of the credential.
func (pk *Passkeys) FinishRegistration(ctx context.Context, p *Principal, c Capability, answer []byte) (out Passkey, err error) {
	lib, err := newRelyingParty(c)
	if err != nil {
		return out, err
	}
	asked, data, err := pk.consumeChallenge(ctx, kindRegister, answer)
	if err != nil {
		return out, err
	}
	if asked.UserID != p.User.ID || asked.SessionID != p.SessionID {
		return out, errChallenge()
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return out, errRegistration(err)
	}
	credential, err := lib.CreateCredential(holder{user: p.User}, data, parsed)
	if err != nil {
		pk.journal.recordRefusal(ctx, Event{Action: EventPasskeyAdded, UserID: p.User.ID}, errRegistration(err))
		return out, errRegistration(err)
	}
	row := passkey{ID: store.NewID("psk"), UserID: p.User.ID, RPID: data.RelyingPartyID, Name: asked.Name, CreatedAt: pk.cfg.Now().UnixMilli()}
	if err := row.setCredential(*credential); err != nil {
		return out, err
	}
	err = pk.cfg.Store.Tx(ctx, "keep passkey", func(ctx context.Context) error {
		if err := pk.sessions.LockOwner(ctx, p); err != nil {
			return err
		}
		n, err := pk.countPasskeys(ctx, row.UserID)
		if err != nil {
			return err
		}
		if err := checkPasskeyCount(n); err != nil {
			return err
		}
		made := pk.cfg.Store.Writer(ctx).Clauses(clause.OnConflict{Columns: []clause.Column{{Name: "credential_id"}},
			DoNothing: true}).Create(&row)
		if made.Error != nil {
			return made.Error
		}
		if made.RowsAffected == 0 {
			return fault.New(fault.Conflict, "This passkey is already registered.")
		}
		if p.Via == ViaSession {
			if err := pk.noteCheck(ctx, p); err != nil {
				return err
			}
		}
		return pk.journal.recordEvent(ctx, Event{Action: EventPasskeyAdded, TargetID: row.ID, TargetName: row.Name, UserID: row.UserID})
	})
	return row.toPasskey(), wrapStoreError("keep passkey", err)
}

func errRegistration(err error) error {
	return fault.Wrap(explainCeremony(err), "passkey_refused", "The passkey was not accepted.").WithStatus(http.StatusBadRequest)
}

// BeginLogin asks a browser for any passkey of this server. The options are for navigator.credentials.get.
func (pk *Passkeys) BeginLogin(ctx context.Context, c Capability, from Origin) (*protocol.PublicKeyCredentialRequestOptions, error) {
	lib, err := newRelyingParty(c)
	if err != nil {
		return nil, err
	}
	if err := pk.sessions.allowAttempt(from); err != nil {
		return nil, err
	}
	options, data, err := lib.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, wrapStoreError("begin login", err)
	}
	return &options.Response, pk.storeChallenge(ctx, challenge{Kind: kindLogin}, data, from.Address)
}

// FinishLogin verifies the answer and begins a session. The answer is the JSON of the assertion. Whatever is wrong with it
// is the same refusal, so that nobody learns which credentials exist.
func (pk *Passkeys) FinishLogin(ctx context.Context, c Capability, answer []byte, from Origin) (cookie string, p *Principal, err error) {
	lib, err := newRelyingParty(c)
	if err != nil {
		return "", nil, err
	}
	if err := pk.sessions.allowAttempt(from); err != nil {
		return "", nil, err
	}
	var who string
	defer func() {
		if err != nil {
			pk.sessions.recordFailure(ctx, from, ViaSession, EventSessionBegan, who, err)
		}
	}()
	_, data, err := pk.consumeChallenge(ctx, kindLogin, answer)
	if err != nil {
		return "", nil, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return "", nil, errPasskey(err)
	}
	p = &Principal{Via: ViaSession, Address: from.Address}
	err = pk.cfg.Store.Tx(ctx, "begin session", func(ctx context.Context) error {
		user, row, err := pk.verifyAssertion(ctx, lib, data, parsed)
		if row != nil {
			who = row.UserID
		}
		if err != nil {
			return err
		}
		p.User = user
		var s session
		cookie, s, err = pk.sessions.beginSession(Acting(ctx, Actor{Address: from.Address}), user,
			session{PasskeyID: row.ID, BeganWith: beganWithPasskey},
			ViaSession, from)
		p.SessionID, p.Since, p.CheckedAt = s.ID, s.CreatedAt, s.CheckedAt
		return err
	})
	if err != nil {
		return "", nil, wrapStoreError("sign in with a passkey", err)
	}
	return cookie, p, nil
}

// verifyAssertion checks an assertion and advances the passkey's counter, in the running transaction. It locks and returns the passkey's
// user. With an error the passkey is nil unless it is known which one was shown.
func (pk *Passkeys) verifyAssertion(ctx context.Context, lib *webauthn.WebAuthn, data webauthn.SessionData,
	parsed *protocol.ParsedCredentialAssertionData) (user User, row *passkey, err error) {
	user, err = pk.rows.lockUser(ctx, "id IN (SELECT user_id FROM passkeys WHERE credential_id = ?)", parsed.RawID)
	if fault.CodeOf(err) == fault.NotFound {
		return user, nil, errPasskey(err)
	}
	if err != nil {
		return user, nil, err
	}
	row = &passkey{}
	w := pk.cfg.Store.Writer(ctx)
	err = w.Where("credential_id = ? AND revoked_at = 0", parsed.RawID).Take(row).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return user, nil, errPasskey(err)
	}
	if err != nil {
		return user, nil, err
	}
	known, err := row.decodeCredential()
	if err != nil {
		return user, row, err
	}
	owner := func([]byte, []byte) (webauthn.User, error) {
		return holder{user: user, credentials: []webauthn.Credential{known}}, nil
	}
	_, credential, err := lib.ValidatePasskeyLogin(owner, data, parsed)
	if err != nil {
		return user, row, errPasskey(err)
	}
	if credential.Authenticator.CloneWarning {
		pk.cfg.Logger.Warn("sign-in refused: the passkey's counter went back, it may have been copied", "passkey", row.ID, "user",
			row.UserID)
		return user, row, errPasskey(errors.New("the counter of the passkey did not go on"))
	}
	if err := row.setCredential(*credential); err != nil {
		return user, row, err
	}
	return user, row, w.Model(&passkey{}).Where("id = ?", row.ID).Updates(map[string]any{
		"record": row.Record, "backed_up": row.BackedUp, "last_used_at": pk.cfg.Now().UnixMilli(),
	}).Error
}

func errPasskey(err error) error {
	return fault.Wrap(explainCeremony(err), "invalid_passkey", "This passkey does not let you in.").WithStatus(http.StatusUnauthorized)
}

// explainCeremony returns err with the library's details, for the log.
func explainCeremony(err error) error {
	var p *protocol.Error
	if errors.As(err, &p) && p.DevInfo != "" {
		return errors.New(p.Details + ": " + p.DevInfo)
	}
	return err
}

// loadHolder returns a user with the passkeys that are not revoked.
func (pk *Passkeys) loadHolder(db *gorm.DB, user User) (holder, error) {
	var rows []passkey
	out := holder{user: user}
	if err := db.Where("user_id = ? AND revoked_at = 0", user.ID).Find(&rows).Error; err != nil {
		return out, wrapStoreError("read passkeys", err)
	}
	for i := range rows {
		c, err := rows[i].decodeCredential()
		if err != nil {
			return out, err
		}
		out.credentials = append(out.credentials, c)
	}
	return out, nil
}
