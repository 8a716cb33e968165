package account

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/httpd/api"
	"github.com/patchbay-dev/patchbay/core/lists"
)

// User is a person with an account.
type User struct {
	ID        string    `json:"id"`
	Email     string    `json:"email"`
	Name      string    `json:"name"`
	Role      auth.Role `json:"role" enum:"admin,member"`
	Disabled  bool      `json:"disabled"`
	CreatedAt api.Time  `json:"createdAt"`
	UpdatedAt api.Time  `json:"updatedAt"`
}

func newUser(u auth.User) User {
	return User{u.ID, u.Email, u.Name, u.Role, u.Disabled, api.TimeOfMillis(u.CreatedAt), api.TimeOfMillis(u.UpdatedAt)}
}

type (
	userListBody struct {
		Users []User `json:"users" nullable:"false"`
	}
	userInput struct {
		Body struct {
			Email string    `json:"email" minLength:"3" maxLength:"254"`
			Name  string    `json:"name" minLength:"1" maxLength:"80"`
			Role  auth.Role `json:"role,omitempty" enum:"admin,member" default:"member"`
		}
	}
	userMadeBody struct {
		User       User    `json:"user"`
		InitialKey MadeKey `json:"initialKey"`
	}
	userChange struct {
		ID
		Body struct {
			Name     *string    `json:"name,omitempty" minLength:"1" maxLength:"80"`
			Role     *auth.Role `json:"role,omitempty" enum:"admin,member"`
			Disabled *bool      `json:"disabled,omitempty"`
		}
	}
	linkInput struct {
		Request
		ID
	}
	linkOutputBody struct {
		URL       string   `json:"url" doc:"Whoever opens it is signed in as the user. It is sensitive."`
		ExpiresAt api.Time `json:"expiresAt"`
	}
)

// Users are the routes of all users, for administrators: users, users/{id}, users/{id}/setup-link.
func (s *Sets) Users(a *api.API, base string) {
	at := base + "/users"
	api.Register(a, api.Operation{
		ID: "list-users", Method: http.MethodGet, Path: at, Policy: httpd.Admin, Tag: tagUsers, Summary: "List the users",
		Description: "The oldest first.",
	}, unscopedOnly(func(ctx context.Context, _ *struct{}) (*api.Out[userListBody], error) {
		rows, err := s.cfg.Users.List(ctx)
		return api.AnswerWith(userListBody{lists.ConvertAll(rows, newUser)}, err)
	}))
	api.Register(a, api.Operation{
		ID: "create-user", Method: http.MethodPost, Path: at, Policy: httpd.Admin, Audit: httpd.Unaudited, Confirm: true, Tag: tagUsers,
		Summary: "Add a user", Description: "With an API key, which is shown this once.",
		Status: http.StatusCreated, Errors: []int{409},
	}, unscopedOnly(s.createUser))
	api.Register(a, api.Operation{
		ID: "get-user", Method: http.MethodGet, Path: at + "/{id}", Policy: httpd.Admin, Tag: tagUsers, Summary: "One user", Errors: []int{404},
	}, unscopedOnly(func(ctx context.Context, in *ID) (*api.Out[User], error) {
		u, err := s.cfg.Users.Get(ctx, in.ID)
		return api.AnswerWith(newUser(u), err)
	}))
	api.Register(a, api.Operation{
		ID: "change-user", Method: http.MethodPatch, Path: at + "/{id}", Policy: httpd.Admin, Audit: httpd.Unaudited, Confirm: true,
		Tag: tagUsers, Summary: "Rename a user, change the role, keep out or let in",
		Description: "The last administrator who is enabled stays one. A user who is disabled is signed out everywhere.", Errors: []int{404, 409},
	}, unscopedOnly(func(ctx context.Context, in *userChange) (*api.Out[User], error) {
		u, err := s.cfg.Users.Change(ctx, in.ID.ID, auth.UserChange{Name: in.Body.Name, Role: in.Body.Role, Disabled: in.Body.Disabled})
		return api.AnswerWith(newUser(u), err)
	}))
	api.Register(a, api.Operation{
		ID: "create-setup-link", Method: http.MethodPost, Path: at + "/{id}/setup-link", Policy: httpd.Admin, Audit: httpd.Unaudited,
		Confirm: true, Tag: tagUsers, Summary: "Make a one-time sign-in link for a user",
		Description: "It is good for a day, and lets the user register a passkey. Former links of the user end.", Status: http.StatusCreated,
		Errors: []int{404, 409},
	}, unscopedOnly(s.createLink))
}

func (s *Sets) createUser(ctx context.Context, in *userInput) (*api.Out[userMadeBody], error) {
	u, key, err := s.cfg.Users.Create(ctx, in.Body.Email, in.Body.Name, in.Body.Role)
	if err != nil {
		return nil, err
	}
	keys, err := s.cfg.Users.Keys.List(ctx, u.ID)
	if err != nil {
		return nil, err
	}
	out := &api.Out[userMadeBody]{}
	out.Body.User, out.Body.InitialKey.APIKey = newUser(u), key
	if len(keys) > 0 {
		out.Body.InitialKey.APIKeyRecord = newKey(keys[0])
	}
	return out, nil
}

func (s *Sets) createLink(ctx context.Context, in *linkInput) (*api.Out[linkOutputBody], error) {
	token, err := s.cfg.Users.Links.CreateForUser(ctx, in.ID.ID)
	if err != nil {
		return nil, err
	}
	return api.AnswerWith(linkOutputBody{URL: SetupURL(s.requestOrigin(in.httpRequest()), token),
		ExpiresAt: api.TimeOf(time.Now().Add(auth.SetupFor))}, nil)
}

// requestOrigin returns the address at which this browser reaches the core.
func (s *Sets) requestOrigin(r *http.Request) string {
	if s.cfg.Access.PublicURL != "" {
		return s.cfg.Access.PublicURL
	}
	u := url.URL{Scheme: "http", Host: r.Host}
	if s.cfg.Access.Secure(r) {
		u.Scheme = "https"
	}
	return u.String()
}

// SetupURL is the link that holds the token of a set-up link.
func SetupURL(address, token string) string {
	return strings.TrimSuffix(address, "/") + prefix + "/setup?token=" + url.QueryEscape(token)
}
