package brief

import (
	"embed"
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// fillText returns a text in the language of the reader, English if there is none in it. Readers find the parts of a brief by the headings.
func (c content) fillText(id string, args ...any) string {
	language, _, _ := strings.Cut(strings.ToLower(c.language), "-")
	return allTexts().Text(language, id, args...)
}
