package config

// ReadOnlyReason says why a configuration file cannot be written, in a word for programs.
type ReadOnlyReason string

// The reasons.
const (
	// ReadOnlyJSON: the file is in HCL's JSON syntax.
	ReadOnlyJSON ReadOnlyReason = "json"
	// ReadOnlyFile: the file must not be written: by its mode, its owner, or its file system.
	ReadOnlyFile ReadOnlyReason = "file"
	// ReadOnlyFolder: no file can be made in the folder.
	ReadOnlyFolder ReadOnlyReason = "folder"
	// ReadOnlyMount: the file is mounted by itself, as into a container, and so cannot be replaced.
	ReadOnlyMount ReadOnlyReason = "mount"
)
