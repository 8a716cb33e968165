package ui

import (
	"bytes"
	"embed"
	"fmt"
	"io/fs"
	"mime"
	"net/http"
	"path"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/httpd"
)

//go:embed static
var static embed.FS

// bundleParts are the parts of the one script that every page has, in their order.
func bundleParts() []string {
	return []string{"vendor/htmx.org-4.0.1/htmx.min.js", "vendor/htmx.org-4.0.1/hx-sse.min.js", "app.js"}
}

// Assets are the static files, each at an address that names its content and can be kept for ever.
type Assets struct {
	urls  map[string]string
	files map[string]httpd.File
	// manifest and worker have addresses that stay.
	manifest, worker httpd.File
}

// ownFiles are the files beside it: the style and the icons of every page, and what pages with charts or
// with the button for notifications name in View.Scripts and View.Styles.
func ownFiles() []string {
	return []string{
		"app.css", "docs.css", "place.js", "chart.js", "push.js", "icon.svg", "icons/icon-192.png", "icons/icon-512.png", "icons/icon-maskable-512.png",
		"icons/apple-touch-icon.png", "icons/badge-96.png",
		"vendor/uplot-1.6.32/uPlot.iife.min.js", "vendor/uplot-1.6.32/uPlot.min.css",
	}
}

// NewAssets takes the frame's own files and those of the sources, whose names must differ.
func NewAssets(sources ...fs.FS) (*Assets, error) {
	dir, err := fs.Sub(static, "static")
	if err != nil {
		return nil, fmt.Errorf("open the static files: %w", err)
	}
	a := &Assets{urls: map[string]string{}, files: map[string]httpd.File{}}
	var script bytes.Buffer
	for _, name := range bundleParts() {
		part, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("read the script: %w", err)
		}
		script.Write(part)
		script.WriteString("\n")
	}
	a.addFile("app.js", script.Bytes())
	for _, name := range ownFiles() {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, fmt.Errorf("read the static files: %w", err)
		}
		a.addFile(path.Base(name), data)
	}
	if err := a.addInstallable(dir); err != nil {
		return nil, err
	}
	for _, src := range sources {
		if err := a.addAll(src); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// addAll takes the scripts, styles and pictures of a source, whatever folder they lie in.
func (a *Assets) addAll(src fs.FS) error {
	return fs.WalkDir(src, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !isServed(p) {
			return err
		}
		if a.urls[path.Base(p)] != "" {
			return fmt.Errorf("the static file %s stands in two sources", path.Base(p))
		}
		data, err := fs.ReadFile(src, p)
		if err == nil {
			a.addFile(path.Base(p), data)
		}
		return err
	})
}

func isServed(name string) bool {
	switch path.Ext(name) {
	case ".css", ".js", ".svg", ".png":
		return true
	}
	return false
}

func (a *Assets) addFile(name string, data []byte) {
	ext := path.Ext(name)
	kind := mime.TypeByExtension(ext)
	if ext == ".js" {
		kind = "text/javascript; charset=utf-8"
	}
	file := httpd.NewFile(kind, data)
	// What make generate has not packed is sent in gzip.
	if packed, err := static.ReadFile("static/packed/" + file.Tag() + ".br"); err == nil {
		file = file.WithBrotli(packed)
	}
	hashed := strings.TrimSuffix(name, ext) + "." + file.Tag() + ext
	a.urls[name], a.files[hashed] = "/assets/"+hashed, file
}

// URL is the address of a file by its plain name, such as app.css; empty if there is none.
func (a *Assets) URL(name string) string { return a.urls[name] }

// File returns a file by its plain name, and reports whether there is one.
func (a *Assets) File(name string) (httpd.File, bool) {
	f, ok := a.files[strings.TrimPrefix(a.urls[name], "/assets/")]
	return f, ok
}

// Size is how large a file is in bytes.
func (a *Assets) Size(name string) int {
	return a.files[strings.TrimPrefix(a.urls[name], "/assets/")].Size()
}

// Route serves all of them.
func (a *Assets) Route() httpd.Route {
	return httpd.Route{Method: http.MethodGet, Path: "/assets/:file", Policy: httpd.Public, Handler: func(c *gin.Context) {
		f, ok := a.files[c.Param("file")]
		if !ok {
			httpd.WriteError(c, fault.New(fault.NotFound, "There is no such file."))
			return
		}
		c.Header("Cache-Control", "public, max-age=31536000, immutable")
		f.Write(c)
	}}
}
