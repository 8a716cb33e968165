package alert

import (
	"embed"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
	sdk "github.com/patchbay-dev/patchbay/sdk/notify"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

var (
	poolEmpty      = notify.RegisterKind(notify.Kind{Service: service, Name: "pool_empty", Severity: sdk.Error, Texts: allTexts})
	upstreamErrors = notify.RegisterKind(notify.Kind{Service: service, Name: "upstream_errors", Severity: sdk.Error, Texts: allTexts})
	keyInvalid     = notify.RegisterKind(notify.Kind{Service: service, Name: "key_invalid", Severity: sdk.Warning, Texts: allTexts})
)
