package news

import (
	"embed"
	"time"

	"github.com/patchbay-dev/patchbay/core/texts/locale"
)

//go:embed locales/*.json
var localeFiles embed.FS

var allTexts = locale.ReadLazily(localeFiles)

// chooseLanguage returns the language of the texts: Chinese unless English is asked for.
func (w Writer) chooseLanguage() string {
	if w.Locale == locale.English {
		return locale.English
	}
	return locale.Chinese
}

// fillText returns the text of a key, with pairs of names and values filled in. Values are taken as they are.
func (w Writer) fillText(key string, pairs ...any) string {
	return allTexts().Text(w.chooseLanguage(), key, pairs...)
}

// textOrWord returns the text of a key, or the word itself where there is none.
func (w Writer) textOrWord(prefix, word string) string {
	if allTexts().Known(prefix + word) {
		return w.fillText(prefix + word)
	}
	return cleanName(word)
}

// countText returns a text about a number of things, of which one may be worded in its own way.
func (w Writer) countText(key string, n int) string {
	return allTexts().Plural(w.chooseLanguage(), key, n, "n", n)
}

func (w Writer) formatDuration(d time.Duration) string {
	switch h, m, s := int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60; {
	case d < time.Second:
		return w.fillText("duration.short")
	case d < time.Minute:
		return w.fillText("duration.seconds", "s", s)
	case d < time.Hour:
		return w.fillText("duration.minutes", "m", m, "s", s)
	default:
		return w.fillText("duration.hours", "h", h, "m", m)
	}
}
