package sync

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/patchbay-dev/patchbay/core/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
)

const (
	// maxDigestCommits and maxDigestFiles are how many commits and files a digest tells of, maxDigestLine and maxDigestPatch how many
	// bytes of each.
	maxDigestCommits, maxDigestFiles = 12, 12
	maxDigestLine, maxDigestPatch    = 140, 800
)

// CompareDigest returns what changed in a release since the one before: the subjects of commits, and the beginnings of files. It is ""
// for the first release, and where the host compares nothing.
func (s *Syncer) CompareDigest(ctx context.Context, releaseID int64) (string, error) {
	r, p, err := s.cfg.Repos.FindRelease(ctx, releaseID)
	if err != nil {
		return "", err
	}
	previous, err := s.cfg.Repos.PreviousTag(ctx, r)
	if err != nil || previous == "" {
		return "", err
	}
	h, err := s.findHost(p.Host)
	if err != nil {
		return "", err
	}
	can, err := h.Abilities()
	if err != nil || !can.Compare {
		return "", err
	}
	callers, err := s.callersFor(ctx, h, p)
	if err != nil {
		return "", err
	}
	for _, c := range callers {
		var found *codehost.Comparison
		if found, err = h.Compare.Compare(ctx, c.token, p.FullName, previous, r.Tag); err == nil {
			return digestComparison(found), nil
		}
		if !isCallersFault(err) {
			break
		}
	}
	return "", err
}

// digestComparison returns a comparison as a text.
func digestComparison(c *codehost.Comparison) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d commits\n", max(c.TotalCommits, int64(len(c.Commits))))
	for _, commit := range c.Commits[:min(len(c.Commits), maxDigestCommits)] {
		fmt.Fprintf(&b, "- %s\n", texts.Limit(commit.Subject, maxDigestLine))
	}
	shown := 0
	for _, f := range c.Files {
		if isNoise(f) || shown == maxDigestFiles {
			continue
		}
		shown++
		fmt.Fprintf(&b, "\n%s %s +%d -%d\n%s\n", f.Status, f.Path, f.Additions, f.Deletions, texts.Limit(f.Patch, maxDigestPatch))
	}
	return b.String()
}

// isNoise reports whether the changes of a file tell nothing to people: what is generated, locked or binary.
func isNoise(f codehost.ChangedFile) bool {
	name := path.Base(f.Path)
	if f.Patch == "" || strings.HasSuffix(name, ".lock") || strings.HasSuffix(name, "-lock.json") || strings.HasSuffix(name, "-lock.yaml") ||
		name == "go.sum" || strings.Contains(name, ".min.") || strings.HasSuffix(name, ".snap") {
		return true
	}
	for part := range strings.SplitSeq(path.Dir(f.Path), "/") {
		switch part {
		case "dist", "build", "vendor", "node_modules", "generated":
			return true
		}
	}
	return false
}
