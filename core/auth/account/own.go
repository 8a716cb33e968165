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
	"github.com/patchbay-dev/patchbay/core/lists"
)

// Passkey is a passkey of the caller.
type Passkey struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	RPID       string    `json:"rpId" doc:"The host that it was made for."`
	DeviceType string    `json:"deviceType" enum:"singleDevice,multiDevice"`
	BackedUp   bool      `json:"backedUp"`
	CreatedAt  api.Time  `json:"createdAt"`
	LastUsedAt *api.Time `json:"lastUsedAt" nullable:"true"`
	RevokedAt  *api.Time `json:"revokedAt" nullable:"true"`
}

func newPasskey(p auth.Passkey) Passkey {
	device := "singleDevice"
	if p.BackupEligible {
		device = "multiDevice"
	}
	return Passkey{p.ID, p.Name, p.RPID, device, p.BackedUp, api.TimeOfMillis(p.CreatedAt), api.OptionalTime(p.LastUsedAt),
		api.OptionalTime(p.RevokedAt)}
}

type (
	passkeyListBody struct {
		Passkeys []Passkey `json:"passkeys" nullable:"false"`
	}
	nameInput struct {
		Request
		Body *struct {
			Name string `json:"name,omitempty" maxLength:"80" doc:"Default: Passkey."`
		}
	}
	passkeyRename struct {
		ID
		Body struct {
			Name string `json:"name" minLength:"1" maxLength:"80"`
		}
	}
)

// Passkeys are the routes of the caller's passkeys: passkeys, passkeys/registration/options and verify, passkeys/{id}. An API key
// is not enough for them.
func (s *Sets) Passkeys(a *api.API, base string) {
	at := base + "/passkeys"
	api.Register(a, api.Operation{
		ID: "list-passkeys", Method: http.MethodGet, Path: at, Policy: httpd.Session, Tag: tagAccount, Summary: "List own passkeys",
		Description: "The newest first, revoked ones included.",
	}, func(ctx context.Context, _ *struct{}) (*api.Out[passkeyListBody], error) {
		rows, err := s.cfg.Users.Passkeys.List(ctx, principalFrom(ctx).User.ID)
		return api.AnswerWith(passkeyListBody{lists.ConvertAll(rows, newPasskey)}, err)
	})
	api.Register(a, api.Operation{
		ID: "begin-passkey-registration", Method: http.MethodPost, Path: at + "/registration/options", Policy: httpd.Session,
		Audit: httpd.Unaudited, Tag: tagAccount, Summary: "Begin to make a passkey",
		Description: "The answer is for navigator.credentials.create, by way of PublicKeyCredential.parseCreationOptionsFromJSON. It is good for five minutes and for one answer in the same session.",
		Errors:      []int{409, 429},
	}, func(ctx context.Context, in *nameInput) (*api.Out[json.RawMessage], error) {
		name := ""
		if in.Body != nil {
			name = in.Body.Name
		}
		options, err := s.cfg.Users.Passkeys.BeginRegistration(ctx, principalFrom(ctx), s.cfg.Access.Passkeys(in.httpRequest()), name)
		return writeOptions(options, err)
	})
	api.Register(a, api.Operation{
		ID: "finish-passkey-registration", Method: http.MethodPost, Path: at + "/registration/verify", Policy: httpd.Session,
		Audit: httpd.Unaudited, Tag: tagAccount, Summary: "Keep a passkey",
		Status: http.StatusCreated, BodyLimit: answerLimit, Errors: []int{409},
	}, func(ctx context.Context, in *passkeyInput) (*api.Out[Passkey], error) {
		p, err := s.cfg.Users.Passkeys.FinishRegistration(ctx, principalFrom(ctx), s.cfg.Access.Passkeys(in.httpRequest()), in.Body.Response)
		return api.AnswerWith(newPasskey(p), err)
	})
	api.Register(a, api.Operation{
		ID: "rename-passkey", Method: http.MethodPatch, Path: at + "/{id}", Policy: httpd.Session, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary: "Rename an own passkey", Errors: []int{404},
	}, func(ctx context.Context, in *passkeyRename) (*api.Out[Passkey], error) {
		p, err := s.cfg.Users.Passkeys.Rename(ctx, principalFrom(ctx), in.ID.ID, in.Body.Name)
		return api.AnswerWith(newPasskey(p), err)
	})
	api.Register(a, api.Operation{
		ID: "revoke-passkey", Method: http.MethodDelete, Path: at + "/{id}", Policy: httpd.Session, Audit: httpd.Unaudited, Confirm: true,
		Tag: tagAccount, Summary: "Revoke an own passkey",
		Description: "Other sessions that began with it end. The last one cannot be revoked.", Status: http.StatusNoContent,
		Errors: []int{404, 409},
	}, func(ctx context.Context, in *ID) (*none, error) {
		return emptyAnswer(s.cfg.Users.Passkeys.Revoke(ctx, principalFrom(ctx), in.ID))
	})
}

// Key is an API key of the caller.
type Key struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	Prefix     string    `json:"prefix" doc:"The first 12 characters."`
	MaskedKey  string    `json:"maskedKey" doc:"The first 12 and the last 4 characters."`
	Scopes     []string  `json:"scopes" nullable:"false" doc:"Services that it is for; none means all."`
	CreatedAt  api.Time  `json:"createdAt"`
	ExpiresAt  *api.Time `json:"expiresAt" nullable:"true"`
	LastUsedAt *api.Time `json:"lastUsedAt" nullable:"true"`
	RevokedAt  *api.Time `json:"revokedAt" nullable:"true"`
}

func newKey(k auth.Key) Key {
	return Key{
		ID: k.ID, Name: k.Name, Prefix: k.Prefix, MaskedKey: k.Masked, Scopes: append([]string{}, k.Scopes...),
		CreatedAt: api.TimeOfMillis(k.CreatedAt), ExpiresAt: api.OptionalTime(k.ExpiresAt), LastUsedAt: api.OptionalTime(k.LastUsedAt),
		RevokedAt: api.OptionalTime(k.RevokedAt),
	}
}

// MadeKey is an API key with its text, which is shown this once.
type MadeKey struct {
	APIKey       string `json:"apiKey" doc:"The full key. It is sensitive."`
	APIKeyRecord Key    `json:"apiKeyRecord"`
}

type (
	keyListBody struct {
		APIKeys []Key `json:"apiKeys" nullable:"false"`
	}
	keyInput struct {
		Body struct {
			Name      string     `json:"name,omitempty" maxLength:"80" doc:"Default: API key."`
			Scopes    []string   `json:"scopes,omitempty" maxItems:"32" nullable:"false" doc:"Names of services; none means all."`
			ExpiresAt *time.Time `json:"expiresAt,omitempty" doc:"Absent: it does not expire."`
		}
	}
	keyTextBody struct {
		APIKey string `json:"apiKey" doc:"The full key. It is sensitive."`
	}
)

// Keys are the routes of the caller's API keys: api-keys, api-keys/{id}/revoke and reveal. A key can make none.
func (s *Sets) Keys(a *api.API, base string) {
	at := base + "/api-keys"
	api.Register(a, api.Operation{
		ID: "list-api-keys", Method: http.MethodGet, Path: at, Policy: httpd.APIKey, Tag: tagAccount, Summary: "List own API keys",
		Description: "The newest first, masked, revoked ones included.",
	}, func(ctx context.Context, _ *struct{}) (*api.Out[keyListBody], error) {
		rows, err := s.cfg.Users.Keys.List(ctx, principalFrom(ctx).User.ID)
		return api.AnswerWith(keyListBody{lists.ConvertAll(rows, newKey)}, err)
	})
	api.Register(a, api.Operation{
		ID: "create-api-key", Method: http.MethodPost, Path: at, Policy: httpd.Session, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary: "Create an API key", Status: http.StatusCreated, Errors: []int{409},
	}, s.createKey)
	api.Register(a, api.Operation{
		ID: "revoke-api-key", Method: http.MethodPost, Path: at + "/{id}/revoke", Policy: httpd.APIKey, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary:     "Revoke an API key",
		Description: "It and the sessions that were exchanged from it end at once. Administrators may revoke everybody's.",
		Status:      http.StatusNoContent, Errors: []int{404},
	}, func(ctx context.Context, in *ID) (*none, error) {
		return emptyAnswer(s.cfg.Users.Keys.Revoke(ctx, principalFrom(ctx), in.ID))
	})
	api.Register(a, api.Operation{
		ID: "reveal-api-key", Method: http.MethodPost, Path: at + "/{id}/reveal", Policy: httpd.Session, Audit: httpd.Unaudited, Confirm: true,
		Tag: tagAccount, Summary: "Show an own API key in full",
		Description: "Needs a passkey check of the last ten minutes.", Errors: []int{404, 409},
	}, func(ctx context.Context, in *ID) (*api.Out[keyTextBody], error) {
		key, err := s.cfg.Users.Keys.Reveal(ctx, principalFrom(ctx), in.ID)
		return api.AnswerWith(keyTextBody{key}, err)
	})
}

func (s *Sets) createKey(ctx context.Context, in *keyInput) (*api.Out[MadeKey], error) {
	ask := auth.NewKey{Name: in.Body.Name, Scopes: in.Body.Scopes}
	if in.Body.ExpiresAt != nil {
		if in.Body.ExpiresAt.IsZero() {
			return nil, fault.New(fault.InvalidArgument, "The expiry of the key is in the past: choose a later time.").With("field", "expiresAt")
		}
		ask.ExpiresAt = *in.Body.ExpiresAt
	}
	k, key, err := s.cfg.Users.Keys.Create(ctx, principalFrom(ctx), ask)
	return api.AnswerWith(MadeKey{key, newKey(k)}, err)
}

// SessionInfo is a session of the caller.
type SessionInfo struct {
	ID         string   `json:"id"`
	Current    bool     `json:"current" doc:"Whether it is the one of this request."`
	BeganWith  string   `json:"beganWith" enum:"passkey,setup,api_key,linked_account"`
	UserAgent  string   `json:"userAgent"`
	Address    string   `json:"address"`
	CreatedAt  api.Time `json:"createdAt"`
	LastSeenAt api.Time `json:"lastSeenAt"`
	ExpiresAt  api.Time `json:"expiresAt"`
}

type (
	sessionListBody struct {
		Sessions []SessionInfo `json:"sessions" nullable:"false"`
	}
	revokedOutputBody struct {
		Revoked int64 `json:"revoked" doc:"How many sessions ended."`
	}
)

// Sessions are the routes of the caller's sessions: sessions, sessions/{id}, sessions/revoke-others.
func (s *Sets) Sessions(a *api.API, base string) {
	at := base + "/sessions"
	api.Register(a, api.Operation{
		ID: "list-sessions", Method: http.MethodGet, Path: at, Policy: httpd.APIKey, Tag: tagAccount, Summary: "List own sessions",
	}, s.listSessions)
	api.Register(a, api.Operation{
		ID: "revoke-session", Method: http.MethodDelete, Path: at + "/{id}", Policy: httpd.APIKey, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary: "End an own session", Status: http.StatusNoContent, Errors: []int{404},
	}, func(ctx context.Context, in *ID) (*none, error) {
		p, err := requireUnscoped(ctx)
		if err != nil {
			return nil, err
		}
		return emptyAnswer(s.cfg.Users.Sessions.EndOwn(ctx, p, in.ID))
	})
	api.Register(a, api.Operation{
		ID: "revoke-other-sessions", Method: http.MethodPost, Path: at + "/revoke-others", Policy: httpd.APIKey, Audit: httpd.Unaudited,
		Tag: tagAccount, Summary: "End all other own sessions",
	}, func(ctx context.Context, _ *struct{}) (*api.Out[revokedOutputBody], error) {
		p, err := requireUnscoped(ctx)
		if err != nil {
			return nil, err
		}
		revoked, err := s.cfg.Users.Sessions.EndOthers(ctx, p)
		return api.AnswerWith(revokedOutputBody{revoked}, err)
	})
}

func (s *Sets) listSessions(ctx context.Context, _ *struct{}) (*api.Out[sessionListBody], error) {
	p, err := requireUnscoped(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.cfg.Users.Sessions.List(ctx, p.User.ID)
	out := &api.Out[sessionListBody]{}
	out.Body.Sessions = make([]SessionInfo, len(rows))
	for i, r := range rows {
		out.Body.Sessions[i] = SessionInfo{
			ID: r.ID, Current: r.ID == p.SessionID, BeganWith: r.BeganWith, UserAgent: r.UserAgent, Address: r.Address,
			CreatedAt: api.TimeOfMillis(r.CreatedAt), LastSeenAt: api.TimeOfMillis(r.SeenAt), ExpiresAt: api.TimeOfMillis(r.ExpiresAt),
		}
	}
	return out, err
}
