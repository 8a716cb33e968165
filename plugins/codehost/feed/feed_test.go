package feed_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/codehost/feed"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/conformance"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/plugintest"
)

// publisher serves feeds as GitHub and PyPI do. It is a double of a public site.
func publisher(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	serve := func(pattern, file string) {
		body, err := os.ReadFile("testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" {
				t.Error("a token was sent")
			}
			w.Header().Set("Etag", `W/"1"`)
			w.Header().Set("Cache-Control", "public, max-age=600")
			if r.Header.Get("If-None-Match") == `W/"1"` {
				w.WriteHeader(http.StatusNotModified)
				return
			}
			_, _ = w.Write(body)
		})
	}
	serve("/ada/engine/releases.atom", "atom.xml")
	serve("/rss/project/engine/releases.xml", "rss.xml")
	mux.HandleFunc("/ada/limited/releases.atom", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	mux.HandleFunc("/ada/page/releases.atom",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html><p>Sign in</p></html>")) })
	mux.HandleFunc("/ada/bomb/releases.atom", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte(`<!DOCTYPE x [<!ENTITY a "` + strings.Repeat("x", 1000) +
			`"><!ENTITY b "&a;&a;&a;&a;">]><feed xmlns="http://www.w3.org/2005/Atom"><subtitle>&b;</subtitle></feed>`))
	})
	mux.HandleFunc("/slow/repo/releases.atom", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s
}

func configOf(s *httptest.Server) string {
	return fmt.Sprintf(`{"url":"%s/{repo}/releases.atom","feeds":{"PyPI/engine":"%s/rss/project/engine/releases.xml"}}`, s.URL, s.URL)
}

func client(t *testing.T) *codehost.Client {
	t.Helper()
	l := plugintest.Load(t, feed.Plugin())
	return codehost.NewClient(l.Conn, l.Configure(t, plugintest.Config(t, codehost.Kind, "feeds", configOf(publisher(t)))))
}

func TestAtom(t *testing.T) {
	c := client(t)
	page, err := c.ListReleases(t.Context(), "", "ada/engine", codehost.PageRequest{})
	if err != nil {
		t.Fatal(err)
	}
	ada := codehost.Account{Login: "ada", Name: "ada"}
	may, april := time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC), time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	want := []codehost.Release{
		{
			ID: "tag:github.com,2008:Repository/7/release/2026-05", TagName: "release/2026-05", Name: "The May release",
			Body:    "## Changes\n\n- Faster `run` [#3](https://github.com/ada/engine/issues/3)",
			HTMLURL: "https://github.com/ada/engine/releases/tag/release/2026-05", CreatedAt: may, PublishedAt: may, Author: ada,
		},
		{
			ID: "tag:github.com,2008:Repository/7/v1.0.0", TagName: "v1.0.0", Name: "v1.0.0", Body: "No content.",
			HTMLURL: "https://github.com/ada/engine/releases/tag/v1.0.0", CreatedAt: april, PublishedAt: april, Author: ada,
		},
	}
	if diff := cmp.Diff(want, page.Items); diff != "" || page.PollInterval != 10*time.Minute || page.NextCursor != "" {
		t.Errorf("%s, %+v", diff, page.Meta)
	}
	same, err := c.ListReleases(t.Context(), "", "ada/engine", codehost.PageRequest{Validators: page.Validators})
	if err != nil || !same.NotModified || len(same.Items) != 0 {
		t.Errorf("%+v, %v", same, err)
	}
}

func TestFeedOfItsOwn(t *testing.T) {
	c := client(t)
	page, err := c.ListReleases(t.Context(), "token", "pypi/ENGINE", codehost.PageRequest{Size: 1})
	if err != nil || len(page.Items) != 1 || page.NextCursor != "1" {
		t.Fatalf("%+v, %v", page, err)
	}
	if r := page.Items[0]; r.TagName != "2.0.0rc1" || r.ID != "https://pypi.org/project/engine/2.0.0rc1/" ||
		r.Body != "An analytical engine." {
		t.Errorf("%+v", r)
	}
	about, err := c.FindRepository(t.Context(), "", "pypi/ENGINE")
	if err != nil || about.Repository.FullName != "PyPI/engine" || about.Repository.ID != "pypi/engine" ||
		about.Repository.HTMLURL != "https://pypi.org/project/engine/" {
		t.Errorf("%+v, %v", about, err)
	}
}

func TestWhatIsNoFeed(t *testing.T) {
	c := client(t)
	for repo, want := range map[string]codes.Code{
		"ada/limited": codes.ResourceExhausted, "ada/page": codes.Unavailable, "ada/none": codes.NotFound,
	} {
		_, err := c.ListReleases(t.Context(), "", repo, codehost.PageRequest{})
		if e := errs.From(err); e == nil || e.Code != want || e.Source != errs.Upstream {
			t.Errorf("%s: %v", repo, err)
		} else if repo == "ada/limited" && e.RetryAfter != 30*time.Second {
			t.Errorf("%s: %s", repo, e.RetryAfter)
		}
	}
}

func TestEntitiesAreNotExpanded(t *testing.T) {
	about, err := client(t).FindRepository(t.Context(), "", "ada/bomb")
	if err == nil && strings.Contains(about.Repository.Description, "xx") {
		t.Errorf("the description has %d bytes", len(about.Repository.Description))
	}
}

func TestConformance(t *testing.T) {
	conformance.TestCodeHost(t, feed.Plugin(), conformance.CodeHostConfig{
		JSON: configOf(publisher(t)),
		Invalid: []string{
			`{}`, `{"url":"https://example.com/feed"}`, `{"url":"ftp://example.com/{repo}"}`, `{"url":"https://u:p@example.com/{repo}"}`,
			`{"feeds":{"x":"https://example.com/"}}`, `{"feeds":{"a/b":"/x"}}`, `{"url":"https://example.com/{repo}","timeout":"1h"}`,
		},
		ReleasesOf: "ada/engine", Missing: "ada/none", Slow: "slow/repo", Inputs: map[string]string{"ada/engine": codehost.KindRepo},
	})
}
