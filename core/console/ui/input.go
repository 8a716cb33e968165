package ui

import (
	"strconv"

	"github.com/a-h/templ"
	"github.com/gin-gonic/gin"
)

// openParameter is the parameter of an address that names the dialog which is open.
const openParameter = "open"

// Opens reports whether an address asks for a dialog to be open.
func Opens(c *gin.Context, dialog string) bool { return Opened(c) == dialog }

// Opened returns the dialog that an address asks to be open; "" for none.
func Opened(c *gin.Context) string { return c.Query(openParameter) }

// Input is a line of text in a form.
type Input struct {
	ID, Name, Label string
	// Hint stands below the line; "" for none.
	Hint string
	// Type is that of the element; "" means text. Value is what stands in it at first.
	Type, Value string
	// MaxLength is the largest length in characters; 0 means that of a number or a date.
	MaxLength int
	Required  bool
	// Field is what errors call the line; "" means Name.
	Field string
	// Attributes are further ones of the element, such as the least number.
	Attributes templ.Attributes
}

// typeName returns the type of the element.
func (i Input) typeName() string {
	if i.Type == "" {
		return "text"
	}
	return i.Type
}

// maxLength returns the largest length as an attribute.
func (i Input) maxLength() string {
	if i.MaxLength == 0 {
		return "20"
	}
	return strconv.Itoa(i.MaxLength)
}

// errorField returns what errors call the line.
func (i Input) errorField() string {
	if i.Field == "" {
		return i.Name
	}
	return i.Field
}
