package translation

import (
	"embed"
	"sync"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = sync.OnceValue(func() *locale.Texts { return locale.ReadEmbedded(localeFiles) })
