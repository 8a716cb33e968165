package oci

import (
	"context"
	"net/http"
	"net/url"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// followRedirects sends a request that has no body, and goes where redirects lead. Credentials stay with the very host and port
// that they were meant for: a store behind the registry, also one on the same machine, gets none.
func (r *reader) followRedirects(ctx context.Context, req *httpx.Request) (*httpx.Stream, error) {
	for range maxRedirects + 1 {
		st, err := r.http.Stream(ctx, req, 0)
		if err != nil {
			return nil, err
		}
		location := st.Header.Get("Location")
		if !isRedirect(st.Status) || location == "" {
			return st, nil
		}
		_ = st.Close()
		to, err := req.URL.Parse(location)
		if err != nil || to.Host == "" || to.Scheme != "https" && to.Scheme != "http" || to.User != nil {
			return nil, errs.Unavailable(errs.ReasonProtocol, "%s leads to an address that cannot be used", req.URL.Host)
		}
		if req.URL.Scheme == "https" && to.Scheme != "https" {
			return nil, errs.Unavailable(errs.ReasonProtocol, "%s leads from https to http", req.URL.Host)
		}
		req = redirectRequest(req, to)
	}
	return nil, errs.Unavailable(errs.ReasonProtocol, "%s leads to more than %d further addresses", req.URL.Host, maxRedirects)
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func redirectRequest(req *httpx.Request, to *url.URL) *httpx.Request {
	to.Fragment, to.RawFragment = "", ""
	out := &httpx.Request{Method: req.Method, URL: to, Header: req.Header.Clone()}
	if httpx.SameOrigin(to, req.URL) {
		out.Own = req.Own
	} else {
		delete(out.Header, "Authorization")
	}
	return out
}
