package record

import (
	"fmt"
	"strings"
)

// Platform is an operating system and architecture in the words of the OCI image specification.
type Platform struct{ OS, Arch, Variant string }

// ParsePlatform reads os/arch or os/arch/variant.
func ParsePlatform(s string) (Platform, error) {
	parts := strings.Split(strings.ToLower(strings.TrimSpace(s)), "/")
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || parts[1] == "" {
		return Platform{}, fmt.Errorf("must be os/arch or os/arch/variant, such as linux/amd64")
	}
	p := Platform{OS: parts[0], Arch: parts[1]}
	if len(parts) == 3 {
		p.Variant = parts[2]
	}
	return p, nil
}

// String is os/arch or os/arch/variant.
func (p Platform) String() string {
	if p.Variant == "" {
		return p.OS + "/" + p.Arch
	}
	return p.OS + "/" + p.Arch + "/" + p.Variant
}
