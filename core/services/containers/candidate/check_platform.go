package candidate

import (
	"context"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

// isSameForHost reports whether one of the digests that run is an index with the wanted manifest for the host's platform. A
// registry that no longer has the
// index says nothing.
func (c *checkRun) isSameForHost(ctx context.Context, ref image.Ref, have []string, wanted string) bool {
	if wanted == "" {
		return false
	}
	known, err := c.s.store.FindManifests(ctx, have)
	if err != nil {
		return false
	}
	for _, digest := range have {
		if entries, ok := known[digest]; ok {
			if choosePlatform(toPlatforms(entries), c.platform, digest) == wanted {
				return true
			}
			continue
		}
		index := ref
		index.Tag, index.Digest = "", digest
		if res, err := c.resolveOnce(ctx, index); err == nil && res.PlatformDigest == wanted {
			return true
		}
	}
	return false
}
