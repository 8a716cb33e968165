package crawl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
)

const (
	headerETag     = "If-None-Match"
	headerModified = "If-Modified-Since"
	robotsPath     = "/robots.txt"
	// maxRobots is how much of a robots.txt is read.
	maxRobots = 512 << 10
	accept    = "text/html, application/xhtml+xml, text/markdown;q=0.9, text/plain;q=0.8, */*;q=0.1"
)

var errNoText = errors.New("content is no text")

// transport performs the requests of one crawl through the guarded client. It binds all of them, those for robots.txt
// as well, to the crawl's context, and returns bodies that were read and bounded already.
type transport struct {
	ctx     context.Context
	crawler *Crawler
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	cfg := &t.crawler.cfg
	leave, err := t.crawler.gates.enter(t.ctx, req.URL.Host)
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(t.ctx, cfg.PageTimeout)
	defer cancel()
	header := http.Header{"Accept": {accept}, "User-Agent": {cfg.UserAgent}}
	for _, name := range []string{headerETag, headerModified} {
		if values := req.Header[name]; len(values) > 0 {
			header[name] = values
		}
	}
	s, err := cfg.Client.Stream(ctx, &httpx.Request{Method: http.MethodGet, URL: req.URL, Header: header}, 0)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	body, err := read(s, req.URL.Path == robotsPath)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: s.Status, Status: fmt.Sprintf("%d %s", s.Status, http.StatusText(s.Status)), Header: s.Header, Request: req,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		// Whoever gets this must not unpack anything.
		Uncompressed: true, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)),
	}, nil
}

// read reads what is of use: no bodies of redirects and errors, and of pages only text.
func read(s *httpx.Stream, robots bool) ([]byte, error) {
	switch {
	case robots && s.Status >= 500:
		// A host that cannot say what it forbids is left alone.
		return nil, errNoRobots
	case s.Status < 200 || s.Status > 299:
		return nil, nil
	case robots:
		return io.ReadAll(io.LimitReader(s, maxRobots))
	case !readable(s.Header.Get("Content-Type")):
		return nil, errNoText
	}
	return s.ReadAll()
}

// readable tells whether a content type is text; one that is not told may be.
func readable(contentType string) bool {
	if contentType == "" {
		return true
	}
	media, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		media, _, _ = strings.Cut(strings.ToLower(contentType), ";")
		media = strings.TrimSpace(media)
	}
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

// redirect is the policy of a crawl's client: a page's redirect is left to the crawl, which has to look at its target;
// that of a robots.txt is followed.
func redirect(_ *http.Request, via []*http.Request) error {
	if via[0].URL.Path != robotsPath || len(via) > maxHops {
		return http.ErrUseLastResponse
	}
	return nil
}
