package ui

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"
)

// TestMarkup: what is written without a template escapes its values as a template does.
func TestMarkup(t *testing.T) {
	texts, err := NewTexts(OwnTexts())
	if err != nil {
		t.Fatal(err)
	}
	v := &View{Lang: English, Now: time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC), kit: NewKit(Config{Texts: texts})}
	const hostile, escaped = `<i title="x">&'`, `&lt;i title=&#34;x&#34;&gt;&amp;&#39;`
	for name, c := range map[string]struct {
		component templ.Component
		want      string
	}{
		"text": {TextCell(Column{Label: "Name"}, "a"), `<td role="cell" data-label="Name">a</td>`},
		"hostile text": {TextCell(Column{Label: hostile, Class: hostile}, hostile),
			`<td role="cell" class="` + escaped + `" data-label="` + escaped + `">` + escaped + `</td>`},
		"title": {TextCell(Column{Label: "Name", Class: "m", Kind: TitleColumn}, "a"),
			`<td role="cell" class="m title" data-label="">a</td>`},
		"note": {NoteCell(Column{Label: "Name"}, hostile, hostile),
			`<td role="cell" data-label="Name">` + escaped + ` <span class="sub">` + escaped + `</span></td>`},
		"row": {RowOf(Table{}, Row{}), `<tr role="row" data-row></tr>`},
		"hostile row": {RowOf(Table{Picks: true}, Row{ID: hostile, Value: hostile, Name: hostile}),
			`<tr role="row" id="` + escaped + `" data-row><td role="cell" class="pick"><input type="checkbox" name="id" value="` + escaped +
				`" form="bulk" aria-label="` + escaped + `"></td></tr>`},
		"row unpicked": {RowOf(Table{Picks: true}, Row{ID: "a"}), `<tr role="row" id="a" data-row><td role="cell" class="pick"></td></tr>`},
		"pill":         {Pill(v, "ready"), `<span class="pill ok">` + v.T("state.ready") + `</span>`},
		"hostile pill": {Pill(v, hostile), `<span class="pill off">` + escaped + `</span>`},
		"moment":       {Ago(v, v.Now.Add(-time.Hour)), `<time datetime="2026-01-31T11:00:00Z" title="31 Jan 2026, 11:00:00 UTC">1 h ago</time>`},
		"no moment":    {Ago(v, time.Time{}), `<span class="mut">–</span>`},
	} {
		var b strings.Builder
		if err := c.component.Render(t.Context(), &b); err != nil {
			t.Fatal(err)
		}
		if b.String() != c.want {
			t.Errorf("%s is\n%s, want\n%s", name, &b, c.want)
		}
	}
}

// TestCellHoldsItsChildren: a cell shows its own children, and hands them on to none of the components in it.
func TestCellHoldsItsChildren(t *testing.T) {
	inner := templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		if err := writeMarkup(w, "<b>"); err != nil {
			return err
		}
		if err := templ.GetChildren(ctx).Render(ctx, w); err != nil {
			return err
		}
		return writeMarkup(w, "</b>")
	})
	var b strings.Builder
	if err := Cell(Column{Label: "Name"}).Render(templ.WithChildren(t.Context(), inner), &b); err != nil {
		t.Fatal(err)
	}
	if want := `<td role="cell" data-label="Name"><b></b></td>`; b.String() != want {
		t.Errorf("the cell is %s, want %s", &b, want)
	}
	failed := errors.New("failed")
	broken := templ.ComponentFunc(func(context.Context, io.Writer) error { return failed })
	if err := Cell(Column{}).Render(templ.WithChildren(t.Context(), broken), io.Discard); !errors.Is(err, failed) {
		t.Errorf("the error of a child is lost: %v", err)
	}
	if err := renderOnce(t.Context(), broken).Render(t.Context(), io.Discard); !errors.Is(err, failed) {
		t.Errorf("the error of what stands on a page twice is lost: %v", err)
	}
}
