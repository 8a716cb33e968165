package containers

// backupRecord is a copy of one mount.
type backupRecord struct {
	ID           string `gorm:"primaryKey"`
	StackID      string
	ServiceID    string
	JobID        string
	Kind         string
	Target       string
	Destination  string
	Status       string
	Path         string
	Size         int64
	Digest       string
	Error        string
	CreatedAt    int64 `gorm:"autoCreateTime:false"`
	FinishedAt   int64
	CleanupAfter int64
	DeletedAt    int64
}

// TableName implements gorm's Tabler.
func (backupRecord) TableName() string { return "containers_backups" }
