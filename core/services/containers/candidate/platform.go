package candidate

import (
	"github.com/patchbay-dev/patchbay/core/services/containers/project"
	"github.com/patchbay-dev/patchbay/core/services/containers/record"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func toPlatforms(in []record.ManifestPlatform) []registry.Platform {
	out := make([]registry.Platform, len(in))
	for i, p := range in {
		out[i] = registry.Platform{OS: p.OS, Arch: p.Arch, Variant: p.Variant, Digest: p.Digest}
	}
	return out
}

func fromPlatforms(in []registry.Platform) []record.ManifestPlatform {
	out := make([]record.ManifestPlatform, len(in))
	for i, p := range in {
		out[i] = record.ManifestPlatform{OS: p.OS, Arch: p.Arch, Variant: p.Variant, Digest: p.Digest}
	}
	return out
}

// choosePlatform is the digest of the manifest for a platform: the exact one, or the only one of its os and architecture.
func choosePlatform(list []registry.Platform, want record.Platform, index string) string {
	found, near := "", 0
	for _, p := range list {
		if p.OS != want.OS || p.Arch != want.Arch {
			continue
		}
		digest := p.Digest
		if digest == "" {
			digest = index
		}
		if p.Variant == want.Variant {
			return digest
		}
		found = digest
		near++
	}
	if near == 1 {
		return found
	}
	return ""
}

// matchArch reports whether one of the platforms is the host's.
func matchArch(list []registry.Platform, want record.Platform) (match string, all []string) {
	for _, p := range list {
		if p.OS == "" || p.Arch == "" {
			continue
		}
		all = append(all, p.String())
		if p.OS == want.OS && p.Arch == want.Arch && (p.Variant == want.Variant || p.Variant == "" || want.Variant == "") {
			match = project.ArchMatch
		}
	}
	switch {
	case match != "":
		return match, all
	case len(all) > 0:
		return project.ArchMismatch, all
	}
	return project.ArchUnknown, nil
}
