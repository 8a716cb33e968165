package rfc822

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// previewLength is the length of a preview, in characters.
const previewLength = 140

// Preview returns the beginning of a text as one line.
func Preview(text string) string {
	if len(text) > 8*previewLength {
		text = texts.Limit(text, 8*previewLength)
	}
	runes := []rune(strings.Join(strings.Fields(text), " "))
	return string(runes[:min(len(runes), previewLength)])
}
