package record

import (
	"strings"

	"github.com/patchbay-dev/patchbay/core/services/containers/image"
)

// ShortDigest returns the beginning of a digest or id, for people.
func ShortDigest(digest string) string {
	digest = strings.TrimPrefix(digest, "sha256:")
	return digest[:min(12, len(digest))]
}

// DigestsInRepo are the digests that an image has in a repository.
func DigestsInRepo(repo string, repoDigests []string) []string {
	var out []string
	for _, d := range repoDigests {
		name, digest, ok := strings.Cut(d, "@")
		if ok && image.ValidDigest(digest) && image.SameRepo(repo, name) {
			out = append(out, digest)
		}
	}
	return out
}

// BoolToInt returns 1 for true and 0 for false.
func BoolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
