package ui

import (
	"context"
	"encoding/json"
	"io/fs"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Section is what a service adds to the console.
type Section struct {
	// Service is the name of the service, as in plugin.hcl. The text with the id "<service>.name" is its heading.
	Service string
	// Nav are its pages in the navigation; the first is where the service begins.
	Nav []NavItem
	// Actions are what can be done at once, such as making something: pages that open a form.
	Actions []NavItem
	// Find finds what the service has by a text; nil for nothing.
	Find Finder
	// FindIndexed finds documents in what the service has indexed on this machine, the best first; nil for nothing. It must cost nothing.
	FindIndexed func(ctx context.Context, text string) []IndexedDocument
	// Counts returns what waits for an administrator on the pages in Nav, by their addresses; nil for nothing. It is asked often.
	Counts func(context.Context) (map[string]int, error)
	// SignIn returns another way in, which the sign-in page offers; nil for none.
	SignIn func(*View) *SignInWay
	// Routes are its pages, with paths relative to the base URL of the service.
	Routes func(*Kit) []httpd.Route
	// Home returns what the home page shows of the service to a caller; nil for nothing.
	Home func(context.Context, *View) (HomePart, error)
	// Housekeeping are the types of its jobs that clean up or keep figures. The list of jobs leaves them out until asked.
	Housekeeping []string
	// JobTargets returns what jobs of the list work on, by their ids; nil for nothing. Jobs that are not its own are left out.
	JobTargets func(context.Context, *View, []Job) (map[string]JobTarget, error)
	// Texts holds en.json and zh.json; nil for none.
	Texts fs.FS
	// Static holds scripts and styles that its pages name in View.Scripts and View.Styles; nil for none.
	Static fs.FS
}

// IndexedDocument is a document that a service has indexed: its address, such as file:core/docs/mail.md, its title, and some words of it.
type IndexedDocument struct{ Address, Title, Excerpt string }

// NewSection returns a section with the texts and the static files of its package, the folders locales and static of files.
func NewSection(s Section, files fs.FS) (out Section, err error) {
	if s.Texts, err = fs.Sub(files, "locales"); err != nil {
		return out, err
	}
	s.Static, err = fs.Sub(files, "static")
	return s, err
}

// GetRoute returns a function that makes routes of pages with a policy.
func GetRoute(policy httpd.Policy) func(path string, h gin.HandlerFunc) httpd.Route {
	return func(path string, h gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodGet, Path: path, Policy: policy, Handler: h}
	}
}

// PostRoute returns a function that makes routes of forms, whose bodies have at most limit bytes.
func PostRoute(policy httpd.Policy, limit int64) func(path string, h gin.HandlerFunc) httpd.Route {
	return func(path string, h gin.HandlerFunc) httpd.Route {
		return httpd.Route{Method: http.MethodPost, Path: path, Policy: policy, BodyLimit: limit, Handler: h}
	}
}

// SignInWay is a way to sign in. Href is where it begins; the page adds next, the path at which it ends.
type SignInWay struct{ Label, Href string }

// Job is a job of the list, for the service that it belongs to.
type Job struct {
	ID, Type string
	Payload  json.RawMessage
}

// JobTarget is what a job works on.
type JobTarget struct {
	// Text names it; Href is its page, "" for none.
	Text, Href string
	// Page is the page of the job itself; "" for that of the console.
	Page string
}
