package codehost

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	codehostv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/codehost/v1"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// Limits of texts in requests, in bytes.
const (
	maxCursor = 4096
	maxName   = 255
)

// checkText refuses an empty or overlong text and one with spaces or control characters.
func checkText(what, text string, limit int) error {
	if text == "" || len(text) > limit || strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || !unicode.IsPrint(r) }) {
		return errs.BadInput(ReasonInvalidRequest, "%s must have 1 to %d characters, without spaces", what, limit)
	}
	return nil
}

// checkPage refuses a page that cannot be asked for.
func checkPage(p *codehostv1.PageRequest) error {
	if p.GetSize() > MaxPage {
		return errs.BadInput(ReasonInvalidRequest, "a page has at most %d items", MaxPage)
	}
	if p.GetCursor() == "" {
		return nil
	}
	return checkText("the cursor", p.GetCursor(), maxCursor)
}

// checkTag refuses what cannot be the name of a tag.
func checkTag(what, tag string) error {
	if strings.Contains(tag, "..") || strings.ContainsAny(tag, "~^:?*[\\") {
		return errs.BadInput(ReasonInvalidRequest, "%s is not the name of a tag", what)
	}
	return checkText(what, tag, maxName)
}

// checkToken refuses a call that needs an account.
func checkToken(token schema.Secret) error {
	if token == "" {
		return errs.BadInput(ReasonInvalidRequest, "the call needs a token")
	}
	return nil
}

// firstError returns the first error of checks.
func firstError(checks ...error) error {
	for _, err := range checks {
		if err != nil {
			return err
		}
	}
	return nil
}

// Viewer implements the service.
func (s *server) Viewer(ctx context.Context, p *codehostv1.ViewerRequest) (out *codehostv1.ViewerResponse, err error) {
	token := secretFrom(p.GetToken())
	err = useOptional(ctx, s, CapViewer, func(h ViewerHost) error {
		if err := checkToken(token); err != nil {
			return err
		}
		got, err := h.Viewer(ctx, token)
		if err == nil && got != nil {
			out = &codehostv1.ViewerResponse{Account: got.Account.toProto(), Scopes: got.Scopes, Meta: got.Meta.toProto()}
		}
		return err
	})
	return out, err
}

// FindRepository implements the service.
func (s *server) FindRepository(ctx context.Context,
	p *codehostv1.FindRepositoryRequest) (out *codehostv1.FindRepositoryResponse, err error) {
	if err := checkRepo(p.GetRepo()); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapReleases, func(h ReleaseHost) error {
		got, err := h.FindRepository(ctx, secretFrom(p.GetToken()), p.GetRepo())
		if err == nil && got != nil {
			out = &codehostv1.FindRepositoryResponse{Repository: got.Repository.toProto(), Meta: got.Meta.toProto()}
		}
		return err
	})
	return out, err
}

// ReadReactions implements the service.
func (s *server) ReadReactions(ctx context.Context, p *codehostv1.ReadReactionsRequest) (out *codehostv1.ReadReactionsResponse, err error) {
	if n := len(p.GetNodeIds()); n == 0 || n > MaxReactionNodes {
		return nil, errs.BadInput(ReasonInvalidRequest, "reactions are read of 1 to %d things", MaxReactionNodes)
	}
	for _, id := range p.GetNodeIds() {
		if err := checkText("a node id", id, maxName); err != nil {
			return nil, err
		}
	}
	token := secretFrom(p.GetToken())
	err = useOptional(ctx, s, CapReactions, func(h ReactionHost) error {
		if err := checkToken(token); err != nil {
			return err
		}
		got, err := h.ReadReactions(ctx, token, p.GetNodeIds())
		if err == nil && got != nil {
			out = &codehostv1.ReadReactionsResponse{Items: convertAll(got.Items, Reactions.toProto), Meta: got.Meta.toProto()}
		}
		return err
	})
	return out, err
}

// SetReaction implements the service.
func (s *server) SetReaction(ctx context.Context, p *codehostv1.SetReactionRequest) (out *codehostv1.SetReactionResponse, err error) {
	if err := checkText("the node id", p.GetNodeId(), maxName); err != nil {
		return nil, err
	}
	if !slices.Contains(ReactionContents, p.GetContent()) {
		return nil, errs.BadInput(ReasonInvalidRequest, "the reaction must be one of %s", strings.Join(ReactionContents, ", "))
	}
	token := secretFrom(p.GetToken())
	err = useOptional(ctx, s, CapReactions, func(h ReactionHost) error {
		if err := checkToken(token); err != nil {
			return err
		}
		got, err := h.SetReaction(ctx, token, p.GetNodeId(), p.GetContent(), p.GetPresent())
		if err == nil && got != nil {
			out = &codehostv1.SetReactionResponse{Reactions: got.Reactions.toProto(), Meta: got.Meta.toProto()}
		}
		return err
	})
	return out, err
}

// Compare implements the service.
func (s *server) Compare(ctx context.Context, p *codehostv1.CompareRequest) (out *codehostv1.CompareResponse, err error) {
	if err := firstError(checkRepo(p.GetRepo()), checkTag("the base", p.GetBase()), checkTag("the head", p.GetHead())); err != nil {
		return nil, err
	}
	err = useOptional(ctx, s, CapCompare, func(h CompareHost) error {
		got, err := h.Compare(ctx, secretFrom(p.GetToken()), p.GetRepo(), p.GetBase(), p.GetHead())
		if err == nil && got != nil {
			out = got.toProto()
		}
		return err
	})
	return out, err
}
