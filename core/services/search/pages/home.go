package pages

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

// shownKeys is how many invalid keys the home page names.
const shownKeys = 3

// homePart returns what the home page shows: members see what they have left, administrators how the service does.
func (p pages) homePart(ctx context.Context, v *ui.View) (part ui.HomePart, err error) {
	v.Styles = append(v.Styles, "search.css")
	if !v.Admin() {
		d, err := p.service.DashboardOf(ctx, v.Principal.User.ID)
		return ui.HomePart{Card: memberCard(v, p, d)}, err
	}
	if part.Attention, err = p.findAttention(ctx, v); err != nil {
		return part, err
	}
	if part.Figures, err = p.keyFigures(ctx, v); err != nil {
		return part, err
	}
	part.Steps, err = p.firstSteps(ctx, v)
	return part, err
}

// findAttention returns the backends that cannot answer, and the keys that the upstream refuses.
func (p pages) findAttention(ctx context.Context, v *ui.View) (out []ui.Attention, err error) {
	for _, t := range p.service.Troubles() {
		a := ui.Attention{
			Tone: "bad", Title: v.T("search.home."+t.Kind, "Backend", t.Backend),
			Text: v.T("search.home."+t.Kind+".text", "Calls", v.Num(int64(t.Calls)), "Failed", v.Num(int64(t.Failed))),
			Href: p.base + "/requests?result=error", Action: v.T("home.see"),
		}
		if t.Calls == 0 {
			a.Href, a.Action = p.base+"/keys?open="+newKeys, v.T("search.keys.add")
		}
		out = append(out, a)
	}
	if p.service.KeyStates()[keys.KeyInvalid] == 0 {
		return out, nil
	}
	list, err := p.service.FindKeys(ctx, keys.KeyFilter{States: []string{string(keys.KeyInvalid)}}, 1, shownKeys)
	if err != nil {
		return nil, err
	}
	for _, k := range list.Items {
		out = append(out, ui.Attention{
			Tone: "warn", Title: v.T("search.home.key_invalid", "ID", k.ID), Text: v.T("search.home.key_invalid.text"),
			Href: p.base + "/keys/" + k.ID, Action: v.T("home.see"),
		})
	}
	if more := int(list.Total) - len(list.Items); more > 0 {
		out = append(out, ui.Attention{
			Tone: "warn", Title: v.N("search.home.keys_invalid", more), Href: p.base + "/keys?status=" + string(keys.KeyInvalid),
			Action: v.T("home.see"),
		})
	}
	return out, nil
}

// keyFigures returns the key figures of the last day.
func (p pages) keyFigures(ctx context.Context, v *ui.View) ([]ui.KeyFigure, error) {
	sum, err := p.service.Totals(ctx, "24h")
	if err != nil {
		return nil, err
	}
	answered := v.T("search.home.none")
	if sum.Requests > 0 {
		answered = v.T("search.home.answered", "Share", v.Percent(sum.Successes, sum.Requests), "P95", millisText(v, sum.P95MS))
	}
	out := []ui.KeyFigure{{
		Name: v.T("search.home.requests"), Value: v.Num(sum.Requests), Href: p.base + "/overview",
		Remark: answered,
	}, {
		Name: v.T("search.home.credits"), Value: v.Num(sum.Credits), Href: p.base + "/tokens",
		Remark: v.T("search.home.refused", "Refused", v.Num(sum.Refused)),
	}}
	if p.service.NeedsKeys() {
		states := p.service.KeyStates()
		out = append(out, ui.KeyFigure{
			Name: v.T("search.keys.title"), Value: v.Num(int64(states[keys.KeyActive])), Href: p.base + "/keys",
			Remark: v.T("search.keys.usable", "Active", states[keys.KeyActive], "All", totalKeys(states)),
		})
	}
	return out, nil
}

// firstSteps returns the first steps with the service.
func (p pages) firstSteps(ctx context.Context, v *ui.View) ([]ui.Step, error) {
	has, err := p.service.HasTokens(ctx)
	if err != nil {
		return nil, err
	}
	sum, err := p.service.Summary(ctx)
	if err != nil {
		return nil, err
	}
	command := "curl -s " + v.ServiceURL(p.url, p.base) +
		`/api/proxy/search -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"query":"hello"}'`
	return []ui.Step{
		{ID: "search-token", Title: v.T("search.step.token"), Text: v.T("search.step.token.text"), Href: p.base + "/tokens?open=" + newToken,
			Action: v.T("search.tokens.create"), Done: has},
		{ID: "search-request", Title: v.T("search.step.request"), Text: v.T("search.step.request.text"), Command: command,
			Href: p.base + "/playground", Action: v.T("search.nav.playground"), Done: sum.TotalRequests > 0},
		{ID: "search-client", Title: v.T("search.step.client"), Text: v.T("search.step.client.text"), Href: p.base + "/guide",
			Action: v.T("search.step.client.action"), Done: p.service.ClientSeen()},
		{ID: "search-provider", Title: v.T("search.step.provider"), Text: v.T("search.step.provider.text"),
			Href: "/system/plugins/add?kind=search", Action: v.T("search.step.provider.action"), Done: p.service.Backends() > 1 ||
				p.service.NeedsKeys()},
	}, nil
}
