package fake

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// CodeHostContent is what an account or a repository of a CodeHost has. Lists are in the order in which they are given out.
type CodeHostContent struct {
	// Of accounts.
	Starred       []codehost.Starred
	Owned         []codehost.Repository
	Followers     []codehost.Account
	Notifications []codehost.Notification
	Events        []codehost.Event
	// Of repositories. One without Repository does not exist.
	Repository    *codehost.Repository
	Releases      []codehost.Release
	Tags          []codehost.Tag
	Stargazers    []codehost.Stargazer
	Announcements []codehost.Announcement
	// Comparisons are by "base...head".
	Comparisons map[string]codehost.Comparison
}

var allCodeHostAbilities = client.CodeHostAbilities{
	Webhooks: true, Viewer: true, Starred: true, Releases: true, Tags: true, Notifications: true,
	Social: true, Events: true, Announcements: true, Reactions: true, Compare: true, OAuth: true,
}

// SetAbilities takes abilities away; a new double has all.
func (h *CodeHost) SetAbilities(a client.CodeHostAbilities) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.abilities = a
}

// Abilities implements client.CodeHost.
func (h *CodeHost) Abilities() (client.CodeHostAbilities, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.abilities, nil
}

// AddAccount makes a token of an account known.
func (h *CodeHost) AddAccount(token schema.Secret, a codehost.Account) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.accounts[token] = a
}

// SetQuota sets how many calls the host permits; nil permits all. A call that ends with NotModified costs nothing.
func (h *CodeHost) SetQuota(q *codehost.Quota) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.quota = q
}

// Change changes what an account, by its login, or a repository, by its name, has.
func (h *CodeHost) Change(of string, change func(*CodeHostContent)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h.findContent(of))
}

// findContent returns what an account or a repository has. The caller holds the lock.
func (h *codeHostState) findContent(of string) *CodeHostContent {
	if h.content[of] == nil {
		h.content[of] = &CodeHostContent{}
	}
	return h.content[of]
}

// charge counts a call. The caller holds the lock.
func (h *codeHostState) charge() error {
	if h.quota == nil {
		return nil
	}
	if h.quota.Remaining <= 0 {
		return CodeHostError(429, max(time.Until(h.quota.ResetAt), time.Second))
	}
	h.quota.Remaining--
	return nil
}

// describe returns what an answer says of the quota. The caller holds the lock.
func (h *codeHostState) describe() codehost.Meta {
	if h.quota == nil {
		return codehost.Meta{}
	}
	q := *h.quota
	return codehost.Meta{Quota: &q}
}

// callCodeHost makes one call. of is what it is about; able picks the ability that it needs. do is called with the content of
// the repository, or of the account of the token if repo is false.
func callCodeHost[T any](
	ctx context.Context, h *CodeHost, method, of string, token schema.Secret, repo bool, able func(client.CodeHostAbilities) bool,
	do func(*CodeHostContent) (T, error),
) (out T, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if of == "" {
		of = method
	}
	if err := h.beginCall(ctx, CodeHostCall{Method: method, Of: of, Token: token}); err != nil {
		return out, err
	}
	if !able(h.abilities) {
		return out, fault.FromPlugin("codehost.fake",
			errs.New(errs.Caller, codes.Unimplemented, errs.ReasonUnsupported, "the code host cannot do that"))
	}
	name := of
	if account, ok := h.accounts[token]; !repo && !ok {
		return out, CodeHostError(401, 0)
	} else if !repo {
		name = account.Login
	}
	content := h.findContent(name)
	if repo && content.Repository == nil {
		return out, CodeHostError(404, 0)
	}
	return do(content)
}

// pageOf returns the page of a list that was asked for, and counts the call. The caller holds the lock.
func pageOf[T any](h *CodeHost, all []T, req codehost.PageRequest) (*codehost.Page[T], error) {
	size, from := req.Size, 0
	if size <= 0 {
		size = 30
	}
	if req.Cursor != "" {
		var err error
		if from, err = strconv.Atoi(req.Cursor); err != nil || from < 0 {
			return nil, fault.FromPlugin("codehost.fake", errs.BadInput(codehost.ReasonInvalidRequest, "the cursor is not valid"))
		}
	}
	from = min(from, len(all))
	to := min(from+size, len(all))
	raw, err := json.Marshal(all[from:to])
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(raw)
	validators := codehost.Validators{ETag: `"` + hex.EncodeToString(sum[:8]) + `"`}
	if req.Validators == validators {
		meta := h.describe()
		meta.NotModified, meta.Validators = true, validators
		return &codehost.Page[T]{Meta: meta}, nil
	}
	if err := h.charge(); err != nil {
		return nil, err
	}
	out := &codehost.Page[T]{Items: slices.Clone(all[from:to]), Meta: h.describe()}
	out.Validators = validators
	if to < len(all) {
		out.NextCursor = strconv.Itoa(to)
	}
	return out, nil
}
