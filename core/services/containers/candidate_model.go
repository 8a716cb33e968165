package containers

// ignoreRecord is a rule that keeps candidates of a service back.
type ignoreRecord struct {
	ID        string `gorm:"primaryKey"`
	ServiceID string
	Enabled   bool
	Kind      string
	Value     string
	Note      string
	CreatedAt int64 `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (ignoreRecord) TableName() string { return "containers_ignores" }

// manifestRecord keeps the platforms behind a digest, which never change.
type manifestRecord struct {
	Digest    string          `gorm:"primaryKey"`
	Platforms []platformEntry `gorm:"serializer:json"`
	CreatedAt int64           `gorm:"autoCreateTime:false"`
}

// TableName implements gorm's Tabler.
func (manifestRecord) TableName() string { return "containers_manifests" }

type platformEntry struct {
	OS      string `json:"os"`
	Arch    string `json:"arch"`
	Variant string `json:"variant,omitempty"`
	Digest  string `json:"digest,omitempty"`
}

func (p platformEntry) String() string {
	return Platform{OS: p.OS, Arch: p.Arch, Variant: p.Variant}.String()
}
