package releases

import (
	"net/url"
	"strings"
)

// allowedOrigin returns the origin whose pages may call the API from elsewhere, "" for none: that of an absolute base URL, or
// else that under which browsers see the core.
func allowedOrigin(baseURL, publicURL string) string {
	for _, address := range []string{baseURL, publicURL} {
		if u, err := url.Parse(address); err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
			return strings.ToLower(u.Scheme + "://" + u.Host)
		}
	}
	return ""
}
