package releases

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/releases/reader"
)

// The pages use the same verbs as the API. The caller is the principal of the context.

// Status is what the pages say of the service as a whole.
type Status struct {
	// HasHosts says that a code host is in use, HasChannels that notifications go somewhere, SeesRepos that the caller sees a
	// repository.
	HasHosts, HasChannels, SeesRepos bool
	// Unread is how many notifications of the caller are unread.
	Unread int64
	// Languages are those in which briefs and translations may be read.
	Languages []string
	// HasTranslator says that releases can be translated.
	HasTranslator bool
}

// StatusOf returns what the pages say to the caller.
func (s *Service) StatusOf(ctx context.Context) (out Status, err error) {
	st := s.state.Load()
	out.HasHosts, out.HasChannels = len(st.hosts) > 0, len(st.settings.Notify) > 0
	out.Languages, out.HasTranslator = s.ReadingLanguages(), st.translator != nil
	if out.SeesRepos, err = s.repos.SeesAny(ctx, reader.ID(ctx)); err == nil {
		out.Unread, err = s.reads.CountUnread(ctx, reader.ID(ctx))
	}
	return out, err
}
