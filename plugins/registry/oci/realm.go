package oci

import (
	"context"
	"net/url"
	"slices"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// askRealm sends a request to the token server that a registry has named. A registry may name any server, and so could
// send requests with credentials into inner networks: a server on another host than its own has to be public, or in the
// configuration.
func (s *session) askRealm(ctx context.Context, req *httpx.Request) (*httpx.Stream, error) {
	req.Own = s.trustsRealm(req.URL)
	st, err := s.reader.http.Stream(ctx, req, 0)
	if e := errs.From(err); e != nil && e.Reason == httpx.ReasonRefused {
		return nil, s.refuseRealm(req.URL, err)
	}
	return st, err
}

// trustsRealm reports whether a token server is on the registry's own host, or on one that the configuration names.
func (s *session) trustsRealm(realm *url.URL) bool {
	own := (&url.URL{Host: s.host}).Hostname()
	return realm.Hostname() == own || isLoopback(own) && isLoopback(realm.Hostname()) ||
		slices.Contains(s.reader.hosts, realm.Host) || slices.Contains(s.reader.insecure, realm.Host)
}

func (s *session) refuseRealm(realm *url.URL, err error) error {
	return errs.New(errs.Upstream, codes.FailedPrecondition, httpx.ReasonRefused, "%s delegates its tokens to %s, which is not allowed: %s", s,
		realm.Host, errs.From(err).Message)
}
