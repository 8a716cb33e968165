package local

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// maxError bounds the error of a source, in bytes.
const maxError = 300

var _ search.Indexer = (*backend)(nil)

// Reindex implements search.Indexer. Files are read and pages are asked for once more, and each takes the place of what the
// index has of it.
func (b *backend) Reindex(context.Context) error {
	b.reindexing.Lock()
	defer b.reindexing.Unlock()
	if b.follower.takeSnapshot().isReindexing() {
		return nil
	}
	if err := b.follower.generation.advanceNumber(); err != nil {
		return err
	}
	b.follower.lookAgain()
	select {
	case b.visit <- struct{}{}:
	default:
	}
	return nil
}

// IndexStatus implements search.Indexer.
func (b *backend) IndexStatus(context.Context) (*search.IndexStatus, error) {
	snap := b.follower.takeSnapshot()
	out := &search.IndexStatus{Bytes: diskUse(b.dir), Reindexing: snap.isReindexing()}
	for _, e := range snap.manifest {
		if e.Text {
			out.Documents++
		}
	}
	for _, r := range b.follower.roots {
		out.Sources = append(out.Sources, snap.rootStatus(r))
	}
	for _, s := range b.follower.sites {
		out.Sources = append(out.Sources, snap.siteStatus(s))
	}
	return out, nil
}

// snapshot is what the follower knew at one moment.
type snapshot struct {
	generation      int64
	ready           bool
	looked          time.Time
	lastErr, unread string
	manifest        map[string]entry
	files           map[string]file
	left            map[string]leftOut
	sites           []*site
}

func (f *follower) takeSnapshot() snapshot {
	out := snapshot{generation: f.generation.currentNumber(), sites: f.sites}
	select {
	case <-f.ready:
		out.ready = true
	default:
	}
	f.mu.RLock()
	defer f.mu.RUnlock()
	out.looked, out.lastErr, out.unread, out.manifest, out.files, out.left = f.looked, f.lastErr, f.unread, f.manifest, f.files, f.left
	return out
}

// isReindexing reports whether a file or a site is not yet of this generation, which has begun with a re-index.
func (s snapshot) isReindexing() bool {
	if s.generation == 0 {
		return false
	}
	for address := range s.files {
		if s.manifest[address].Generation != s.generation {
			return true
		}
	}
	for _, site := range s.sites {
		if site.currentState().Generation != s.generation {
			return true
		}
	}
	return false
}

// countFile adds a file to the figures of its source.
func (s snapshot) countFile(out *search.IndexSource, address string) {
	out.Total++
	e, ok := s.manifest[address]
	if ok && e.Generation == s.generation {
		out.Done++
	}
	if e.Text {
		out.Documents++
	}
}

// rootStatus returns the status of a folder or file. What another root has as well counts for the first.
func (s snapshot) rootStatus(r root) search.IndexSource {
	out := search.IndexSource{Name: cmp.Or(r.name, "."), Kind: search.SourceFiles, State: search.SourceReady, LastVisit: s.looked}
	for address, f := range s.files {
		if !f.page && f.root == r.name {
			s.countFile(&out, address)
		}
	}
	out.LeftOut = s.listLeftOut(r)
	switch {
	case s.lastErr != "" && (s.unread == "" || isBelow(s.unread, r.path)):
		out.State, out.LastError = search.SourceFailed, texts.Truncate(s.lastErr, maxError)
	case !s.ready || out.Done < out.Total:
		out.State = search.SourceIndexing
	}
	return out
}

// siteStatus returns the status of a site. During a visit its progress is that of the visit.
func (s snapshot) siteStatus(site *site) search.IndexSource {
	out := search.IndexSource{Name: site.shownName(), Kind: search.SourceSite, State: search.SourceReady}
	for address := range site.listPages() {
		s.countFile(&out, address)
	}
	site.mu.RLock()
	defer site.mu.RUnlock()
	st := site.state
	if st.Tried > 0 {
		out.LastVisit = time.UnixMilli(st.Tried)
	}
	out.LeftOut = st.LeftOut
	out.NextVisit, out.LastError = site.next, texts.Truncate(st.Problem, maxError)
	switch {
	case site.visit != nil:
		out.State, out.NextVisit = search.SourceIndexing, time.Time{}
		out.Done, out.Total = int64(site.visit.done), int64(site.visit.total)
	case st.Generation != s.generation || st.Tried == 0:
		out.State = search.SourcePending
	case out.LastError != "":
		out.State = search.SourceFailed
	case out.Done < out.Total:
		out.State = search.SourceIndexing
	}
	return out
}

// isBelow reports whether a path is a directory or lies in it.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, string(filepath.Separator))+string(filepath.Separator))
}

// diskUse returns how many bytes the files of a directory have. Files that go meanwhile are left out.
func diskUse(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
