package ui

import (
	"regexp"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// typedNameField is the field of a form with the name that was typed to confirm it.
const typedNameField = "confirm_name"

// maxTypedName is the largest length of a name that is typed to confirm something, in characters.
const maxTypedName = 500

// Action is a button that changes something by a form of its own.
type Action struct {
	// URL takes the form; Fields are names and values of its hidden fields in turn.
	URL    string
	Fields []string
	// Label is what the button says; Class holds its classes, such as "btn" or "link bad".
	Label, Class string
	// Description is what the button does, for those who cannot see what it stands beside; "" means Label.
	Description string
	// Question is asked before the form is sent; "" for none.
	Question string
	// TypedName has to be typed before the form is sent, for what cannot be undone; "" for nothing.
	TypedName string
	// Passkey reports whether the form needs a passkey that was used of late.
	Passkey bool
}

// submitClass returns the classes of the button that sends the form after the question.
func (a Action) submitClass() string {
	if strings.Contains(a.Class, "bad") {
		return "btn p bad"
	}
	return "btn p"
}

// accessibleLabel returns the label for those who cannot see the page.
func (a Action) accessibleLabel() string {
	if a.Description == "" {
		return a.Label
	}
	return a.Description
}

// CheckTypedName returns a fault unless name was typed to confirm a form. Nothing has to be typed for an empty name.
func CheckTypedName(c *gin.Context, name string) error {
	if name == "" || strings.TrimSpace(c.PostForm(typedNameField)) == strings.TrimSpace(name) {
		return nil
	}
	return fault.New(fault.InvalidArgument, "Type the name to confirm. Nothing was changed.").With("field", typedNameField)
}

// typedNamePattern returns the pattern of a field that takes name alone.
func typedNamePattern(name string) string {
	return `\s*` + regexp.QuoteMeta(strings.TrimSpace(name)) + `\s*`
}
