package record

// Ignore is a rule that keeps candidates of a service back.
type Ignore struct {
	ID        string `gorm:"primaryKey"`
	ServiceID string
	Enabled   bool
	Kind      string
	Value     string
	Note      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// Manifest keeps the platforms behind a digest, which never change.
type Manifest struct {
	Digest    string             `gorm:"primaryKey"`
	Platforms []ManifestPlatform `gorm:"serializer:json"`
	CreatedAt int64              `gorm:"autoCreateTime:false"`
}

// ManifestPlatform is a platform that an image is made for, with the digest of its manifest.
type ManifestPlatform struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Variant string `json:"variant,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

// String is os/arch or os/arch/variant.
func (p ManifestPlatform) String() string {
	return Platform{OS: p.OS, Arch: p.Arch, Variant: p.Variant}.String()
}

// TableName implements gorm's Tabler.
func (Ignore) TableName() string { return "containers_ignores" }

// TableName implements gorm's Tabler.
func (Manifest) TableName() string { return "containers_manifests" }
