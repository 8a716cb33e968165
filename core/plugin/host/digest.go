package host

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"sync"
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
	state, changed := fileState(info)
	if state == "" || time.Since(changed) < settleTime {
		return readDigest(path)
	}
	if known, ok := knownDigests.Load(path); ok && known.(knownDigest).state == state {
		return known.(knownDigest).digest, nil
	}
	digest, err, _ := digestReads.Do(path+"\x00"+state, func() (any, error) {
		digest, err := readDigest(path)
		if err != nil {
			return "", err
		}
		after, err := os.Stat(path)
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

func readDigest(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
