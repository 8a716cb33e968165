// Package docs holds the documents of Patchbay, for the console to show.
package docs

import "embed"

// Files are the pages, the decisions in adr, the drawings, and the pictures in pictures.
//
//go:embed *.md adr/*.md *.svg pictures/*.png
var Files embed.FS
