package pin_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/core/plugin/pin"
)

// TestDigestFollowsTheFile changes a file of known digest in the ways that leave its size and its time of modification as they were.
func TestDigestFollowsTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "plugin")
	write := func(path, content string) time.Time {
		if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.ModTime()
	}
	expect := func(what, content string) {
		t.Helper()
		sum := sha256.Sum256([]byte(content))
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				if got, err := pin.FileDigest(path); err != nil || got != hex.EncodeToString(sum[:]) {
					t.Errorf("%s: %s, %v", what, got, err)
				}
			})
		}
		all.Wait()
	}
	modified := write(path, "first")
	expect("at once", "first")
	time.Sleep(2100 * time.Millisecond)
	expect("settled", "first")
	expect("known", "first")

	write(path, "other")
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
	expect("written in place", "other")
	time.Sleep(2100 * time.Millisecond)
	expect("settled again", "other")

	next := path + ".next"
	write(next, "third")
	if err := os.Chtimes(next, modified, modified); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(next, path); err != nil {
		t.Fatal(err)
	}
	expect("replaced", "third")

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := pin.FileDigest(path); !os.IsNotExist(err) {
		t.Errorf("a file that is gone: %v", err)
	}
}

// BenchmarkFileDigest tells what it costs to verify the executable of one more instance.
func BenchmarkFileDigest(b *testing.B) {
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := pin.FileDigest(self); err != nil {
			b.Fatal(err)
		}
	}
}
