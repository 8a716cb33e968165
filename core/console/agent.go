package console

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// browserName is a browser's name out of its user agent, as far as people tell browsers apart.
func browserName(s string) string {
	browser := ""
	for _, b := range []struct{ mark, name string }{
		{"Edg/", "Edge"}, {"OPR/", "Opera"}, {"Firefox/", "Firefox"}, {"HeadlessChrome/", "Chrome"}, {"Chrome/", "Chrome"},
		{"Safari/", "Safari"}, {"curl/", "curl"},
	} {
		if strings.Contains(s, b.mark) {
			browser = b.name
			break
		}
	}
	system := ""
	for _, o := range []struct{ mark, name string }{
		{"Android", "Android"}, {"iPhone", "iOS"}, {"iPad", "iPadOS"}, {"Windows", "Windows"}, {"Mac OS X", "macOS"}, {"Linux", "Linux"},
	} {
		if strings.Contains(s, o.mark) {
			system = o.name
			break
		}
	}
	switch {
	case browser != "" && system != "":
		return browser + " · " + system
	case browser+system != "":
		return browser + system
	case s == "":
		return "–"
	}
	return texts.Truncate(s, 40)
}
