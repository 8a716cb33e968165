package pagehead

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// maxRefresh is how long a page may wait before it sends its readers on. One that waits longer is a page to read.
const maxRefresh = 10 * time.Second

// parseRefresh reads the content of a refresh, such as "0; url=/docs/", as browsers do. ok is false if it names no address.
func parseRefresh(content string) (delay time.Duration, to string, ok bool) {
	content = strings.TrimSpace(content)
	end := strings.IndexFunc(content, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })
	if end < 1 {
		return 0, "", false
	}
	seconds, err := strconv.ParseFloat(content[:end], 64)
	if err != nil || seconds > float64(time.Hour/time.Second) {
		return 0, "", false
	}
	rest := strings.TrimLeft(content[end:], " \t\n\r")
	rest = strings.TrimLeft(strings.TrimLeft(rest, ";,"), " \t\n\r")
	if len(rest) >= 3 && strings.EqualFold(rest[:3], "url") {
		if after, found := strings.CutPrefix(strings.TrimLeft(rest[3:], " \t"), "="); found {
			rest = strings.TrimLeft(after, " \t")
		}
	}
	if rest != "" && (rest[0] == '\'' || rest[0] == '"') {
		rest, _, _ = strings.Cut(rest[1:], rest[:1])
	}
	rest = strings.TrimSpace(rest)
	return time.Duration(seconds * float64(time.Second)), rest, rest != ""
}

// canonicalLink returns the address of the Link field with the relation canonical, or nothing.
func canonicalLink(h http.Header) string {
	for _, field := range h.Values("Link") {
		for field != "" {
			_, after, ok := strings.Cut(field, "<")
			if !ok {
				break
			}
			target, params, ok := strings.Cut(after, ">")
			if !ok {
				break
			}
			next := strings.Index(params, ",<")
			if spaced := strings.Index(params, ", <"); next < 0 || spaced >= 0 && spaced < next {
				next = spaced
			}
			own := params
			field = ""
			if next >= 0 {
				own, field = params[:next], params[next:]
			}
			if isCanonical(own) && len(target) <= maxAddress {
				return strings.TrimSpace(target)
			}
		}
	}
	return ""
}

// isCanonical reports whether the parameters of a link name the relation canonical.
func isCanonical(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(strings.TrimSpace(p), "=")
		if strings.EqualFold(strings.TrimSpace(name), "rel") && hasWord(strings.Trim(strings.TrimSpace(value), `"`), "canonical") {
			return true
		}
	}
	return false
}
