package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

const (
	// maxBatchFiles and maxBatchBytes bound what is indexed at once.
	maxBatchFiles = 128
	maxBatchBytes = 1 << 20
	// freshness is how long after its modification a file is read again although size and time say that it is the same:
	// clocks of file systems are coarse.
	freshness = 2 * time.Second
	// idleShare is how many times as long as the last look the pause lasts at least, so that many files cost little.
	idleShare = 20
)

// follower keeps an index equal to the files.
type follower struct {
	index *index
	roots []root
	rules *rules
	log   hclog.Logger
	now   func() time.Time

	mu       sync.RWMutex
	manifest map[string]entry
	files    map[string]file
	// ready is closed after the first complete look at the files.
	ready chan struct{}
	once  sync.Once
	// lastErr is the text of the latest failure, so that it is logged once.
	lastErr string
}

// run looks for changes until ctx ends, after pauses of interval, or longer where looking itself takes long.
func (f *follower) run(ctx context.Context, interval time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		start := f.now()
		err := f.sync(ctx)
		if ctx.Err() != nil {
			return
		}
		f.report(err)
		f.once.Do(func() { close(f.ready) })
		timer.Reset(max(interval, idleShare*f.now().Sub(start)))
	}
}

func (f *follower) report(err error) {
	text := ""
	if err != nil {
		text = err.Error()
	}
	if text != f.lastErr && text != "" {
		f.log.Error("search index does not follow the files", "error", err)
	}
	f.lastErr = text
}

// sync makes the index equal to the files once.
func (f *follower) sync(ctx context.Context) error {
	files, unread, err := scan(ctx, f.roots, f.rules)
	if err != nil {
		return err
	}
	f.mu.Lock()
	f.files = files
	f.mu.Unlock()
	var gone []string
	for address := range f.manifest {
		if _, ok := files[address]; !ok {
			gone = append(gone, address)
		}
	}
	if err := f.drop(ctx, gone); err != nil {
		return err
	}
	if err := f.refresh(ctx, files); err != nil {
		return err
	}
	if unread != "" {
		return fmt.Errorf("scan files: %s cannot be read", unread)
	}
	return nil
}

func (f *follower) drop(ctx context.Context, gone []string) error {
	if len(gone) == 0 {
		return nil
	}
	u, next := f.index.begin(), maps.Clone(f.manifest)
	for _, address := range gone {
		u.remove(address, next[address])
		delete(next, address)
	}
	return f.apply(ctx, u, next)
}

func (f *follower) apply(ctx context.Context, u *update, next map[string]entry) error {
	if err := f.index.commit(ctx, u, next); err != nil {
		return err
	}
	f.mu.Lock()
	f.manifest = next
	f.mu.Unlock()
	return nil
}

// refresh indexes the files that are new or changed, in batches.
func (f *follower) refresh(ctx context.Context, files map[string]file) error {
	u, next := f.index.begin(), maps.Clone(f.manifest)
	for _, address := range slices.Sorted(maps.Keys(files)) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		old, known := next[address]
		if known && unchanged(files[address], old) {
			continue
		}
		fresh, err := f.replace(u, files[address], old)
		if err != nil {
			return err
		}
		next[address] = fresh
		if u.files < maxBatchFiles && u.bytes < maxBatchBytes {
			continue
		}
		if err := f.apply(ctx, u, next); err != nil {
			return err
		}
		u, next = f.index.begin(), maps.Clone(next)
	}
	if u.files > 0 {
		return f.apply(ctx, u, next)
	}
	// Nothing is written for what only looked changed; after a restart it is looked at once more.
	f.mu.Lock()
	f.manifest = next
	f.mu.Unlock()
	return nil
}

func unchanged(now file, e entry) bool {
	return e.Size == now.size && e.MTime == now.mtime.UnixNano() && e.Checked-e.MTime > int64(freshness)
}

// replace puts a file's content in the place of what the index has of it.
func (f *follower) replace(u *update, now file, old entry) (entry, error) {
	fresh := entry{Size: now.size, MTime: now.mtime.UnixNano(), Checked: f.now().UnixNano()}
	data, err := read(now, f.rules.maxSize)
	if err != nil {
		// Without a time it is tried again at the next look.
		u.remove(now.address, old)
		return entry{}, nil
	}
	sum := sha256.Sum256(data)
	fresh.Hash = hex.EncodeToString(sum[:])
	if fresh.Hash == old.Hash {
		fresh.Passages, fresh.Text = old.Passages, old.Text
		return fresh, nil
	}
	u.remove(now.address, old)
	doc, ok := parse(now.path, data, extract.Markdown)
	if !ok {
		return fresh, nil
	}
	fresh.Passages, fresh.Text = len(doc.passages), true
	return fresh, u.put(now.address, plainPath(now.address), doc)
}

// plainPath is the path of an address without escapes.
func plainPath(address string) string {
	rel := strings.TrimPrefix(address, scheme)
	if plain, err := url.PathUnescape(rel); err == nil {
		return plain
	}
	return rel
}

// document finds an indexed document by its address, with or without escapes.
func (f *follower) document(at string) (file, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	for _, a := range []string{at, address(strings.TrimPrefix(at, scheme))} {
		if e, ok := f.manifest[a]; ok && e.Text {
			found, ok := f.files[a]
			return found, ok
		}
	}
	return file{}, false
}
