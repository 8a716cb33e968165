package webtest

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/patchbay-dev/patchbay/core/internal/testing/testkit"
)

// Browser is a browser without script. It keeps cookies and follows no redirect.
type Browser struct {
	// Header is sent with every request. It begins as what a browser says of a request that stems from the site itself.
	Header http.Header
	// Client makes the requests. Its Jar ignores domains and paths.
	Client http.Client

	t    testing.TB
	base string
}

// NewBrowser returns a browser whose user reads a language, if it is not empty. Paths are below base.
func NewBrowser(t testing.TB, base, language string) *Browser {
	b := &Browser{t: t, base: base, Header: http.Header{"Accept": {"text/html"}, "Sec-Fetch-Site": {"same-origin"}}}
	if language != "" {
		b.SetLanguage(language)
	}
	b.Client.Jar = jar{}
	b.Client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return b
}

// SetLanguage sets the language that the user reads.
func (b *Browser) SetLanguage(language string) { b.Header.Set("Accept-Language", language) }

// SignIn signs in with an API key and expects to be led to next.
func (b *Browser) SignIn(key, next string) {
	b.t.Helper()
	p := b.Post("/system/sign-in", "key", key, "next", next)
	if to := p.Header.Get("Location"); p.Status != http.StatusSeeOther || to != next {
		b.t.Fatalf("sign-in: status %d to %q\n%s", p.Status, to, p.Body)
	}
}

// Get reads a page.
func (b *Browser) Get(path string) Page { b.t.Helper(); return b.readPage(http.MethodGet, path, nil) }

// Post sends a form; names and values take turns.
func (b *Browser) Post(path string, form ...string) Page {
	b.t.Helper()
	values := url.Values{}
	for pair := range slices.Chunk(form, 2) {
		values.Add(pair[0], pair[1])
	}
	return b.readPage(http.MethodPost, path, values)
}

// readPage makes a request and reads the answer.
func (b *Browser) readPage(method, path string, form url.Values) Page {
	b.t.Helper()
	resp := b.Request(context.Background(), method, path, form)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	testkit.Must(b.t, err)
	return Page{resp.StatusCode, resp.Header, string(raw)}
}

// Request makes a request, with a form unless it is nil. The caller closes the body of the answer.
func (b *Browser) Request(ctx context.Context, method, path string, form url.Values) *http.Response {
	b.t.Helper()
	req, err := http.NewRequestWithContext(ctx, method, b.base+path, strings.NewReader(form.Encode()))
	testkit.Must(b.t, err)
	req.Header = b.Header.Clone()
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	resp, err := b.Client.Do(req)
	testkit.Must(b.t, err)
	return resp
}

// jar has the values of cookies by their names.
type jar map[string]string

// SetCookies implements http.CookieJar.
func (j jar) SetCookies(_ *url.URL, cookies []*http.Cookie) {
	for _, c := range cookies {
		j[c.Name] = c.Value
		if c.MaxAge < 0 {
			delete(j, c.Name)
		}
	}
}

// Cookies implements http.CookieJar.
func (j jar) Cookies(*url.URL) (out []*http.Cookie) {
	for name, value := range j {
		out = append(out, &http.Cookie{Name: name, Value: value})
	}
	return out
}

// Page is an answer, read whole.
type Page struct {
	Status int
	Header http.Header
	Body   string
}

// Is fails the test unless the page has a status and all the texts.
func (p Page) Is(t testing.TB, what string, status int, texts ...string) {
	t.Helper()
	if p.Status != status {
		t.Errorf("%s: status %d, want %d\n%.3000s", what, p.Status, status, p.Body)
		return
	}
	for _, text := range texts {
		if !strings.Contains(p.Body, text) {
			t.Errorf("%s: %q is missing in\n%s", what, text, p.Body)
		}
	}
}

// Says fails the test for each text that is missing.
func (p Page) Says(t testing.TB, texts ...string) {
	t.Helper()
	p.Is(t, "the page", p.Status, texts...)
}

// Lacks fails the test for each text that the page holds.
func (p Page) Lacks(t testing.TB, what string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if at := strings.Index(p.Body, text); at >= 0 {
			t.Errorf("%s: %q stands in the page: …%s…", what, text, p.Body[max(0, at-200):min(len(p.Body), at+200)])
		}
	}
}
