package ui

import (
	"context"
	"io"
	"time"

	"github.com/a-h/templ"
)

// The components of this file are not templates: a list has hundreds of them, and a template makes closures and copies of its texts for
// each.

// writeMarkup writes markup. Values in it have to be escaped.
func writeMarkup(w io.Writer, parts ...string) error {
	for _, part := range parts {
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
	}
	return nil
}

// RowOf is a row of a table. The children are its cells, in the order of the columns.
func RowOf(t Table, r Row) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		cells := templ.GetChildren(ctx)
		ctx = templ.ClearChildren(ctx)
		if err := r.openRow(w, t.Picks); err != nil {
			return err
		}
		if err := cells.Render(ctx, w); err != nil {
			return err
		}
		return writeMarkup(w, "</tr>")
	})
}

// openRow writes the start tag of a row, and the cell with its tick if rows can be picked.
func (r Row) openRow(w io.Writer, picks bool) error {
	if err := writeMarkup(w, `<tr role="row"`); err != nil {
		return err
	}
	if r.ID != "" {
		if err := writeMarkup(w, ` id="`, templ.EscapeString(r.ID), `"`); err != nil {
			return err
		}
	}
	switch {
	case !picks:
		return writeMarkup(w, " data-row>")
	case r.Value == "":
		return writeMarkup(w, ` data-row><td role="cell" class="pick"></td>`)
	}
	return writeMarkup(w, ` data-row><td role="cell" class="pick"><input type="checkbox" name="`, pickField, `" value="`,
		templ.EscapeString(r.Value),
		`" form="`, bulkID, `" aria-label="`, templ.EscapeString(r.Name), `"></td>`)
}

// Cell is a cell of a row. The children are its content.
func Cell(c Column) templ.Component {
	return templ.ComponentFunc(func(ctx context.Context, w io.Writer) error {
		content := templ.GetChildren(ctx)
		ctx = templ.ClearChildren(ctx)
		if err := c.openCell(w); err != nil {
			return err
		}
		if err := content.Render(ctx, w); err != nil {
			return err
		}
		return writeMarkup(w, "</td>")
	})
}

// TextCell is a cell of a row with nothing but a text.
func TextCell(c Column, text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if err := c.openCell(w); err != nil {
			return err
		}
		return writeMarkup(w, templ.EscapeString(text), "</td>")
	})
}

// NoteCell is a cell of a row with a text, and a note to it in small letters.
func NoteCell(c Column, text, note string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if err := c.openCell(w); err != nil {
			return err
		}
		return writeMarkup(w, templ.EscapeString(text), ` <span class="sub">`, templ.EscapeString(note), "</span></td>")
	})
}

// openCell writes the start tag of a cell.
func (c Column) openCell(w io.Writer) error {
	if err := writeMarkup(w, `<td role="cell"`); err != nil {
		return err
	}
	if class := c.cellClass(); class != "" {
		if err := writeMarkup(w, ` class="`, templ.EscapeString(class), `"`); err != nil {
			return err
		}
	}
	return writeMarkup(w, ` data-label="`, templ.EscapeString(c.phoneLabel()), `">`)
}

// Pill shows a state by a word and a colour.
func Pill(v *View, state string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		return writeMarkup(w, `<span class="pill `, Tone(state), `">`, templ.EscapeString(v.State(state)), "</span>")
	})
}

// Ago is a moment relative to now, with the exact one in its title.
func Ago(v *View, t time.Time) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		if t.IsZero() {
			return writeMarkup(w, `<span class="mut">–</span>`)
		}
		return writeMarkup(w, `<time datetime="`, t.UTC().Format(time.RFC3339), `" title="`, templ.EscapeString(v.Exact(t)), `">`,
			templ.EscapeString(v.Ago(t)), "</time>")
	})
}

// renderOnce returns the markup of a component as a component, for what stands on a page more than once.
func renderOnce(ctx context.Context, c templ.Component) templ.Component {
	return templ.Raw(templ.ToGoHTML(ctx, c))
}
