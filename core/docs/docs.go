// Package docs holds the documents of Patchbay, for the console to show.
package docs

import "embed"

// Files are the pages, the decisions in adr, and the pictures.
//
//go:embed *.md adr/*.md *.svg *.png
var Files embed.FS
