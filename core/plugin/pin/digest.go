// Package pin says what exactly a plugin consists of: the digests of its files and of the folders that an interpreter reads, which a lock
// file pins.
package pin

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"
)

// knownDigest is the digest of a file in one state.
type knownDigest struct{ state, digest string }

var (
	// knownDigests are the digests of unchanged files by path, as knownDigest: many instances have the same executable.
	knownDigests sync.Map
	// digestReads holds the files that are being read, by path and state.
	digestReads singleflight.Group
)

// settleTime is how long a file must have been unchanged for its digest to be kept: a write within the granularity of the
// file system's clock would leave the state as it is.
const settleTime = 2 * time.Second

// FileDigest returns the SHA-256 sum of a file in lower-case hex. A file is read once, and again when it has changed since.
func FileDigest(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if state, _ := fileState(info); state != "" {
		if known, ok := knownDigests.Load(path); ok && known.(knownDigest).state == state {
			return known.(knownDigest).digest, nil
		}
	}
	f, digest, err := OpenFile(path)
	if err != nil {
		return "", err
	}
	return digest, f.Close()
}

// OpenFile opens a regular file and returns it with its SHA-256 sum in lower-case hex. The sum is that of the file which is open, whatever
// has its name by then. The caller closes it.
func OpenFile(path string) (*os.File, string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would wait for its writer
	if err != nil {
		return nil, "", err
	}
	digest, err := openDigest(path, f)
	if err != nil {
		_ = f.Close()
		return nil, "", err
	}
	return f, digest, nil
}

// openDigest returns the sum of an open file.
func openDigest(path string, f *os.File) (string, error) {
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is no regular file", path)
	}
	state, changed := fileState(info)
	if state == "" || time.Since(changed) < settleTime {
		return readDigest(path, f)
	}
	if known, ok := knownDigests.Load(path); ok && known.(knownDigest).state == state {
		return known.(knownDigest).digest, nil
	}
	digest, err, _ := digestReads.Do(path+"\x00"+state, func() (any, error) {
		digest, err := readDigest(path, f)
		if err != nil {
			return "", err
		}
		after, err := f.Stat()
		if err != nil {
			return "", err
		}
		if now, _ := fileState(after); now == state {
			knownDigests.Store(path, knownDigest{state, digest})
		}
		return digest, nil
	})
	return digest.(string), err
}

func readDigest(path string, f *os.File) (string, error) {
	h := sha256.New()
	if _, err := io.Copy(h, io.NewSectionReader(f, 0, math.MaxInt64)); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
