package ui

import (
	"context"
	"io/fs"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Section is what a service adds to the console.
type Section struct {
	// Service is the name of the service, as in plugin.hcl. The text with the id "<service>.name" is its heading.
	Service string
	// Nav are its pages in the navigation; the first is where the service begins.
	Nav []NavItem
	// Routes are its pages, with paths relative to the base URL of the service.
	Routes func(*Kit) []httpd.Route
	// Home returns what the home page shows of the service to a caller; nil for nothing.
	Home func(context.Context, *View) (HomePart, error)
	// Texts holds en.json and zh.json; nil for none.
	Texts fs.FS
	// Static holds scripts and styles that its pages name in View.Scripts and View.Styles; nil for none.
	Static fs.FS
}
