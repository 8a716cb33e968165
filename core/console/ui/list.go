package ui

import (
	"maps"
	"net/url"
	"slices"
	"strconv"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// Column is a column of a list. On a phone, where a row is a card, the label stands before the value.
type Column struct {
	Label string
	// Class holds the classes of its cells: "r" for numbers, "m" for ids, "nowrap".
	Class string
	// Kind is the part of the row that the column has; the zero value is a value with its label.
	Kind ColumnKind
}

// ColumnKind is the part that a column has in a row.
type ColumnKind int

// The kinds of columns. A title names the row and leads to its page; actions hold its buttons.
const (
	ValueColumn ColumnKind = iota
	TitleColumn
	ActionColumn
)

// cellClass returns the classes of a cell.
func (c Column) cellClass() string {
	switch c.Kind {
	case TitleColumn:
		return c.Class + " title"
	case ActionColumn:
		return c.Class + " does"
	}
	return c.Class
}

// phoneLabel returns what stands before the value on a phone.
func (c Column) phoneLabel() string {
	if c.Kind != ValueColumn {
		return ""
	}
	return c.Label
}

// Table is a list of rows.
type Table struct {
	// Name tells what the rows are, for those who cannot see the page.
	Name    string
	Columns []Column
	// Picks reports whether rows can be picked for a Bulk on the same page.
	Picks bool
}

// Row is a row of a table.
type Row struct {
	// ID is that of the element: a row keeps its place, its focus and its tick by it when the list is made anew. "" for none.
	ID string
	// Value is what the row's tick sends, and Name is how the tick is called; "" if it cannot be picked.
	Value, Name string
}

const (
	// bulkID is the id of the form of a Bulk; pickField is the field of a row's tick, and allField that for all rows that match.
	bulkID    = "bulk"
	pickField = "id"
	allField  = "all"
	// maxPicked is how many rows can be picked one by one.
	maxPicked = 500
)

// Bulk is the bar that does something with the rows that were picked, or with all that match the filter. Its buttons lead to a page
// that says what will be done.
type Bulk struct {
	// URL is the page that its buttons lead to.
	URL string
	// Filter is the filter of the list.
	Filter url.Values
	// Total is how many rows match the filter, and Shown how many of them are on the page.
	Total, Shown int
	Buttons      []BulkButton
}

// BulkButton is something that can be done with rows.
type BulkButton struct{ Action, Label, Class string }

// Picked is what a Bulk was asked to do: with rows by their values, or with all that match the filter.
type Picked struct {
	Action string
	IDs    []string
	All    bool
}

// ReadPicked returns what a bulk asks for, from an address or a form.
func ReadPicked(c *gin.Context) Picked {
	_ = c.Request.ParseForm()
	form := c.Request.Form
	ids := form[pickField]
	if len(ids) > maxPicked {
		ids = ids[:maxPicked]
	}
	return Picked{Action: form.Get("action"), IDs: ids, All: form.Get(allField) != ""}
}

// hiddenFields returns names and values of hidden fields that ask for the same.
func (p Picked) hiddenFields(filter url.Values) []string {
	out := []string{"action", p.Action}
	if p.All {
		return append(append(out, allField, "yes"), listPairs(filter)...)
	}
	for _, id := range p.IDs {
		out = append(out, pickField, id)
	}
	return append(out, listPairs(filter)...)
}

// listPairs returns names and values in turn, in the order of the names.
func listPairs(values url.Values) (out []string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			out = append(out, name, value)
		}
	}
	return out
}

// BulkQuestion is the page before something is done with several rows.
type BulkQuestion struct {
	Picked
	// Title says what will be done with how many, Text what that means. Names are those of the first rows, More how many follow.
	Title, Text string
	Names       []string
	More        int
	// URL takes the form, Back leads to the list, Filter is its filter.
	URL, Back string
	Filter    url.Values
	// Label is what the button says, Class its classes. TypedName has to be typed; "" for nothing.
	Label, Class, TypedName string
}

// questionAction returns the button of the question.
func (q BulkQuestion) questionAction() Action {
	return Action{URL: q.URL, Fields: q.hiddenFields(q.Filter), Label: q.Label, Class: q.Class, TypedName: q.TypedName}
}

// Filter is the form above a list. Its result takes the list's place as one types.
type Filter struct {
	// Path is the page of the list.
	Path   string
	Fields []FilterField
	// Hidden are further names and values in turn.
	Hidden []string
	// ShowAll is the label of the link that shows the list without the filter; "" means "Show all". A list that cannot show all rows at
	// once sets it.
	ShowAll string
}

// FilterField is a field of a filter: a choice if it has options, and a line of text otherwise.
type FilterField struct {
	Name, Label, Value string
	// Type is that of a line, such as "date"; "" means "text".
	Type      string
	MaxLength int
	Options   []Option
	// Wider are the values with which a list shows rows that it leaves out otherwise, the widest first.
	Wider []string
}

// Option is a choice of a field.
type Option struct{ Value, Label string }

// isSet reports whether the filter leaves anything out.
func (f Filter) isSet() bool {
	for _, field := range f.Fields {
		if field.Value != "" {
			return true
		}
	}
	return false
}

// typeName returns the type of the element.
func (f FilterField) typeName() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// maxLength returns the largest length as an attribute.
func (f FilterField) maxLength() string {
	if f.MaxLength == 0 {
		return "100"
	}
	return strconv.Itoa(f.MaxLength)
}

// liveAttributes returns the attributes of a list that is kept current by a stream; none for "".
func liveAttributes(stream string) templ.Attributes {
	if stream == "" {
		return nil
	}
	return Live(stream)
}
