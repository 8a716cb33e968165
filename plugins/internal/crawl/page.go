package crawl

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/pagehead"
)

// isPage reports whether a content type is that of something to read: not of data, a feed, a style or a script. One that is not told
// may be.
func isPage(contentType string) bool {
	switch media := pagehead.MediaType(contentType); media {
	case "", "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown", "text/asciidoc", "text/x-rst", "text/org":
		return true
	}
	return false
}

// fileEndings are the endings of names that stand for files and not for pages, for addresses that nobody has asked for.
var fileEndings = strings.Fields(`.7z .apk .atom .avi .avif .bin .bz2 .css .csv .deb .dmg .doc .docx .eot .epub .exe .gif .gz .ico .iso .jar .jpeg .jpg .js .json
	.m4a .map .mjs .mov .mp3 .mp4 .msi .ogg .otf .pdf .pkg .png .ppt .pptx .rar .rpm .rss .svg .tar .tgz .tif .tiff .ttf .wasm .wav .webm .webmanifest .webp .whl
	.woff .woff2 .xls .xlsx .xml .xz .yaml .yml .zip .zst`)

// namesFile reports whether an address ends as those of files do that are no pages.
func namesFile(u *url.URL) bool {
	return slices.Contains(fileEndings, strings.ToLower(filepath.Ext(u.Path)))
}
