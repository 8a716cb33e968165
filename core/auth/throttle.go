package auth

import (
	"time"

	"github.com/patchbay-dev/patchbay/core/auth/limit"
	"github.com/patchbay-dev/patchbay/core/fault"
)

func limitKey(from Origin) string { return limit.Client(from.Address) }

func tooMany(wait time.Duration) error {
	return fault.New(fault.RateLimited, "Rate limited: too many failed attempts from this address.").WithRetryAfter(wait)
}

// badKey counts wrong API keys. After too many of them the answer says only that. A right key is always taken: whoever
// shares an address with one who guesses is not shut out, and no number of guesses finds 256 bits.
func (ks *Keys) badKey(addr string, err error) error {
	if fault.CodeOf(err) != codeKey {
		return err
	}
	if wait, ok := ks.wrong.Take(limit.Client(addr)); !ok {
		return tooMany(wait)
	}
	return err
}
