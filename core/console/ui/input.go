package ui

import (
	"strconv"

	"github.com/gin-gonic/gin"
)

// openParameter is the parameter of an address that names the dialog which is open.
const openParameter = "open"

// Opens reports whether an address asks for a dialog to be open.
func Opens(c *gin.Context, dialog string) bool { return c.Query(openParameter) == dialog }

// Input is a line of text in a form.
type Input struct {
	ID, Name, Label string
	// Hint stands below the line; "" for none.
	Hint string
	// Type is that of the element; "" means text. Value is what stands in it at first.
	Type, Value string
	// MaxLength is the largest length in characters.
	MaxLength int
	Required  bool
}

// typeName returns the type of the element.
func (i Input) typeName() string {
	if i.Type == "" {
		return "text"
	}
	return i.Type
}

// maxLength returns the largest length as an attribute.
func (i Input) maxLength() string { return strconv.Itoa(i.MaxLength) }
