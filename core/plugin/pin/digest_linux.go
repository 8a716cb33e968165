package pin

import (
	"fmt"
	"io/fs"
	"syscall"
	"time"
)

// fileState returns a text that differs after any change of a file's content, name or mode, and the time of the last change. Unlike
// the time of modification, that of the change cannot be set by who may write the file.
func fileState(info fs.FileInfo) (string, time.Time) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", time.Time{}
	}
	return fmt.Sprintf("%d %d %d %d %d", st.Dev, st.Ino, st.Size, st.Mtim.Nano(), st.Ctim.Nano()), time.Unix(st.Ctim.Unix())
}
