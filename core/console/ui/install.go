package ui

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/httpd"
)

// Addresses of the files whose names must stay.
const (
	ManifestPath = "/manifest.webmanifest"
	WorkerPath   = "/sw.js"
	root         = "/"
)

// Colours of the browser's own parts around the pages: those of the page's ground and of the icon.
const (
	ColourLight = "#f6f7f9"
	ColourDark  = "#0e141b"
	colourIcon  = "#0f766e"
)

// workerPolicy is the content security policy of the service worker: it asks this site alone.
const workerPolicy = "default-src 'none'; connect-src 'self'; img-src 'self'"

// manifest is what a browser needs to know to install the console.
type manifest struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	ShortName   string         `json:"short_name"`
	Description string         `json:"description"`
	StartURL    string         `json:"start_url"`
	Scope       string         `json:"scope"`
	Display     string         `json:"display"`
	Theme       string         `json:"theme_color"`
	Background  string         `json:"background_color"`
	Icons       []manifestIcon `json:"icons"`
}

type manifestIcon struct {
	Src     string `json:"src"`
	Sizes   string `json:"sizes"`
	Type    string `json:"type"`
	Purpose string `json:"purpose,omitempty"`
}

// addInstallable makes the manifest and the service worker, which name pictures by their present addresses.
func (a *Assets) addInstallable(dir fs.FS) error {
	text, err := json.Marshal(manifest{
		ID: root, Name: "Patchbay", ShortName: "Patchbay",
		Description: "The console of a self-hosted core: its services, and the plugins that connect them to other systems.",
		StartURL:    root, Scope: root, Display: "standalone", Theme: colourIcon, Background: ColourLight,
		Icons: []manifestIcon{
			{Src: a.URL("icon-192.png"), Sizes: "192x192", Type: "image/png"},
			{Src: a.URL("icon-512.png"), Sizes: "512x512", Type: "image/png"},
			{Src: a.URL("icon-maskable-512.png"), Sizes: "512x512", Type: "image/png", Purpose: "maskable"},
			{Src: a.URL("icon.svg"), Sizes: "any", Type: "image/svg+xml"},
		},
	})
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	a.manifest = httpd.NewFile("application/manifest+json", text)
	worker, err := fs.ReadFile(dir, "sw.js")
	if err != nil {
		return fmt.Errorf("read the service worker: %w", err)
	}
	script := strings.NewReplacer("'/icon'", "'"+a.URL("icon-192.png")+"'", "'/badge'", "'"+a.URL("badge-96.png")+"'").Replace(string(worker))
	a.worker = httpd.NewFile("text/javascript; charset=utf-8", []byte(script))
	return nil
}

// InstallRoutes serve the manifest and the service worker. A browser asks for both anew each time.
func (a *Assets) InstallRoutes() []httpd.Route {
	return []httpd.Route{
		{Method: http.MethodGet, Path: ManifestPath, Policy: httpd.Public, Handler: func(c *gin.Context) {
			c.Header("Cache-Control", "no-cache")
			a.manifest.Write(c)
		}},
		{Method: http.MethodGet, Path: WorkerPath, Policy: httpd.Public, Handler: func(c *gin.Context) {
			c.Header("Cache-Control", "no-cache")
			c.Header("Service-Worker-Allowed", root)
			c.Header("Content-Security-Policy", workerPolicy)
			a.worker.Write(c)
		}},
	}
}
