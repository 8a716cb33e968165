package fake

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CodeHostCall is one call of a CodeHost, also one that failed.
type CodeHostCall struct {
	// Method is "resolve", "hooks", "create", "update", "delete", "parse", or the name of another method.
	Method string
	// Of is the input, the repository, the event, the node, or the login; the name of the method where there is no other.
	Of    string
	ID    string
	Spec  codehost.HookSpec
	Token schema.Secret
	// Bounded says that the caller waits for a limited time.
	Bounded bool
	Err     error
}

// CodeHost is a double of client.CodeHost: accounts, repositories and hooks in memory. It is safe for concurrent use.
type CodeHost struct{ *codeHostState }

// codeHostState is what the double has, and what it was asked.
type codeHostState struct {
	mu          sync.Mutex
	token       schema.Secret
	resolutions map[string]codehost.Resolution
	hooks       map[string][]codehost.Hook
	secrets     map[string]schema.Secret
	queued      map[string][]error
	parse       func(codehost.Delivery) (*codehost.Webhook, error)
	calls       []CodeHostCall
	last        int
	abilities   client.CodeHostAbilities
	accounts    map[schema.Secret]codehost.Account
	// content has what accounts, by login, and repositories, by name, have.
	content map[string]*CodeHostContent
	// viewers has the reactions that accounts left: logins by node id and word.
	viewers map[string]map[string][]string
	quota   *codehost.Quota
	// grants are by code, refreshed by refresh token.
	grants    map[string]oauthGrant
	refreshed map[schema.Secret]codehost.OAuthToken
}

var _ client.CodeHost = (*CodeHost)(nil)

// NewCodeHost makes a double that accepts one token; with an empty one it accepts all.
func NewCodeHost(token schema.Secret) *CodeHost {
	return &CodeHost{&codeHostState{
		token: token, resolutions: map[string]codehost.Resolution{}, hooks: map[string][]codehost.Hook{},
		secrets: map[string]schema.Secret{}, queued: map[string][]error{}, last: 100, abilities: allCodeHostAbilities,
		accounts: map[schema.Secret]codehost.Account{}, content: map[string]*CodeHostContent{}, viewers: map[string]map[string][]string{},
		grants: map[string]oauthGrant{}, refreshed: map[schema.Secret]codehost.OAuthToken{},
	}}
}

// SetResolution sets what an input stands for. The repositories exist from then on.
func (h *codeHostState) SetResolution(input string, r codehost.Resolution) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.resolutions[input] = r
	for _, repo := range r.Repos {
		h.hooks[repo.FullName] = slices.Clone(h.hooks[repo.FullName])
	}
}

// AddHook puts a hook into a repository and returns its id. The repository exists from then on.
func (h *codeHostState) AddHook(repo string, spec codehost.HookSpec) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.addHook(repo, spec).ID
}

// HooksOf are the hooks of a repository.
func (h *codeHostState) HooksOf(repo string) []codehost.Hook {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.hooks[repo])
}

// SecretOf is the secret of a hook, which the host itself does not tell.
func (h *codeHostState) SecretOf(id string) schema.Secret {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.secrets[id]
}

// Fail appends what the next calls about an input or a repository end with, one each; nil lets one pass.
func (h *codeHostState) Fail(of string, errs ...error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.queued[of] = append(h.queued[of], errs...)
}

// OnParse sets what ParseWebhook answers.
func (h *codeHostState) OnParse(f func(codehost.Delivery) (*codehost.Webhook, error)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.parse = f
}

// Calls are the calls so far, in order.
func (h *codeHostState) Calls() []CodeHostCall {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.calls)
}

// CodeHostError makes an error such as a code host's answer of an HTTP status leads to; after is when to try again.
func CodeHostError(status int, after time.Duration) error {
	code := codes.Unavailable
	switch status {
	case 401:
		code = codes.Unauthenticated
	case 403:
		code = codes.PermissionDenied
	case 404:
		code = codes.NotFound
	case 422:
		code = codes.InvalidArgument
	case 429:
		code = codes.ResourceExhausted
	}
	e := upstreamError(code, status, "codehost.example", "the code host answered with status "+strconv.Itoa(status))
	e.RetryAfter = after
	return fault.FromPlugin("codehost.fake", e)
}

// beginCall records a call and returns the error that was asked for. The caller holds the lock.
func (h *codeHostState) beginCall(ctx context.Context, c CodeHostCall) error {
	if ctx.Err() != nil {
		return fault.FromPlugin("codehost.fake", ctx.Err())
	}
	_, c.Bounded = ctx.Deadline()
	if _, known := h.accounts[c.Token]; h.token != "" && c.Method != "parse" && c.Token != h.token && !known {
		c.Err = CodeHostError(401, 0)
	}
	if q := h.queued[c.Of]; len(q) > 0 {
		c.Err, h.queued[c.Of] = q[0], q[1:]
	}
	h.calls = append(h.calls, c)
	return c.Err
}

// Resolve implements client.CodeHost.
func (h *CodeHost) Resolve(ctx context.Context, token schema.Secret, input string) (*codehost.Resolution, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.beginCall(ctx, CodeHostCall{Method: "resolve", Of: input, Token: token}); err != nil {
		return nil, err
	}
	r, ok := h.resolutions[input]
	if !ok {
		return nil, CodeHostError(404, 0)
	}
	r.Repos, r.Warnings = slices.Clone(r.Repos), slices.Clone(r.Warnings)
	return &r, nil
}

// ParseWebhook implements client.CodeHost. Without OnParse every signature is wrong.
func (h *CodeHost) ParseWebhook(ctx context.Context, d codehost.Delivery) (*codehost.Webhook, error) {
	h.mu.Lock()
	parse := h.parse
	err := h.beginCall(ctx, CodeHostCall{Method: "parse", Of: d.Event})
	h.mu.Unlock()
	switch {
	case err != nil:
		return nil, err
	case parse == nil:
		return nil, fault.FromPlugin("codehost.fake",
			errs.New(errs.Caller, codes.Unauthenticated, codehost.ReasonInvalidSignature, "the signature is wrong"))
	}
	out, err := parse(d)
	if err != nil {
		return nil, fault.FromPlugin("codehost.fake", err)
	}
	return out, nil
}
