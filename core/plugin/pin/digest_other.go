//go:build !linux

package pin

import (
	"io/fs"
	"time"
)

// fileState returns "": what it takes to notice every change of a file is only known of Linux.
func fileState(fs.FileInfo) (string, time.Time) { return "", time.Time{} }
