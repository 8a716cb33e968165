package notice

import (
	"context"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/news"
)

// sitePath is the path of a base URL, with a slash at the end.
func sitePath(base string) string {
	if u, err := url.Parse(base); err == nil {
		base = u.Path
	}
	return strings.TrimSuffix(base, "/") + "/"
}

// PublicPages is the public address of the service's pages, which ends with a slash; empty without a public base URL.
func (n *Notices) PublicPages(ctx context.Context) string {
	return publicPages(n.cfg.PublicBaseURL(ctx), sitePath(n.cfg.Settings().BaseURL))
}

// publicPages is the public address of the pages: the public base URL, and their path where that does not end with it.
func publicPages(public, site string) string {
	u, err := url.Parse(public)
	if public == "" || err != nil || strings.HasSuffix("/"+strings.Trim(u.EscapedPath(), "/")+"/", site) {
		return public
	}
	return u.JoinPath(site).String()
}

// NewsWriter returns a writer of messages in the service's language.
func (n *Notices) NewsWriter(ctx context.Context) news.Writer {
	return news.Writer{
		Locale: n.cfg.Settings().Locale, BaseURL: n.PublicPages(ctx), SitePath: sitePath(n.cfg.Settings().BaseURL), Version: n.cfg.Version,
		Source: n.cfg.Service, Now: n.cfg.Now(),
	}
}
