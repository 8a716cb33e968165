package releases

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/codehost/github/githubtest"
	"github.com/patchbay-dev/patchbay/plugins/internal/e2e/kit"
	"github.com/patchbay-dev/patchbay/plugins/internal/xsstest"
)

// attackTargets are what a vector of Markdown leads to: each asks for a script, or for a request to another site.
var attackTargets = []string{
	"javascript:top.ran=1", "JaVaScRiPt:top.ran=1", "javascript&colon;top.ran=1", "java\tscript:top.ran=1", "&#106;avascript:top.ran=1",
	"vbscript:top.ran=1", "data:text/html,<script>top.ran=1</script>",
	"//evil.localhost/x", "http://evil.localhost/x",
}

// markdownVectors are texts of Markdown that try the same as the vectors of HTML: links and images, titles, autolinks, references,
// code and tables around HTML.
func markdownVectors(all []xsstest.Vector) (out []string) {
	for _, to := range attackTargets {
		out = append(out, "[a]("+to+")", "![a]("+to+")", "<"+to+">", "[a]: "+to+"\n\n[a]", "[![a]("+to+")]("+to+")",
			`[a](<`+to+`> "x\" onmouseover=top.ran=1")`)
	}
	for _, v := range all {
		out = append(out, v.HTML, "| a |\n|---|\n| "+strings.ReplaceAll(v.HTML, "\n", " ")+" |\n\n> "+strings.ReplaceAll(v.HTML, "\n",
			" ")+"\n\n```html\n"+v.HTML+"\n```\n\n[x](/"+v.HTML+")")
	}
	return out
}

// TestReleasesHoldAttacks: of titles and texts of releases that try everything, no script runs, and no request leaves: neither on
// our pages, nor where what these have of the releases stands alone, without a policy.
func TestReleasesHoldAttacks(t *testing.T) {
	t.Parallel()
	vectors := markdownVectors(xsstest.Vectors(t))
	hub := githubtest.New(t)
	at := time.Now().UTC().Truncate(time.Second).Add(-time.Hour)
	// A repository is read up to its 150th release.
	const each = 100
	var repos []string
	for begin := 0; begin < len(vectors); begin += each {
		name := fmt.Sprintf("acme/r%d", begin/each)
		repos = append(repos, name)
		hub.AddRepo(githubtest.Repo{FullName: name})
		hub.Change(func(s *githubtest.Server) {
			for i, v := range vectors[begin:min(begin+each, len(vectors))] {
				s.Content(name).Releases = append(s.Content(name).Releases,
					&githubtest.Release{ID: int64(begin + i + 1), Tag: "v" + strconv.Itoa(begin+i), Name: v, Body: v,
						At: at.Add(-time.Duration(i) * time.Second)})
			}
		})
	}
	c := kit.StartCore(t, kit.ReleasesHCL(hub, `"`+strings.Join(repos, `", "`)+`"`))
	key := releasesKey(c)
	if got := c.ReleasesAPI(t, key, http.MethodPost, "sync/releases", ""); got.Status != http.StatusOK {
		t.Fatal(got.Body)
	}
	var stored int
	kit.Eventually(t, kit.StartWithin, "every release is stored", func() bool {
		stored = 0
		for _, name := range repos {
			for path := "feed?types=releases&limit=100&scope=repo&items=" + name; path != ""; {
				page := kit.Decode[struct {
					Items []any
					Next  *string `json:"next_cursor"`
				}](t, c.ReleasesAPI(t, key, http.MethodGet, path, "").Body)
				stored += len(page.Items)
				path = ""
				if page.Next != nil {
					path = "feed?types=releases&limit=100&scope=repo&items=" + name + "&cursor=" + *page.Next
				}
			}
		}
		return stored == len(vectors)
	})
	// mainOf returns what a page has besides its frame.
	mainOf := func(path string) string {
		t.Helper()
		a := c.Send(t, kit.Request{Method: http.MethodGet, Path: path, Token: key, Header: http.Header{"Accept": {"text/html"}}})
		_, rest, ok := strings.Cut(a.Body, "<main")
		part, _, end := strings.Cut(rest, "</main>")
		if a.Status != http.StatusOK || !ok || !end {
			t.Fatalf("%s: %d %.200s", path, a.Status, a.Body)
		}
		return "<main" + part + "</main>"
	}
	var notes, pages []string
	for i := range vectors {
		path := fmt.Sprintf("/releases/acme/r%d/releases/tag/v%d", i/each, i)
		whole := mainOf(path)
		pages = append(pages, whole)
		_, article, _ := strings.Cut(whole, `<article class="card notes">`)
		article, _, _ = strings.Cut(article, "</article>")
		notes = append(notes, article)
	}
	pages = append(pages, mainOf("/releases/feed"), mainOf("/releases/releases?q=v1*"))
	checkAttacksAlone(t, vectors, notes, pages)
	checkAttacksOnPages(t, c, repos, len(vectors))
}

// checkAttacksAlone shows notes, and whole pages, where no policy protects them.
func checkAttacksAlone(t *testing.T, vectors, notes, pages []string) {
	t.Helper()
	alone := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		kind, number, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
		i, _ := strconv.Atoi(number)
		switch kind {
		case "notes":
			_, _ = w.Write([]byte("<!doctype html><body>" + notes[i]))
		case "pages":
			_, _ = w.Write([]byte("<!doctype html><body>" + strings.Join(pages, "\n")))
		case "favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = w.Write([]byte("<!doctype html><title>Frames</title><body>"))
		}
	}))
	t.Cleanup(alone.Close)
	b := kit.Browse(t, &kit.Core{Base: alone.URL})
	b.Open("/")
	urls := make([]string, len(notes))
	for i := range notes {
		urls[i] = "/notes/" + strconv.Itoa(i)
	}
	b.CheckFrames(t, vectors, urls, "")
	// The pages have forms and buttons of their own: of them it is asked that nothing runs and nothing is loaded.
	loaded, err := kit.Evaluate[int](b, `(async () => {
		const frame = document.createElement("iframe");
		await new Promise((loaded) => { frame.onload = loaded; frame.src = "/pages/0"; document.body.append(frame); });
		for (const e of frame.contentDocument.querySelectorAll("a, button, summary, [tabindex]")) { e.dispatchEvent(new Event("mouseover", {bubbles: true})); e.focus(); }
		await new Promise((later) => setTimeout(later, 500));
		return frame.contentDocument.querySelectorAll("script, iframe, object, embed, img, video, audio, link, base, svg image").length + (window.ran === undefined ? 0 : 1000);
	})()`)
	if err != nil || loaded != 0 {
		t.Errorf("the pages have %d elements that load something (1000: a script ran): %v", loaded, err)
	}
}

// checkAttacksOnPages opens the pages themselves. The browser tells of every script that it was asked to run, and of every request
// to another origin.
func checkAttacksOnPages(t *testing.T, c *kit.Core, repos []string, count int) {
	t.Helper()
	b := kit.Browse(t, c)
	paths := []string{"/releases/feed", "/releases/releases", "/releases/focus/repo/" + repos[0]}
	for i := 0; i < count; i += 12 {
		paths = append(paths, fmt.Sprintf("/releases/acme/r%d/releases/tag/v%d", i/100, i))
	}
	for _, path := range slices.Compact(paths) {
		b.Open(path)
		kit.RequireValue(b, "a script was run on "+path, `window.ran === undefined`, true)
	}
}
