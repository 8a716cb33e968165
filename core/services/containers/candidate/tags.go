package candidate

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/client"
	"github.com/patchbay-dev/patchbay/core/services/containers/image"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/core/services/containers/version"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

const (
	// tagsFor is for how long a list of tags is used again, maxTagPages how many pages of it are read.
	tagsFor     = 6 * time.Hour
	maxTagPages = 20
	// newerLimit is how many newer tags are kept.
	newerLimit = 5
)

// listTags returns the tags of a repository, which may have been read up to age ago.
func (r *registries) listTags(ctx context.Context, ref image.Ref, age time.Duration) ([]string, error) {
	now := r.cfg.Now()
	if kept := r.lists.getFresh(ref.Repo(), now, age); kept != nil {
		return kept, nil
	}
	all, cursor := []string{}, ""
	for range maxTagPages {
		page, err := askRegistry(ctx, r, ref.Host, func(ctx context.Context, in client.Registry, a registry.Access) (*registry.TagsPage, error) {
			return in.Tags(ctx, registry.TagsRequest{Access: a, Repository: ref.Repo(), Cursor: cursor, Limit: registry.MaxTags})
		})
		if err != nil {
			return nil, fmt.Errorf("list the tags of %s: %w", ref.Repo(), err)
		}
		all = append(all, page.Tags...)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	slices.Sort(all)
	all = slices.Compact(all)
	r.lists.putTags(ref.Repo(), all, now)
	return all, nil
}

func isVersioned(tag string) bool {
	_, ok := version.Parse(tag)
	return ok
}

// candidateTags returns at most limit tags that may be the version of a tag, the likeliest first: full versions before others,
// and the newest first. For a tag such as 1.25 or 3-alpine they are of its line and variant.
func candidateTags(raw string, all []string, limit int) []string {
	line, narrowed := version.Parse(raw)
	type parsed struct {
		tag string
		v   version.Version
	}
	var found []parsed
	for _, tag := range all {
		v, ok := version.Parse(tag)
		if !ok || tag == raw {
			continue
		}
		if narrowed && (v.Suffix != line.Suffix || !startsWith(v.Parts, line.Parts)) {
			continue
		}
		found = append(found, parsed{tag, v})
	}
	slices.SortStableFunc(found, func(a, b parsed) int {
		if x, y := record.BoolToInt(version.Strict(a.tag)), record.BoolToInt(version.Strict(b.tag)); x != y {
			return y - x
		}
		return version.Compare(b.v, a.v)
	})
	var out []string
	for _, p := range found[:min(len(found), limit)] {
		out = append(out, p.tag)
	}
	return out
}

// aliasTags returns the tags that are shorter forms of a version, such as 1.25 and 1 for 1.25.4.
func aliasTags(tag string, rest []string) []string {
	v, _ := version.Parse(tag)
	var out []string
	for _, t := range rest {
		o, ok := version.Parse(t)
		if ok && len(o.Parts) < len(v.Parts) && o.Pre == "" && o.Suffix == v.Suffix && startsWith(v.Parts, o.Parts) {
			out = append(out, t)
		}
	}
	return out
}

func startsWith(parts, line []string) bool {
	return len(parts) >= len(line) && slices.Equal(parts[:len(line)], line)
}
