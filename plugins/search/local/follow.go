package local

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
)

const (
	// freshness is how long after its modification a file is read again although size and time say that it is the same:
	// clocks of file systems are coarse.
	freshness = 2 * time.Second
	// idleShare is how many times as long as the last look the pause lasts at least, so that many files cost little.
	idleShare = 20
)

// follower keeps an index equal to the files.
type follower struct {
	index *index.Index
	roots []root
	rules *rules
	sites []*site
	// generation is that in which files are indexed.
	generation *generation
	documents  *documents.Reader

	log hclog.Logger
	now func() time.Time

	mu sync.RWMutex
	// The maps are replaced, never changed.
	manifest map[string]entry
	// written is the manifest of what a search finds: that of the last update that is complete.
	written map[string]entry
	// files is nil until they were listed once. left are those that their name or size keeps out of the index.
	files map[string]file
	left  map[string]leftOut
	// done and total are the progress of the look at the files that goes on.
	done, total int
	// ready is closed after the first complete look at the files, wake calls for one more look.
	ready chan struct{}
	wake  chan struct{}
	once  sync.Once
	// looked is when the last look at the files ended. lastErr is the text of its failure, so that it is logged once, and
	// unread the directory that could not be read.
	looked          time.Time
	lastErr, unread string
}

// unreadError is the failure to read a directory.
type unreadError struct{ path string }

func (e *unreadError) Error() string { return "scan files: " + e.path + " cannot be read" }

// runUntilDone looks for changes until ctx ends, after pauses of interval, or longer where looking itself takes long.
func (f *follower) runUntilDone(ctx context.Context, interval time.Duration) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-f.wake:
		}
		start := f.now()
		err := f.syncFiles(ctx)
		if ctx.Err() != nil {
			return
		}
		f.reportProblem(err)
		f.once.Do(func() { close(f.ready) })
		timer.Reset(max(interval, idleShare*f.now().Sub(start)))
	}
}

func (f *follower) reportProblem(err error) {
	text, unread := "", &unreadError{}
	if err != nil {
		text = err.Error()
		errors.As(err, &unread)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if text != f.lastErr && text != "" {
		f.log.Error("stopped watching files for changes", "error", err)
	}
	f.looked, f.lastErr, f.unread = f.now(), text, unread.path
}

// currentProblem is what keeps the index from following the files, or empty.
func (f *follower) currentProblem() string {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.lastErr
}

// lookAgain calls for another look at once.
func (f *follower) lookAgain() {
	select {
	case f.wake <- struct{}{}:
	default:
	}
}

// syncFiles makes the index equal to the files once.
func (f *follower) syncFiles(ctx context.Context) error {
	found, err := scanRoots(ctx, f.roots, f.rules)
	if err != nil {
		return err
	}
	files := found.files
	for _, s := range f.sites {
		for address, page := range s.listPages() {
			if _, ok := files[address]; !ok {
				files[address] = page
			}
		}
	}
	f.mu.Lock()
	f.files, f.left = files, found.left
	f.mu.Unlock()
	var gone []string
	for address := range f.manifest {
		if _, ok := files[address]; !ok {
			gone = append(gone, address)
		}
	}
	if err := f.dropDocuments(ctx, gone); err != nil {
		return err
	}
	if err := f.refreshFiles(ctx, files); err != nil {
		return err
	}
	if found.unread != "" {
		return &unreadError{path: found.unread}
	}
	return nil
}

func (f *follower) dropDocuments(ctx context.Context, gone []string) error {
	w := f.newWriter()
	for _, address := range gone {
		if err := w.removeDocument(ctx, address); err != nil {
			return err
		}
	}
	return w.commitRest(ctx)
}

// setWritten notes that a search finds what the manifest says.
func (f *follower) setWritten() {
	f.mu.Lock()
	f.written = f.manifest
	f.mu.Unlock()
}

func (f *follower) setManifest(m map[string]entry) {
	f.mu.Lock()
	f.manifest = m
	f.mu.Unlock()
}

// refreshFiles indexes the files that are new or changed, in batches. Those that take long come last, so that searches find the
// others meanwhile.
func (f *follower) refreshFiles(ctx context.Context, files map[string]file) error {
	var quick, slow []string
	generation := f.generation.currentNumber()
	for _, address := range slices.Sorted(maps.Keys(files)) {
		old, known := f.manifest[address]
		switch {
		case known && old.Generation == generation && isUnchanged(files[address], old) && !old.isRetryDue(f.now()):
		case documents.IsSlow(address):
			slow = append(slow, address)
		default:
			quick = append(quick, address)
		}
	}
	defer f.setProgress(0, 0)
	defer f.documents.Rest()
	if len(quick)+len(slow) > 0 {
		defer saveMemory()()
	}
	done := len(files) - len(quick) - len(slow)
	for _, addresses := range [][]string{quick, slow} {
		w := f.newWriter()
		for _, address := range addresses {
			f.setProgress(done, len(files))
			done++
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err := w.replaceDocument(ctx, files[address]); err != nil {
				return err
			}
		}
		if err := w.commitRest(ctx); err != nil {
			return err
		}
	}
	return nil
}

func isUnchanged(now file, e entry) bool {
	return e.Size == now.size && e.MTime == now.mtime.UnixNano() && e.Checked-e.MTime > int64(freshness)
}

// content is that of a file: bytes, or a page.
type content struct {
	data []byte
	page storedPage
}

func (f *follower) loadFile(from file) (c content, err error) {
	if from.page {
		c.page, err = readPage(from.path)
		return c, err
	}
	c.data, err = readFile(from, f.rules.sizeLimit(from.path))
	return c, err
}

func (c content) hashContent() string {
	data := c.data
	if c.page.URL != "" {
		data = []byte(c.page.Title + "\n" + c.page.Text)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// parseFile makes a document of the content; the text of a page is Markdown in either format. The error is a *documents.Error,
// or that of ctx.
func (f *follower) parseFile(ctx context.Context, name string, c content, format extract.Format) (document, error) {
	if c.page.URL != "" {
		return parsePage(c.page)
	}
	doc, err := f.documents.Read(ctx, name, c.data, format)
	if err != nil {
		return document{}, err
	}
	return newDocument(doc.Title, doc.Text, doc.Prose), nil
}

// plainPath is the path of an address without escapes.
func plainPath(address string) string {
	rel := strings.TrimPrefix(address, scheme)
	if plain, err := url.PathUnescape(rel); err == nil {
		return plain
	}
	return rel
}

// findDocument finds an indexed document by its address, with or without escapes.
func (f *follower) findDocument(at string) (file, bool) {
	f.mu.RLock()
	manifest := f.manifest
	f.mu.RUnlock()
	for _, a := range []string{at, escapeAddress(strings.TrimPrefix(at, scheme))} {
		if e, ok := manifest[a]; ok && e.Text {
			return f.fileAt(a)
		}
	}
	return file{}, false
}

// fingerprintFor tells what is known of a document's text.
func (f *follower) fingerprintFor(address string) fingerprint {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.manifest[address].Print
}
