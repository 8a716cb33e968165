// Package docs holds the documents for authors of plugins.
package docs

import "embed"

// Files are the pages.
//
//go:embed *.md
var Files embed.FS
