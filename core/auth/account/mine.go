package account

import (
	"context"
	"net/http"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
)

// KeySummary is an API key of the caller, for services whose members are in snake case.
type KeySummary struct {
	ID         string    `json:"id"`
	Name       string    `json:"name"`
	APIKey     *string   `json:"api_key" doc:"The full key, only after a sign-in with a passkey. It is sensitive."`
	MaskedKey  string    `json:"masked_key" doc:"The first 12 and the last 4 characters."`
	CreatedAt  api.Time  `json:"created_at"`
	LastUsedAt *api.Time `json:"last_used_at" nullable:"true"`
}

func newKeySummary(k auth.Key, full string) KeySummary {
	return KeySummary{k.ID, k.Name, optionalText(full), k.Masked, api.TimeOfMillis(k.CreatedAt), api.OptionalTime(k.LastUsedAt)}
}

type (
	summaryListBody struct {
		Items []KeySummary `json:"items" nullable:"false"`
	}
	summaryMadeBody struct {
		Item   KeySummary `json:"item"`
		APIKey string     `json:"api_key" doc:"The full key. It is sensitive."`
	}
	summaryInput struct {
		Body struct {
			Name string `json:"name,omitempty" maxLength:"80" doc:"Default: API key."`
		}
	}
)

// OwnKeys are the routes of the caller's API keys for services whose members are in snake case, and that take only a session:
// me/api-keys, me/api-keys/{id}. Keys that are made there are for the given scopes, none for all.
func (s *Sets) OwnKeys(a *api.API, base string, scopes ...string) {
	at := base + "/me/api-keys"
	api.Register(a, api.Operation{
		ID: "list-own-api-keys", Method: http.MethodGet, Path: at, Policy: httpd.Session, Tag: tagAccount, Summary: "List own API keys",
		Description: "The newest first, without revoked ones.",
	}, func(ctx context.Context, _ *struct{}) (*api.Out[summaryListBody], error) { return s.keySummaries(ctx) })
	api.Register(a, api.Operation{
		ID: "create-own-api-key", Method: http.MethodPost, Path: at, Policy: httpd.Session, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary: "Create an API key", Errors: []int{409},
	}, func(ctx context.Context, in *summaryInput) (*api.Out[summaryMadeBody], error) {
		k, key, err := s.cfg.Users.Keys.Create(ctx, principalFrom(ctx), auth.NewKey{Name: in.Body.Name, Scopes: scopes})
		return api.AnswerWith(summaryMadeBody{Item: newKeySummary(k, key), APIKey: key}, err)
	})
	api.Register(a, api.Operation{
		ID: "revoke-own-api-key", Method: http.MethodDelete, Path: at + "/{id}", Policy: httpd.Session, Audit: httpd.Unaudited, Tag: tagAccount,
		Summary: "Revoke an API key", Description: "Answers with those that are left.", Errors: []int{404},
	}, func(ctx context.Context, in *ID) (*api.Out[summaryListBody], error) {
		if err := s.cfg.Users.Keys.Revoke(ctx, principalFrom(ctx), in.ID); err != nil {
			return nil, err
		}
		return s.keySummaries(ctx)
	})
}

func (s *Sets) keySummaries(ctx context.Context) (*api.Out[summaryListBody], error) {
	keys, texts, err := s.cfg.Users.Keys.RevealAll(ctx, principalFrom(ctx))
	return api.AnswerWith(summaryListBody{lists.ConvertAll(keys, func(k auth.Key) KeySummary { return newKeySummary(k, texts[k.ID]) })}, err)
}
