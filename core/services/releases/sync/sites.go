package sync

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
)

// OwnsSite reports whether addresses of a site, such as forge.example, are those of repositories of the code host of accounts. It
// asks the host about one repository of the site, with the token of a user who has one.
func (s *Syncer) OwnsSite(ctx context.Context, userID, site, fullName string) (bool, error) {
	h, err := s.MainHost()
	if err != nil {
		return false, err
	}
	c := caller{host: h}
	if own, ok, err := s.callerSeeing(ctx, userID, h.Ref, 0); err == nil && ok {
		c = own
	}
	none := func(*codehost.Resolution) codehost.Meta { return codehost.Meta{} }
	_, err = callHost(ctx, s, c, none, func() (*codehost.Resolution, error) {
		return h.Names.Resolve(ctx, c.token, "https://"+site+"/"+fullName)
	})
	var e *errs.Error
	if errors.As(err, &e) && e.Code == codes.InvalidArgument && e.Source == errs.Caller {
		return false, nil
	}
	if cause := client.CauseOf(err); cause == client.CauseMissing || cause == client.CauseDenied {
		// The address is one of the host's, whatever it has there.
		return true, nil
	}
	return err == nil, err
}
