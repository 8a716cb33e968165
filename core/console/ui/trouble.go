package ui

import (
	"time"

	"github.com/gin-gonic/gin"
)

// Trouble is a provider that does not work at present.
type Trouble struct {
	// Ref is the instance, such as engine.local; State and Message are its condition since a time.
	Ref, State, Message string
	Since               time.Time
	// Href is the page of the instance, which administrators may see.
	Href string
}

// serviceKey is where OfService notes the service of a request.
const serviceKey = "patchbay.ui.service"

// OfService returns a handler whose page belongs to a service, so that it tells of the troubles of that service's providers.
func OfService(service string, handler gin.HandlerFunc) gin.HandlerFunc {
	return func(c *gin.Context) {
		c.Set(serviceKey, service)
		handler(c)
	}
}

// EmptyTitle returns the title of an empty list that a provider fills: the text with an id, or, while a provider of the service does not
// work, that this one is the reason.
func (v *View) EmptyTitle(id string) string {
	if len(v.Troubles) > 0 {
		return v.T("frame.trouble.empty", "Ref", v.Troubles[0].Ref)
	}
	return v.T(id)
}

// EmptyText returns the text below EmptyTitle.
func (v *View) EmptyText(id string) string {
	if len(v.Troubles) > 0 {
		return v.T("frame.trouble.empty.text")
	}
	return v.T(id)
}
