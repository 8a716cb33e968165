package github

import (
	"context"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// reactionWords are the reactions of GraphQL by our words.
var reactionWords = map[string]string{
	"plus1": "THUMBS_UP", "minus1": "THUMBS_DOWN", "laugh": "LAUGH", "confused": "CONFUSED", "heart": "HEART", "hooray": "HOORAY",
	"rocket": "ROCKET", "eyes": "EYES",
}

const reactionFields = `id ... on Reactable { reactionGroups { content viewerHasReacted reactors(first: 1) { totalCount } } }`

// reactable is something with reactions.
type reactable struct {
	ID     string `json:"id"`
	Groups []struct {
		Content          string `json:"content"`
		ViewerHasReacted bool   `json:"viewerHasReacted"`
		Reactors         struct {
			TotalCount int64 `json:"totalCount"`
		} `json:"reactors"`
	} `json:"reactionGroups"`
}

func (r *reactable) toReactions() codehost.Reactions {
	out := codehost.Reactions{NodeID: r.ID, Counts: map[string]int64{}}
	for _, word := range codehost.ReactionContents {
		for _, g := range r.Groups {
			if g.Content != reactionWords[word] {
				continue
			}
			if g.Reactors.TotalCount > 0 {
				out.Counts[word] = g.Reactors.TotalCount
			}
			if g.ViewerHasReacted {
				out.Viewer = append(out.Viewer, word)
			}
		}
	}
	return out
}

// ReadReactions implements codehost.ReactionHost.
func (h *host) ReadReactions(ctx context.Context, token schema.Secret, nodeIDs []string) (*codehost.Page[codehost.Reactions], error) {
	var data struct {
		Nodes []*reactable `json:"nodes"`
	}
	meta, err := h.queryGraphQL(ctx, token, "query($ids: [ID!]!) { nodes(ids: $ids) { "+reactionFields+" } }", map[string]any{"ids": nodeIDs},
		&data, "NOT_FOUND", "FORBIDDEN")
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[codehost.Reactions]{Meta: meta}
	for _, n := range data.Nodes {
		if n != nil && n.ID != "" {
			out.Items = append(out.Items, n.toReactions())
		}
	}
	return out, nil
}

// SetReaction implements codehost.ReactionHost.
func (h *host) SetReaction(ctx context.Context, token schema.Secret, nodeID, content string, present bool) (*codehost.ReactionInfo, error) {
	verb, input := "removeReaction", "RemoveReactionInput"
	if present {
		verb, input = "addReaction", "AddReactionInput"
	}
	var data struct {
		Change struct {
			Subject *reactable `json:"subject"`
		} `json:"change"`
	}
	query := "mutation($input: " + input + "!) { change: " + verb + "(input: $input) { subject { " + reactionFields + " } } }"
	variables := map[string]any{"input": map[string]any{"subjectId": nodeID, "content": reactionWords[content]}}
	meta, err := h.queryGraphQL(ctx, token, query, variables, &data)
	if e := errs.From(err); e != nil && e.Code == codes.NotFound && !present {
		return h.confirmRemoved(ctx, token, nodeID, content, err)
	}
	if err != nil {
		return nil, err
	}
	if data.Change.Subject == nil || data.Change.Subject.ID == "" {
		return nil, errs.Unavailable(errs.ReasonProtocol, "the answer names nothing that was reacted to")
	}
	return &codehost.ReactionInfo{Reactions: data.Change.Subject.toReactions(), Meta: meta}, nil
}

// confirmRemoved reports success if a reaction that could not be removed is not there; refusal is the error of the removal.
func (h *host) confirmRemoved(ctx context.Context, token schema.Secret, nodeID, content string,
	refusal error) (*codehost.ReactionInfo, error) {
	page, err := h.ReadReactions(ctx, token, []string{nodeID})
	if err != nil {
		return nil, err
	}
	for _, r := range page.Items {
		left := false
		for _, word := range r.Viewer {
			left = left || word == content
		}
		if !left {
			return &codehost.ReactionInfo{Reactions: r, Meta: page.Meta}, nil
		}
	}
	return nil, refusal
}
