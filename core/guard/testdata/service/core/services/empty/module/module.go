// Package module declares a service that does nothing but greet.
package module

import (
	"context"
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/console/ui"
	"github.com/patchbay-dev/patchbay/core/httpd"
	"github.com/patchbay-dev/patchbay/core/module"
	"github.com/patchbay-dev/patchbay/core/queue"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

func init() {
	module.Register(module.Definition{Name: "empty", Order: 100, Settings: func() module.Settings { return &settings{} }, Open: openService})
}

// settings is the block service "empty" of plugin.hcl.
type settings struct {
	BaseURL string `patchbay:"base_url,default=/empty" doc:"Path, or absolute URL, below which the service is mounted."`
}

// Check implements module.Settings.
func (s settings) Check() schema.Diagnostics { return nil }

type service struct{}

func openService(context.Context, module.Deps, module.Configuration) (module.Service, error) {
	return service{}, nil
}

// Prepare implements module.Service.
func (service) Prepare(module.Configuration) (commit func(), err error) { return func() {}, nil }

// MountAt implements module.Service.
func (service) MountAt(baseURL string) (httpd.Mount, error) {
	return httpd.Mount{Service: "empty", BaseURL: baseURL, Routes: []httpd.Route{
		{Method: http.MethodGet, Path: "/hello", Policy: httpd.Public, Handler: func(c *gin.Context) { c.String(http.StatusOK, "hello") }},
	}}, nil
}

// Pages implements module.Service: there are none.
func (service) Pages(module.Address) (ui.Section, error) { return ui.Section{}, nil }

// Jobs implements module.Service.
func (service) Jobs() []queue.Handler { return nil }

// Schedules implements module.Service.
func (service) Schedules() []queue.Schedule { return nil }

// Ready implements module.ReadinessChecker.
func (service) Ready() error { return nil }

// Close implements module.Service.
func (service) Close() {}
