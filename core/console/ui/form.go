package ui

import (
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
)

// Form is a form of a page: as it was sent and refused, or not sent yet. The zero value is the latter.
type Form struct {
	refused *fault.Error
	values  url.Values
}

// ReadForm returns a form that was refused with err. It reports false if err is about something else than the form: then the
// request has its answer.
func (k *Kit) ReadForm(c *gin.Context, err error) (Form, bool) {
	f := fault.As(err)
	if status := fault.StatusOf(f); status >= http.StatusInternalServerError || status == http.StatusUnauthorized ||
		status == http.StatusNotFound || !WantsPage(c.Request) {
		k.Fail(c, err)
		return Form{}, false
	}
	return Form{refused: f, values: c.Request.PostForm}, true
}

// Status returns the status of the page with the form.
func (f Form) Status() int {
	if f.refused == nil {
		return http.StatusOK
	}
	return fault.StatusOf(f.refused)
}

// Refused reports whether the form was refused.
func (f Form) Refused() bool { return f.refused != nil }

// Value returns what stands in a field: what was sent, or else fresh.
func (f Form) Value(field, fresh string) string {
	if f.refused == nil {
		return fresh
	}
	return f.values.Get(field)
}

// Checked reports whether a box is ticked: as it was sent, or else fresh.
func (f Form) Checked(field string, fresh bool) bool {
	if f.refused == nil {
		return fresh
	}
	return f.values.Get(field) != ""
}

// isAt reports whether the form was refused because of a field.
func (f Form) isAt(field string) bool {
	return f.refused != nil && f.refused.Ext["field"] == field
}

// describedBy returns the id of the error of a field, or "" if it has none.
func (f Form) describedBy(id, field string) string {
	if f.isAt(field) {
		return id + "-error"
	}
	return ""
}

// hasGeneralError reports whether the form was refused because of something else than the fields.
func (f Form) hasGeneralError(fields []string) bool {
	if f.refused == nil {
		return false
	}
	for _, field := range fields {
		if f.isAt(field) {
			return false
		}
	}
	return true
}
