package compose

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/patchbay-dev/patchbay/core/texts"
)

// Kinds of errors: the machine reasons of a project that cannot be used.
const (
	// FileMissing: compose files are absent; Error.All tells whether all are.
	FileMissing = "compose_file_missing"
	// FileUnreadable: a file is there and cannot be read.
	FileUnreadable = "compose_file_unreadable"
	// FileRefused: a file is not one that may be read: its name, or the place where it lies.
	FileRefused = "compose_file_refused"
	// FileInvalid: what the files say cannot be understood, or is beyond the limits.
	FileInvalid = "compose_file_invalid"
	// NoServices: the files name no service.
	NoServices = "compose_no_services"
	// FilesEmpty: the label names no file.
	FilesEmpty = "config_files_empty"
	// FilesMissing: the label is absent.
	FilesMissing = "config_files_missing"
	// FilesRelative: the label has relative files, and no working directory is known.
	FilesRelative = "config_files_relative_path_rejected"
	// WorkingDirs: containers name different working directories.
	WorkingDirs = "working_dir_conflict"
	// FilesConflict: containers name different files, and none of the lists can be chosen.
	FilesConflict = "config_files_conflict"
)

// Error tells why a project cannot be used.
type Error struct {
	// Kind is one of the constants.
	Kind string
	// Detail is one line for people, without anything of what the files say; it may be empty.
	Detail string
	// All tells, for FileMissing, that every file is absent.
	All bool
}

// Error is the machine reason: the kind, and the detail after a colon.
func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Kind
	}
	return e.Kind + ": " + e.Detail
}

// AllFilesAbsent reports whether err means that every compose file of the project is gone.
func AllFilesAbsent(err error) bool {
	var told *Error
	return errors.As(err, &told) && told.Kind == FileMissing && told.All
}

// maxDetail is the longest detail, in bytes.
const maxDetail = 300

func invalidProject(detail string) *Error {
	return &Error{Kind: FileInvalid, Detail: oneLine(detail)}
}

func fileUnreadable(path string, err error) *Error {
	var deep *fs.PathError
	if errors.As(err, &deep) {
		err = deep.Err
	}
	return &Error{Kind: FileUnreadable, Detail: oneLine(filepath.Base(path) + ": " + err.Error())}
}

// oneLine bounds what an error says.
func oneLine(s string) string { return texts.OneLine(s, maxDetail) }
