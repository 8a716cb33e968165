package auth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"
	"gorm.io/gorm"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
)

const (
	defaultPasskeyName = "Passkey"
	// maxPasskeys is how many passkeys of one user may be valid at once.
	maxPasskeys = 50
)

// passkey is a credential as it is stored.
type passkey struct {
	ID           string `gorm:"primaryKey"`
	UserID       string
	CredentialID []byte
	RPID         string `gorm:"column:rp_id"`
	Name         string
	// Record is what the verification needs, as JSON: the public key, the counter and the flags. Nothing in it is secret.
	Record     string
	BackedUp   bool
	CreatedAt  int64 `gorm:"autoCreateTime:false"`
	LastUsedAt int64
	RevokedAt  int64
}

// TableName implements gorm's Tabler.
func (passkey) TableName() string { return "passkeys" }

func (p *passkey) decodeCredential() (c webauthn.Credential, err error) {
	err = json.Unmarshal([]byte(p.Record), &c)
	return c, wrapStoreError("read passkey", err)
}

func (p *passkey) setCredential(c webauthn.Credential) error {
	// The attestation is not asked for, so that there is nothing in it to be kept.
	c.Attestation = webauthn.CredentialAttestation{}
	raw, err := json.Marshal(c)
	p.Record, p.BackedUp, p.CredentialID = string(raw), c.Flags.BackupState, c.ID
	return wrapStoreError("write passkey", err)
}

// Passkey is a passkey as it may be shown. Times are Unix milliseconds, 0 for none.
type Passkey struct {
	ID, Name string
	// RPID is the host that it was made for.
	RPID string
	// BackupEligible reports whether more than one device can keep it, BackedUp whether more than one does.
	BackupEligible, BackedUp         bool
	CreatedAt, LastUsedAt, RevokedAt int64
}

func (p *passkey) toPasskey() Passkey {
	c, err := p.decodeCredential()
	return Passkey{p.ID, p.Name, p.RPID, err == nil && c.Flags.BackupEligible, p.BackedUp, p.CreatedAt, p.LastUsedAt, p.RevokedAt}
}

// Passkeys keeps the passkeys.
type Passkeys struct {
	cfg      Config
	rows     *userStore
	sessions *Sessions
	journal  *Journal
	// asked counts the challenges of each client's address.
	asked *limit.Limiter
}

// List returns the passkeys of a user, the newest first, revoked ones included.
func (pk *Passkeys) List(ctx context.Context, userID string) ([]Passkey, error) {
	var rows []passkey
	err := pk.cfg.Store.DB(ctx).Where("user_id = ?", userID).Order("created_at DESC, id DESC").Find(&rows).Error
	return lists.ConvertAll(rows, func(r passkey) Passkey { return r.toPasskey() }), wrapStoreError("list passkeys", err)
}

// Rename gives an own passkey a name of at most 80 characters.
func (pk *Passkeys) Rename(ctx context.Context, p *Principal, id, name string) (out Passkey, err error) {
	name = strings.TrimSpace(name)
	if err := checkName(name); err != nil {
		return out, err
	}
	err = pk.ownPasskey(ctx, p, id, func(ctx context.Context, row *passkey) error {
		was := row.Name
		row.Name, out = name, row.toPasskey()
		out.Name = name
		if was == name {
			return nil
		}
		if err := pk.cfg.Store.Writer(ctx).Model(&passkey{}).Where("id = ?", id).Update("name", name).Error; err != nil {
			return err
		}
		return pk.journal.recordEvent(ctx, Event{Action: EventPasskeyRenamed, TargetID: id, TargetName: name, UserID: p.User.ID,
			Detail: "formerly: " + was})
	})
	return out, wrapStoreError("rename passkey", err)
}

// Revoke ends an own passkey and the sessions that began with it, save the one of this request. It needs a passkey check
// of the last minutes, and refuses to end the last one. It may be called again.
func (pk *Passkeys) Revoke(ctx context.Context, p *Principal, id string) error {
	if err := pk.RequireConfirmed(p); err != nil {
		return err
	}
	return wrapStoreError("revoke passkey", pk.ownPasskey(ctx, p, id, func(ctx context.Context, row *passkey) error {
		if row.RevokedAt != 0 {
			return nil
		}
		w := pk.cfg.Store.Writer(ctx)
		if err := pk.notTheLastPasskey(ctx, row); err != nil {
			return err
		}
		if err := w.Model(&passkey{}).Where("id = ?", id).Update("revoked_at", pk.cfg.Now().UnixMilli()).Error; err != nil {
			return err
		}
		if err := w.Where("passkey_id = ? AND user_id = ? AND id <> ?", id, row.UserID, p.SessionID).Delete(&session{}).Error; err != nil {
			return err
		}
		return pk.journal.recordEvent(ctx, Event{Action: EventPasskeyRevoked, TargetID: id, TargetName: row.Name, UserID: row.UserID})
	}))
}

// notTheLastPasskey refuses when the user, whom the caller has locked, has no other passkey.
func (pk *Passkeys) notTheLastPasskey(ctx context.Context, row *passkey) error {
	n, err := pk.countPasskeys(ctx, row.UserID)
	if err == nil && n < 2 {
		err = fault.New("last_way_in", "This is your last passkey: register another one first.").WithStatus(http.StatusConflict)
	}
	return err
}

// checkPasskeyCount refuses one more passkey for a user who has n, as many as may be.
func checkPasskeyCount(n int64) error {
	if n >= maxPasskeys {
		return fault.New(fault.Conflict, "You have %d passkeys, which is the limit: revoke some first.", n)
	}
	return nil
}

// countPasskeys returns how many passkeys of a user are not revoked.
func (pk *Passkeys) countPasskeys(ctx context.Context, userID string) (n int64, err error) {
	err = pk.cfg.Store.DB(ctx).Model(&passkey{}).Where("user_id = ? AND revoked_at = 0", userID).Count(&n).Error
	return n, wrapStoreError("count passkeys", err)
}

// ownPasskey runs f in a transaction with a passkey of the principal's user, who is locked.
func (pk *Passkeys) ownPasskey(ctx context.Context, p *Principal, id string, f func(context.Context, *passkey) error) error {
	return pk.cfg.Store.Tx(ctx, "change passkey", func(ctx context.Context) error {
		if _, err := pk.rows.lockUser(ctx, "id = ?", p.User.ID); err != nil {
			return err
		}
		var row passkey
		err := pk.cfg.Store.Writer(ctx).Where("id = ? AND user_id = ?", id, p.User.ID).Take(&row).Error
		if errors.Is(err, gorm.ErrRecordNotFound) {
			return fault.New(fault.NotFound, "There is no such passkey.")
		}
		if err != nil {
			return err
		}
		return f(ctx, &row)
	})
}

// newRelyingParty returns the WebAuthn relying party for the host of c.
func newRelyingParty(c Capability) (*webauthn.WebAuthn, error) {
	if !c.Available {
		return nil, fault.New("passkeys_unavailable", "%s", c.Message).WithStatus(fault.Conflict.Status()).With("reason", c.Reason)
	}
	resident := true
	w, err := webauthn.New(&webauthn.Config{
		RPID: c.rpID, RPDisplayName: "Patchbay", RPOrigins: []string{c.origin}, AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			RequireResidentKey: &resident, ResidentKey: protocol.ResidentKeyRequirementRequired, UserVerification: protocol.VerificationRequired,
		},
		// Browsers may add results that nobody asked for; they are not looked at.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	return w, wrapStoreError("prepare passkeys", err)
}

// holder is a user as the library sees one.
type holder struct {
	user        User
	credentials []webauthn.Credential
}

// WebAuthnID implements webauthn.User.
func (h holder) WebAuthnID() []byte { return []byte(h.user.ID) }

// WebAuthnName implements webauthn.User.
func (h holder) WebAuthnName() string { return h.user.Email }

// WebAuthnDisplayName implements webauthn.User.
func (h holder) WebAuthnDisplayName() string { return h.user.Name }

// WebAuthnCredentials implements webauthn.User.
func (h holder) WebAuthnCredentials() []webauthn.Credential { return h.credentials }
