package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/crawl"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

const fileState = "state.json"

// siteState is what is kept of the visits to a site.
type siteState struct {
	URL string `json:"url"`
	// Refreshed is when the pages were last as the site had them, Tried when that was last attempted; milliseconds.
	Refreshed int64 `json:"refreshed"`
	Tried     int64 `json:"tried"`
	// Failures counts attempts without success since, Problem is that of the last one.
	Failures int    `json:"failures"`
	Problem  string `json:"problem,omitempty"`
	// Generation is that of the last attempt.
	Generation int64 `json:"generation,omitempty"`
	// Format is that of the pages, see pageFormat.
	Format int `json:"format,omitempty"`
	// LeftOut is what the last visit that came to its end left out.
	LeftOut []search.IndexLeftOut `json:"leftOut,omitempty"`
}

// site is one site with its pages, which are kept in files of a directory. One goroutine changes it.
type site struct {
	siteAddress
	dir string

	mu    sync.RWMutex
	state siteState
	files map[string]file
	// visit is the one under way, nil without one; next is when the next one is due.
	visit *siteVisit
	next  time.Time
}

// siteVisit is how far a visit is, in pages.
type siteVisit struct{ done, total int }

// openSite reads what is kept of a site. What is damaged is dropped, and then the site is visited at once.
func openSite(dir string, a siteAddress) (*site, error) {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return nil, fmt.Errorf("make directory of a site: %w", err)
	}
	s := &site{siteAddress: a, dir: dir, files: map[string]file{}}
	if data, err := os.ReadFile(filepath.Join(dir, fileState)); err == nil && json.Unmarshal(data, &s.state) != nil {
		s.state = siteState{}
	}
	s.state.URL = a.url.String()
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("read directory of a site: %w", err)
	}
	for _, e := range entries {
		full := filepath.Join(dir, e.Name())
		if !strings.HasSuffix(e.Name(), pageExt) {
			continue
		}
		if err := s.loadPage(full); err != nil {
			_ = os.Remove(full)
			s.state.Refreshed = 0
		}
	}
	return s, nil
}

func (s *site) loadPage(full string) error {
	p, text, err := openPage(full)
	if err != nil {
		return err
	}
	_ = text.Close()
	return s.notePage(p.URL, full)
}

// notePage takes a page's file into the list.
func (s *site) notePage(address, full string) error {
	info, err := os.Stat(full)
	if err != nil {
		return errors.New("page cannot be read")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.files[address] = file{address: address, path: full, size: info.Size(), mtime: info.ModTime(), page: true}
	return nil
}

// listPages are the pages as files of the index.
func (s *site) listPages() map[string]file {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return maps.Clone(s.files)
}

// storedLinks returns the links that a page had, without what would let the site say that the page is unchanged.
func (s *site) storedLinks(address string) (crawl.Known, bool) {
	k, ok := s.knownPage(address)
	return crawl.Known{Links: k.Links}, ok
}

// setLeftOut notes what a visit left out.
func (s *site) setLeftOut(all []search.IndexLeftOut) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state.LeftOut = all
}

// beginVisit notes that a visit begins.
func (s *site) beginVisit() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visit = &siteVisit{}
}

// noteProgress notes how far the visit under way is.
func (s *site) noteProgress(done, total int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.visit != nil && done > s.visit.done {
		s.visit = &siteVisit{done: done, total: max(done, total)}
	}
}

// endVisit notes that the visit has ended, and when the next one is due.
func (s *site) endVisit(next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.visit, s.next = nil, next
}

// knownPage tells the crawler what is kept of a page.
func (s *site) knownPage(address string) (crawl.Known, bool) {
	s.mu.RLock()
	f, ok := s.files[address]
	s.mu.RUnlock()
	if !ok {
		return crawl.Known{}, false
	}
	p, err := readPage(f.path)
	if err != nil {
		return crawl.Known{}, false
	}
	return p.toKnown(), true
}

func (s *site) putPage(p crawl.Page) error {
	data, err := storedFrom(p).encodePage()
	if err != nil {
		return err
	}
	full := filepath.Join(s.dir, pageName(p.URL))
	if err := writeFile(full, data); err != nil {
		return fmt.Errorf("keep page: %w", err)
	}
	return s.notePage(p.URL, full)
}

func (s *site) removePage(address string) {
	s.mu.Lock()
	f, ok := s.files[address]
	delete(s.files, address)
	s.mu.Unlock()
	if ok {
		_ = os.Remove(f.path)
	}
}

// keepOnly removes all pages but these.
func (s *site) keepOnly(there map[string]bool) {
	for address := range s.listPages() {
		if !there[address] {
			s.removePage(address)
		}
	}
}

// noteAttempt notes how an attempt of a generation ended; no problem means that the pages are as the site has them.
func (s *site) noteAttempt(at time.Time, generation int64, problem string) error {
	s.mu.Lock()
	s.state.Tried, s.state.Generation, s.state.Problem = at.UnixMilli(), generation, problem
	s.state.Failures++
	if problem == "" {
		s.state.Refreshed, s.state.Failures, s.state.Format = s.state.Tried, 0, pageFormat
	}
	data, err := json.Marshal(s.state)
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("keep state: %w", err)
	}
	return writeFile(filepath.Join(s.dir, fileState), data)
}

func (s *site) currentState() siteState {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.state
}

// problemText is what an operator should know, or empty.
func (s *site) problemText() string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	switch {
	case s.state.Problem == "":
		return ""
	case len(s.files) == 0:
		return fmt.Sprintf("site %s: %s; nothing of it is indexed", s.shownName(), s.state.Problem)
	}
	since := "an earlier visit"
	if s.state.Refreshed > 0 {
		since = time.UnixMilli(s.state.Refreshed).UTC().Format(time.RFC3339)
	}
	return fmt.Sprintf("site %s: %s; what is indexed of it is of %s at the least", s.shownName(), s.state.Problem, since)
}
