package translation

import (
	"embed"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)
