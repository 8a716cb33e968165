package alert

import (
	"embed"

	"github.com/patchbay-dev/patchbay/core/notify"
	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// The texts of alerts that have no kind of their own: what was raised is over.
const (
	alertPoolUsable     = alertPoolEmpty + ".over"
	alertUpstreamWorks  = alertUpstreamErrors + ".over"
	alertBackendRemoved = "backend_removed"
)

// writeAlert returns a with the texts of key in a language. args are the names and values of their parameters.
func writeAlert(lang, key string, a notify.Alert, args ...any) notify.Alert {
	a.Title, a.Text = allTexts().Text(lang, key+".title"), allTexts().Text(lang, key+".text", args...)
	return a
}
