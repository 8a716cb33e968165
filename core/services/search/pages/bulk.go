package pages

import (
	"context"
	"net/http"
	"net/url"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/lists"
	"github.com/patchbay-dev/patchbay/core/services/search/access"
	"github.com/patchbay-dev/patchbay/core/services/search/keys"
)

const (
	// bulkLimit is how many rows one bulk changes at most.
	bulkLimit = 10_000
	// namesShown is how many rows the question before a bulk names.
	namesShown = 20
)

// bulk is a list whose rows are changed together.
type bulk struct {
	// path is that of the list, and of a kind of row: its texts begin with search.bulk.<of>.
	path, of string
	filter   url.Values
	// listMatches returns the ids of the rows of one page that match the filter.
	listMatches func(ctx context.Context, page int) ([]string, error)
	changes     map[string]func(ctx context.Context, id string) error
}

// bulkTokens returns what can be done with several tokens.
func (p pages) bulkTokens(c *gin.Context) bulk {
	t := tokensView{Query: c.Request.FormValue("q"), Group: c.Request.FormValue("group"), Enabled: c.Request.FormValue("enabled"),
		Quota: c.Request.FormValue("quota")}
	return bulk{
		path: p.base + "/tokens", of: "token", filter: t.filterValues(),
		listMatches: func(ctx context.Context, page int) ([]string, error) {
			list, err := p.service.FindTokens(ctx, t.tokenFilter(), page, perPage)
			return idsOf(list.Items, func(t access.AuthToken) string { return t.ID }), err
		},
		changes: map[string]func(context.Context, string) error{
			"enable":  func(ctx context.Context, id string) error { return p.service.SetTokenEnabled(ctx, id, true) },
			"disable": func(ctx context.Context, id string) error { return p.service.SetTokenEnabled(ctx, id, false) },
			"delete":  p.service.DeleteToken,
		},
	}
}

// bulkKeys returns what can be done with several keys.
func (p pages) bulkKeys(c *gin.Context) bulk {
	k := keysView{Group: c.Request.FormValue("group"), State: c.Request.FormValue("status")}
	return bulk{
		path: p.base + "/keys", of: "key", filter: k.filterValues(),
		listMatches: func(ctx context.Context, page int) ([]string, error) {
			list, err := p.service.FindKeys(ctx, k.keyFilter(), page, perPage)
			return idsOf(list.Items, func(k keys.APIKey) string { return k.ID }), err
		},
		changes: map[string]func(context.Context, string) error{
			"enable":  func(ctx context.Context, id string) error { return p.service.SetKeyEnabled(ctx, id, true) },
			"disable": func(ctx context.Context, id string) error { return p.service.SetKeyEnabled(ctx, id, false) },
			"delete":  p.service.DeleteKey,
		},
	}
}

// idsOf returns the ids of items.
func idsOf[T any](items []T, id func(T) string) []string {
	return lists.ConvertAll(items, id)
}

// pickRows returns the ids of the rows that a bulk is about, and the action.
func (b bulk) pickRows(c *gin.Context) (ui.Picked, []string, error) {
	picked := ui.ReadPicked(c)
	if b.changes[picked.Action] == nil {
		return picked, nil, fault.New(fault.NotFound, "There is nothing at this address.")
	}
	if !picked.All {
		return picked, picked.IDs, nil
	}
	var ids []string
	for page := 1; len(ids) < bulkLimit; page++ {
		more, err := b.listMatches(c.Request.Context(), page)
		if err != nil || len(more) == 0 {
			return picked, ids, err
		}
		ids = append(ids, more...)
	}
	return picked, ids[:bulkLimit], nil
}

// listURL returns the address of the list with its filter.
func (b bulk) listURL() string {
	if len(b.filter) == 0 {
		return b.path
	}
	return b.path + "?" + b.filter.Encode()
}

// askBulk shows what a bulk will do before it is done.
func (p pages) askBulk(of func(*gin.Context) bulk) gin.HandlerFunc {
	return func(c *gin.Context) {
		b := of(c)
		picked, ids, err := b.pickRows(c)
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		if len(ids) == 0 {
			p.kit.Done(c, b.listURL(), ui.Toast{Kind: "info", TextID: "list.nothing_picked"})
			return
		}
		v := p.newView(c, "search."+b.of+"s.title")
		text := "search.bulk." + b.of + "." + picked.Action
		q := ui.BulkQuestion{
			Picked: picked, Title: v.N(text, len(ids)), Text: v.T(text + ".text"), Names: ids[:min(len(ids), namesShown)],
			More: max(0, len(ids)-namesShown),
			URL:  b.path + "/bulk", Back: b.listURL(), Filter: b.filter, Label: v.T("search." + picked.Action), Class: "btn",
		}
		if picked.Action == "delete" {
			q.Class, q.TypedName = "btn bad", strconv.Itoa(len(ids))
		}
		p.kit.Render(c, v, http.StatusOK, ui.BulkPage(v, q))
	}
}

// runBulk does something with rows. One that fails leaves the others alone.
func (p pages) runBulk(of func(*gin.Context) bulk) gin.HandlerFunc {
	return func(c *gin.Context) {
		b := of(c)
		picked, ids, err := b.pickRows(c)
		if err == nil && picked.Action == "delete" {
			err = ui.CheckTypedName(c, strconv.Itoa(len(ids)))
		}
		if err != nil {
			p.kit.Fail(c, err)
			return
		}
		change, failed := b.changes[picked.Action], 0
		for _, id := range ids {
			if change(c.Request.Context(), id) != nil {
				failed++
			}
		}
		kind := "ok"
		if failed > 0 {
			kind = "bad"
		}
		p.kit.Done(c, b.listURL(), ui.Toast{Kind: kind, TextID: "list.done",
			Args: []string{"Done", strconv.Itoa(len(ids) - failed), "Failed", strconv.Itoa(failed)}})
	}
}
