package conformance

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/conformance/internal/suite"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

const noRef = suite.Skip("there is no reference to ask for")

// trimReference is a reference without its tag or digest.
func trimReference(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndexByte(ref, ':'); i > strings.LastIndexByte(ref, '/') {
		ref = ref[:i]
	}
	return ref
}

func (r *registryRun) resolveAll(ctx context.Context) error {
	if r.cfg.Ref == "" {
		return noRef
	}
	got, err := r.resolveReference(ctx, r.MainID, registry.ResolveRequest{Ref: r.cfg.Ref, Platform: r.cfg.Platform})
	if err != nil {
		return err
	}
	if !digestPattern.MatchString(got.Digest) || got.MediaType == "" || !got.Detailed {
		return fmt.Errorf("without known digests the answer needs digest, media type and details: %+v", got)
	}
	if r.cfg.Platform != "" && got.PlatformDigest == "" {
		return fmt.Errorf("there is no digest for the platform %s: %+v", r.cfg.Platform, got)
	}
	for _, p := range got.Platforms {
		if p.OS == "" || p.Arch == "" || p.OS == "unknown" || !digestPattern.MatchString(p.Digest) {
			return fmt.Errorf("the entry %+v is no platform", p)
		}
	}
	known, err := r.resolveReference(ctx, r.MainID,
		registry.ResolveRequest{Ref: r.cfg.Ref, Platform: r.cfg.Platform, Known: []string{got.Digest}})
	if err != nil {
		return err
	}
	if known.Digest != got.Digest || known.Detailed || len(known.Platforms) > 0 || known.PlatformDigest != "" {
		return fmt.Errorf("a known digest should come back without details: %+v", known)
	}
	by, err := r.resolveReference(ctx, r.MainID,
		registry.ResolveRequest{Ref: trimReference(r.cfg.Ref) + "@" + got.Digest, Platform: r.cfg.Platform})
	if err != nil {
		return err
	}
	if by.Digest != got.Digest || by.PlatformDigest != got.PlatformDigest {
		return fmt.Errorf("asked by digest the answer is another: %+v, %+v", by, got)
	}
	return nil
}

// maxListed is how many pages of tags are read.
const maxListed = 50

func (r *registryRun) checkTags(ctx context.Context) error {
	if r.cfg.Ref == "" {
		return noRef
	}
	tag := strings.TrimPrefix(r.cfg.Ref, trimReference(r.cfg.Ref)+":")
	seen, cursor := false, ""
	for range maxListed {
		call, cancel := r.WithTimeout(ctx)
		page, err := r.clientAt(r.MainID).Tags(call,
			registry.TagsRequest{Access: r.cfg.Access, Repository: trimReference(r.cfg.Ref), Cursor: cursor, Limit: 100})
		cancel()
		if r.InspectError("tags", err) != nil {
			return err
		}
		if page.Next != "" && page.Next == cursor {
			return errors.New("a page names itself as the next one")
		}
		seen = seen || slices.Contains(page.Tags, tag)
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if !seen && cursor == "" {
		return fmt.Errorf("the tag %q is not in the list", tag)
	}
	return nil
}

func (r *registryRun) checkConfig(ctx context.Context) error {
	if r.cfg.Ref == "" {
		return noRef
	}
	call, cancel := r.WithTimeout(ctx)
	defer cancel()
	got, err := r.clientAt(r.MainID).Config(call, registry.ConfigRequest{Access: r.cfg.Access, Ref: r.cfg.Ref, Platform: r.cfg.Platform})
	if r.InspectError("config", err) != nil {
		return err
	}
	want, err := r.resolveReference(ctx, r.MainID, registry.ResolveRequest{Ref: r.cfg.Ref, Platform: r.cfg.Platform})
	if err != nil {
		return err
	}
	if !digestPattern.MatchString(got.Digest) || r.cfg.Platform != "" && got.Digest != want.PlatformDigest {
		return fmt.Errorf("the configuration is that of %s, and the platform is %s", got.Digest, want.PlatformDigest)
	}
	return nil
}

func (r *registryRun) checkMissing(ctx context.Context) error {
	if len(r.cfg.Missing) == 0 {
		return suite.Skip("no missing reference is known")
	}
	for _, ref := range r.cfg.Missing {
		if err := r.checkResolveError(ctx, ref, codes.NotFound); err != nil {
			return err
		}
	}
	return nil
}

func (r *registryRun) checkFailures(ctx context.Context) error {
	if len(r.cfg.Failures) == 0 {
		return suite.Skip("there is no failing reference")
	}
	for _, ref := range slices.Sorted(maps.Keys(r.cfg.Failures)) {
		if err := r.checkResolveError(ctx, ref, r.cfg.Failures[ref]); err != nil {
			return err
		}
	}
	return nil
}

// checkResolveError resolves a reference and looks at the error.
func (r *registryRun) checkResolveError(ctx context.Context, ref string, code codes.Code) error {
	_, err := r.resolveReference(ctx, r.MainID, registry.ResolveRequest{Ref: ref})
	if errors.Is(err, suite.ErrPanic) {
		return err
	}
	if e := errs.From(err); e == nil || e.Code != code || e.Source != errs.Upstream {
		return fmt.Errorf("%s should end with %s, source upstream; got: %v", ref, code, err)
	}
	return nil
}

func (r *registryRun) checkConcurrency(ctx context.Context) error {
	if r.cfg.Ref == "" {
		return noRef
	}
	return suite.RunTogether(16, func(int) error {
		_, err := r.resolveReference(ctx, r.MainID, registry.ResolveRequest{Ref: r.cfg.Ref, Platform: r.cfg.Platform})
		return err
	})
}

// cutShort ends a call early. That the plugin's side has ended too is seen by removing the instance, which waits for calls.
func (r *registryRun) cutShort(ctx, short context.Context) error {
	if r.cfg.Slow == "" {
		return suite.Skip("no slow reference is known")
	}
	return r.CutCall(ctx, func(id string) error {
		return suite.ErrorAlone(r.resolveReference(short, id, registry.ResolveRequest{Ref: r.cfg.Slow}))
	})
}
