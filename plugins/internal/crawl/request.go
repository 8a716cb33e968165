package crawl

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/pagehead"
)

const (
	headerETag     = "If-None-Match"
	headerModified = "If-Modified-Since"
	accept         = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1"
)

// answer is an answer of a host whose body was read within the bounds. There is none of redirects and errors.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// bodyReader reads what is of use of a body whose status is 2xx.
type bodyReader func(*httpx.Stream) ([]byte, error)

// sendRequest asks for u through the guarded client, in its turn with other requests to that host. conditions are sent
// besides the kinds of content that are wanted and the user agent.
func (f *fetcher) sendRequest(ctx context.Context, u *url.URL, conditions http.Header, read bodyReader) (*answer, error) {
	cfg := &f.crawler.cfg
	leave, err := f.crawler.gates.waitForTurn(ctx, u.Host)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, cfg.PageTimeout)
	defer cancel()
	header := http.Header{"Accept": {accept}, "User-Agent": {cfg.UserAgent}}
	for name, values := range conditions {
		header[name] = values
	}
	s, err := cfg.Client.Stream(ctx, &httpx.Request{Method: http.MethodGet, URL: u, Header: header}, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	a := &answer{status: s.Status, header: s.Header}
	if s.Status >= 200 && s.Status <= 299 {
		a.body, err = read(s)
	}
	return a, err
}

// redirectTarget returns where an answer to a request for u redirects to, absolute and without a fragment; empty means nowhere.
func (a *answer) redirectTarget(u *url.URL) *url.URL {
	location := a.header.Get("Location")
	if a.status < 300 || a.status > 399 || location == "" {
		return nil
	}
	to, err := u.Parse(location)
	if err != nil {
		return nil
	}
	to.Fragment, to.RawFragment = "", ""
	return to
}

// readPage reads a page if it is text.
func readPage(s *httpx.Stream) ([]byte, error) {
	if !isReadable(s.Header.Get("Content-Type")) {
		return nil, errNoText
	}
	return s.ReadAll()
}

// readRobots reads the part of a robots.txt that is obeyed.
func readRobots(s *httpx.Stream) ([]byte, error) { return io.ReadAll(io.LimitReader(s, maxRobots)) }

// isReadable reports whether a content type is text; one that is not told may be.
func isReadable(contentType string) bool {
	if contentType == "" {
		return true
	}
	media := pagehead.MediaType(contentType)
	if strings.HasPrefix(media, "text/") {
		return true
	}
	for _, end := range []string{"json", "xml", "yaml"} {
		if strings.HasSuffix(media, end) {
			return true
		}
	}
	return false
}
