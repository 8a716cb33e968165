package sync

import (
	"context"
	"errors"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/core/fault"
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
	return s.ownsSite(ctx, h, userID, site, fullName)
}

// FindSite returns the code host of a site. It reports false if none has it. The error is that of a host that could not be asked, while no
// other one has the site.
func (s *Syncer) FindSite(ctx context.Context, userID, site, fullName string) (h Host, owned bool, err error) {
	var problems []error
	for _, h := range s.cfg.Hosts() {
		owned, err := s.ownsSite(ctx, h, userID, site, fullName)
		if owned {
			return h, true, nil
		}
		problems = append(problems, err)
	}
	return Host{}, false, errors.Join(problems...)
}

func (s *Syncer) ownsSite(ctx context.Context, h Host, userID, site, fullName string) (bool, error) {
	c := caller{host: h}
	if own, ok, err := s.callerSeeing(ctx, userID, h.Ref, 0); err == nil && ok {
		c = own
	}
	none := func(*codehost.Resolution) codehost.Meta { return codehost.Meta{} }
	_, err := callHost(ctx, s.hostCaller, c, none, func() (*codehost.Resolution, error) {
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

// FindAtHost returns what a code host says of a repository now, to the accounts of a user and then to anybody. It is private only if an
// account of the user sees it.
func (s *Syncer) FindAtHost(ctx context.Context, h Host, userID, fullName string) (codehost.Repository, error) {
	all := []caller{}
	if own, ok, err := s.callerSeeing(ctx, userID, h.Ref, 0); err == nil && ok {
		all = append(all, own)
	}
	var last error
	for _, c := range append(all, caller{host: h}) {
		info, err := callHost(ctx, s.hostCaller, c, func(i *codehost.RepositoryInfo) codehost.Meta { return i.Meta },
			func() (*codehost.RepositoryInfo, error) {
				return h.Releases.FindRepository(ctx, c.token, fullName)
			})
		switch {
		case info != nil && info.Repository.Private && c.accountID == "":
			return codehost.Repository{}, fault.New(fault.NotFound, "The code host shows it only to people with an account.")
		case info != nil:
			// An error is about the limits of later calls.
			return info.Repository, nil
		}
		if last = err; !isCallersFault(err) && !isUnauthenticated(err) {
			break
		}
	}
	return codehost.Repository{}, last
}
