package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
	"github.com/patchbay-dev/patchbay/core/settings"
)

func TestCallStats(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	s := newCallStats()
	s.now = func() time.Time { return now }
	if calls, failures, latency := s.countCalls("search.docs"); calls != 0 || failures != 0 || latency != nil {
		t.Errorf("before the first call: %d, %d, %v", calls, failures, latency)
	}
	s.addCall("search.docs", 10*time.Millisecond, false)
	s.addCall("search.docs", 20*time.Millisecond, true)
	now = now.Add(2 * time.Minute)
	s.addCall("search.docs", 4*time.Millisecond, false)
	s.addCall("search.other", time.Second, true)
	calls, failures, latency := s.countCalls("search.docs")
	if calls != 3 || failures != 1 || !cmp.Equal(latency, []float64{15, 4}) {
		t.Errorf("got %d calls, %d failures, %v", calls, failures, latency)
	}
	now = now.Add((callMinutes - 1) * time.Minute)
	if _, _, latency := s.countCalls("search.docs"); !cmp.Equal(latency, []float64{4}) {
		t.Errorf("when the first minute is too old: %v", latency)
	}
	now = now.Add(time.Minute)
	s.addCall("search.docs", 8*time.Millisecond, false)
	if calls, _, latency := s.countCalls("search.docs"); calls != 4 || !cmp.Equal(latency, []float64{8}) {
		t.Errorf("when a place is used again: %d calls, %v", calls, latency)
	}
}

func TestBlocksInEffect(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "plugin.hcl")
	const text = `
search "files" "docs" {
  timeout = "5s"
}
search "files" "spare" {}
service "search" {
  base_url = "/search"
  backend  = search.docs
}
`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	set, diags, err := settings.Source{Path: path, Env: func(string) (string, bool) { return "", false }, Services: Modules()}.Read()
	must(t, err)
	must(t, diags.Err())
	blocks := listBlocks(set.File)
	docs, spare := blocks[`search "files" "docs" {`], blocks[`search "files" "spare" {`]
	if !strings.Contains(docs, `timeout = "5s" # plugin.hcl:3`) || !strings.HasSuffix(docs, "}\n") || strings.Contains(docs, "spare") {
		t.Errorf("the first block is:\n%s", docs)
	}
	if !strings.HasPrefix(spare, `search "files" "spare" {`) || strings.Contains(spare, "base_url") {
		t.Errorf("the second block is:\n%s", spare)
	}
}

func TestResidentMemory(t *testing.T) {
	_, err := os.Stat("/proc/self/statm")
	testkit.Require(t, "/proc", err == nil, "mount it, so that the memory of processes can be read")
	if n := residentMemory(os.Getpid()); n < 1<<20 {
		t.Errorf("this process has %d bytes", n)
	}
	if n := residentMemory(0); n != 0 {
		t.Errorf("no process has %d bytes", n)
	}
}
