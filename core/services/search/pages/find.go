package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/auth"
	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// tokensFound is how many tokens a text finds at most.
const tokensFound = 10

// findHits returns the tokens that a text finds, for members their own.
func (p pages) findHits(ctx context.Context, v *ui.View, text string) (out []ui.Hit, err error) {
	var list access.TokenPage
	who := auth.From(ctx)
	if who.Admin() {
		list, err = p.service.FindTokens(ctx, access.TokenFilter{Query: text}, 1, tokensFound)
	} else {
		list, err = p.service.TokensOf(ctx, who.User.ID)
	}
	for _, t := range list.Items {
		if who.Admin() || ui.Matches(text, t.ID, t.Note, t.Group) {
			out = append(out, ui.Hit{Kind: v.T("search.token"), Title: t.ID, Detail: t.Note, Href: p.base + "/tokens/" + t.ID})
		}
	}
	return out, err
}

// countPending returns how many upstream keys cannot be used until somebody looks at them.
func (p pages) countPending(ctx context.Context) (map[string]int, error) {
	list, err := p.service.FindKeys(ctx, keys.KeyFilter{States: []string{string(keys.KeyInvalid)}}, 1, 1)
	return map[string]int{p.base + "/keys": int(list.Total)}, err
}
