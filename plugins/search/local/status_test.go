package local_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/search/local"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

func status(t *testing.T, b search.Backend) *search.IndexStatus {
	t.Helper()
	st, err := b.(search.Indexer).IndexStatus(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func reindex(t *testing.T, b search.Backend) {
	t.Helper()
	if err := b.(search.Indexer).Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// isReady reports whether all sources are indexed and no re-index goes on.
func isReady(st *search.IndexStatus) bool {
	for _, s := range st.Sources {
		if s.State != search.SourceReady {
			return false
		}
	}
	return !st.Reindexing && len(st.Sources) > 0
}

func TestIndexStatus(t *testing.T) {
	w := newWiki(t)
	hold := make(chan struct{})
	w.hold = hold
	b, _ := siteHouse(t, w, time.Hour).open(t)
	eventually(t, "the visit has begun", func() bool { return w.asked(http.StatusOK) > 0 && len(finds(t, b, "credits")) > 0 })
	st := status(t, b)
	if len(st.Sources) != 2 || st.Sources[0].Name != "docs" || st.Sources[1].Name != w.URL+"/guide/" {
		t.Fatalf("sources: %+v", st.Sources)
	}
	files, site := st.Sources[0], st.Sources[1]
	if files.Kind != search.SourceFiles || files.State != search.SourceReady || files.Documents == 0 || files.Documents != st.Documents ||
		files.LastVisit.IsZero() {
		t.Errorf("files during the visit: %+v", files)
	}
	if site.Kind != search.SourceSite || site.State != search.SourceIndexing || site.Documents != 0 || !site.LastVisit.IsZero() ||
		st.Bytes == 0 || st.Reindexing {
		t.Errorf("site during the visit: %+v of %+v", site, st)
	}
	close(hold)
	eventually(t, "the site is indexed", func() bool { return isReady(status(t, b)) })
	st = status(t, b)
	site = st.Sources[1]
	if site.Documents != 3 || site.Done != 3 || site.Total != 3 || st.Documents != files.Documents+3 {
		t.Errorf("site after the visit: %+v of %+v", site, st)
	}
	if site.LastVisit.IsZero() || !site.NextVisit.After(site.LastVisit) || site.LastError != "" {
		t.Errorf("visits: %+v", site)
	}
}

func TestIndexStatusOfASiteThatFails(t *testing.T) {
	w := newWiki(t)
	h := siteHouse(t, w, time.Hour)
	h.cfg.Sites = []string{w.URL + "/guide/?token=confidential"}
	w.status = http.StatusServiceUnavailable
	b, _ := h.open(t)
	eventually(t, "the visit has failed", func() bool { return status(t, b).Sources[1].State == search.SourceFailed })
	site := status(t, b).Sources[1]
	if site.LastError == "" || strings.Contains(site.Name+site.LastError, "confidential") || site.NextVisit.IsZero() {
		t.Errorf("got %+v", site)
	}
}

// A re-index asks for every page and reads every file again; meanwhile searches find what they found before.
func TestReindexWhileSearching(t *testing.T) {
	w := newWiki(t)
	b, _ := siteHouse(t, w, time.Hour).open(t)
	// The status counts pages a moment before a search finds them.
	eventually(t, "the site is indexed", func() bool { return isReady(status(t, b)) && len(finds(t, b, "foghorn")) == 1 })
	before, asked := status(t, b), w.asked(http.StatusOK)
	hold := make(chan struct{})
	w.change(func() { w.hold = hold })
	reindex(t, b)
	reindex(t, b)
	eventually(t, "the visit has begun", func() bool { return w.asked(http.StatusOK) > asked })
	for range 20 {
		if st := status(t, b); !st.Reindexing {
			t.Fatalf("status during the visit: %+v", st)
		}
		if got := finds(t, b, "foghorn"); len(got) != 1 {
			t.Fatalf("a search during the re-index finds %v", got)
		}
		if got := finds(t, b, "credits reserved"); len(got) == 0 {
			t.Fatal("a search during the re-index finds no file")
		}
	}
	close(hold)
	eventually(t, "the re-index has ended", func() bool { return isReady(status(t, b)) })
	after := status(t, b)
	if after.Documents != before.Documents || !after.Sources[1].LastVisit.After(before.Sources[1].LastVisit) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	// The robots.txt and three pages, in full and once.
	if got := w.asked(http.StatusOK) - asked; got != 4 || w.asked(http.StatusNotModified) != 0 {
		t.Errorf("%d answers in full, %d without content", got, w.asked(http.StatusNotModified))
	}
}

// What a page led to stays when the page fails during a re-index.
func TestReindexWithAPageThatFails(t *testing.T) {
	w := newWiki(t)
	w.pages["/guide/horn"] = `<title>Foghorn</title><p>The foghorn sounds in mist.</p><a href="bell">bell</a>`
	w.pages["/guide/bell"] = `<title>Bell</title><p>A brass carillon instead.</p>`
	b, _ := siteHouse(t, w, time.Hour).open(t)
	eventually(t, "the site is indexed", func() bool { return isReady(status(t, b)) })
	w.change(func() { w.broken = "/guide/horn" })
	reindex(t, b)
	eventually(t, "the visit has failed", func() bool {
		st := status(t, b)
		return !st.Reindexing &&
			st.Sources[1].State == search.SourceFailed
	})
	if len(finds(t, b, "foghorn")) != 1 || len(finds(t, b, "carillon")) != 1 {
		t.Error("a page that fails was taken out, or what it led to")
	}
}

// envReindex makes a process of the tests begin a re-index of the directory that it names, and wait to be killed.
const envReindex = "PATCHBAY_TEST_REINDEX"

// reindexAndWait opens a backend, begins a re-index and waits for the end of the process.
func reindexAndWait(base, data, site string) error {
	h := &house{base: base, data: data, cfg: houseConfig()}
	h.cfg.Sites, h.cfg.AllowHosts = []string{site + "/guide/"}, []string{strings.TrimPrefix(site, "http://")}
	open, diags := local.Definition().Build(h.instance(), h.cfg)
	if err := diags.Err(); err != nil {
		return err
	}
	b, err := open(context.Background())
	if err != nil {
		return err
	}
	if err := b.(search.Indexer).Reindex(context.Background()); err != nil {
		return err
	}
	select {}
}

func TestReindexSurvivesAKill(t *testing.T) {
	w := newWiki(t)
	h := siteHouse(t, w, time.Hour)
	b, closeIt := h.open(t)
	eventually(t, "the site is indexed", func() bool { return isReady(status(t, b)) })
	documents := status(t, b).Documents
	closeIt()
	asked, hold := w.asked(http.StatusOK), make(chan struct{})
	w.change(func() { w.hold = hold })
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), envReindex+"="+h.base, envReindex+"_DATA="+h.data, envReindex+"_SITE="+w.URL)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the visit has begun", func() bool { return w.asked(http.StatusOK) > asked })
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	b, _ = h.open(t)
	if got := finds(t, b, "foghorn"); len(got) != 1 {
		t.Errorf("after the kill a search finds %v", got)
	}
	if st := status(t, b); !st.Reindexing {
		t.Errorf("the re-index does not go on: %+v", st)
	}
	close(hold)
	eventually(t, "the re-index has ended", func() bool { return isReady(status(t, b)) })
	if st := status(t, b); st.Documents != documents || w.asked(http.StatusNotModified) != 0 {
		t.Errorf("%d documents instead of %d, %d pages were not asked for anew", st.Documents, documents, w.asked(http.StatusNotModified))
	}
}
