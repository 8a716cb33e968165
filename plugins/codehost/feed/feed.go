package feed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/mmcdole/gofeed"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/httpx"
	"github.com/patchbay-dev/patchbay/plugins/internal/jsonapi"
	"github.com/patchbay-dev/patchbay/plugins/internal/texts"
	"github.com/patchbay-dev/patchbay/sdk/codehost"
	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// locateFeed returns the name under which a repository appears, and the address of its feed.
func (h *host) locateFeed(repo string) (string, *url.URL, error) {
	if !isFullName(repo) {
		return "", nil, errs.BadInput(codehost.ReasonInvalidRequest, "the repository must be owner/name")
	}
	if known, ok := h.feeds[strings.ToLower(repo)]; ok {
		return known.name, known.address, nil
	}
	if h.template == "" {
		return "", nil, errs.New(errs.Upstream, codes.NotFound, errs.ReasonStatus, "%s is not among the feeds of the configuration", repo)
	}
	address, err := h.expandTemplate(repo)
	if err != nil {
		return "", nil, errs.BadInput(codehost.ReasonInvalidRequest, "the repository does not give an address")
	}
	return repo, address, nil
}

// answer is a feed as it came. parsed is nil if nothing has changed.
type answer struct {
	name   string
	parsed *gofeed.Feed
	meta   codehost.Meta
}

const accept = "application/atom+xml, application/rss+xml, application/feed+json;q=0.9, application/xml;q=0.8, text/xml;q=0.8, */*;q=0.1"

// fetchFeed asks for the feed of a repository. Tokens are for hosts with accounts, so none is sent.
func (h *host) fetchFeed(ctx context.Context, repo string, validators codehost.Validators) (*answer, error) {
	name, address, err := h.locateFeed(repo)
	if err != nil {
		return nil, err
	}
	req := &httpx.Request{Method: http.MethodGet, URL: address, Header: http.Header{"Accept": {accept}}}
	if validators.ETag != "" {
		req.Header["If-None-Match"] = []string{validators.ETag}
	}
	if validators.LastModified != "" {
		req.Header["If-Modified-Since"] = []string{validators.LastModified}
	}
	res, err := h.http.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	out := &answer{name: name, meta: codehost.Meta{
		Validators: codehost.Validators{ETag: texts.Printable(res.Header.Get("Etag")),
			LastModified: texts.Printable(res.Header.Get("Last-Modified"))},
		PollInterval: maxAge(res.Header.Get("Cache-Control")),
	}}
	switch {
	case res.Status == http.StatusNotModified && validators != (codehost.Validators{}):
		out.meta.NotModified = true
		if out.meta.Validators == (codehost.Validators{}) {
			out.meta.Validators = validators
		}
		return out, nil
	case res.Status < 200 || res.Status > 299:
		return nil, jsonapi.Refusal(req, res, "")
	}
	if out.parsed, err = gofeed.NewParser().Parse(bytes.NewReader(res.Body)); err != nil {
		return nil, errs.Unavailable(errs.ReasonProtocol, "GET %s%s: the answer is not a feed", address.Host, address.Path)
	}
	return out, nil
}

var maxAgePattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|[ ,])max-age=([0-9]{1,9})`) })

// longestPause bounds what a host may ask for between two requests.
const longestPause = 24 * time.Hour

// maxAge reads how long an answer is fresh; 0 if that is not said.
func maxAge(cacheControl string) time.Duration {
	m := maxAgePattern().FindStringSubmatch(strings.ToLower(cacheControl))
	if m == nil {
		return 0
	}
	seconds, _ := strconv.Atoi(m[1])
	return min(time.Duration(seconds)*time.Second, longestPause)
}

// Resolve implements codehost.CodeHost for owner/name alone: feeds know no accounts.
func (h *host) Resolve(ctx context.Context, _ schema.Secret, input string) (*codehost.Resolution, error) {
	if !isFullName(input) {
		return nil, errs.BadInput(codehost.ReasonInvalidInput, "write owner/name")
	}
	found, err := h.fetchFeed(ctx, input, codehost.Validators{})
	if err != nil {
		return nil, err
	}
	owner, _, _ := strings.Cut(found.name, "/")
	repo := codehost.Repo{FullName: found.name, Visibility: "public"}
	if found.parsed.UpdatedParsed != nil {
		repo.LastActivity = found.parsed.UpdatedParsed.UTC()
	}
	return &codehost.Resolution{Kind: codehost.KindRepo, Owner: owner, Repos: []codehost.Repo{repo}}, nil
}

// FindRepository implements codehost.ReleaseHost. The id of a repository is its name in lower case.
func (h *host) FindRepository(ctx context.Context, _ schema.Secret, repo string) (*codehost.RepositoryInfo, error) {
	found, err := h.fetchFeed(ctx, repo, codehost.Validators{})
	if err != nil {
		return nil, err
	}
	owner, _, _ := strings.Cut(found.name, "/")
	out := codehost.Repository{
		ID: strings.ToLower(found.name), FullName: found.name, Description: texts.Printable(found.parsed.Description),
		HTMLURL: webAddress(found.parsed.Link),
		Owner:   codehost.Account{ID: strings.ToLower(owner), Login: owner},
	}
	if found.parsed.Image != nil {
		out.Owner.AvatarURL = webAddress(found.parsed.Image.URL)
	}
	return &codehost.RepositoryInfo{Repository: out, Meta: found.meta}, nil
}

// ListReleases implements codehost.ReleaseHost. A feed has one page; its entries are given out in several if fewer are asked
// for.
func (h *host) ListReleases(ctx context.Context, _ schema.Secret, repo string,
	page codehost.PageRequest) (*codehost.Page[codehost.Release], error) {
	from, err := parseCursor(page.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := h.fetchFeed(ctx, repo, page.Validators)
	if err != nil {
		return nil, err
	}
	out := &codehost.Page[codehost.Release]{Meta: found.meta}
	if out.NotModified {
		return out, nil
	}
	all := listReleases(found.parsed)
	size := page.Size
	if size == 0 {
		size = codehost.MaxPage
	}
	from = min(from, len(all))
	to := min(from+size, len(all))
	out.Items = all[from:to]
	if to < len(all) {
		out.NextCursor = strconv.Itoa(to)
	}
	return out, nil
}

func parseCursor(cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	from, err := strconv.Atoi(cursor)
	if err != nil || from < 1 {
		return 0, errs.BadInput(codehost.ReasonInvalidRequest, "the cursor is not valid for this host")
	}
	return from, nil
}

// listReleases returns the entries of a feed, each once, the latest first; in the feed's order if one has no time.
func listReleases(parsed *gofeed.Feed) []codehost.Release {
	var out []codehost.Release
	seen := map[string]bool{}
	for _, item := range parsed.Items {
		r := toRelease(item)
		if r.ID == "" || r.TagName == "" || seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		out = append(out, r)
	}
	if !slices.ContainsFunc(out, func(r codehost.Release) bool { return r.PublishedAt.IsZero() }) {
		slices.SortStableFunc(out, func(a, b codehost.Release) int { return b.PublishedAt.Compare(a.PublishedAt) })
	}
	return out
}

// maxID is the longest id of an entry that is taken as it is, in bytes.
const maxID = 200

func toRelease(item *gofeed.Item) codehost.Release {
	out := codehost.Release{ID: strings.TrimSpace(item.GUID), Name: texts.OneLine(texts.Printable(item.Title)), HTMLURL: webAddress(item.Link)}
	if out.ID == "" {
		out.ID = out.HTMLURL
	}
	if len(out.ID) > maxID {
		sum := sha256.Sum256([]byte(out.ID))
		out.ID = hex.EncodeToString(sum[:])
	}
	out.TagName = guessTag(item.Title, out.HTMLURL)
	for _, at := range []*time.Time{item.PublishedParsed, item.UpdatedParsed} {
		if at != nil {
			out.PublishedAt, out.CreatedAt = at.UTC(), at.UTC()
			break
		}
	}
	body := item.Content
	if body == "" {
		body = item.Description
	}
	address, _ := url.Parse(out.HTMLURL)
	if text, err := extract.Fragment(body, address); err == nil {
		out.Body = text
	}
	if len(item.Authors) > 0 && item.Authors[0] != nil {
		name := texts.OneLine(texts.Printable(item.Authors[0].Name))
		out.Author = codehost.Account{Login: name, Name: name}
	}
	return out
}

var (
	tagAddress     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(?:releases/tag|-/releases|-/tags|src/tag)/(.+)$`) })
	versionAddress = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`/(v?[0-9]+(?:\.[0-9]+)+[^/]*)/?$`) })
	versionText    = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\bv?[0-9]+(?:\.[0-9A-Za-z]+)+(?:[-+.~][0-9A-Za-z.+~-]+)?`)
	})
)

// guessTag returns the tag of an entry: what its address names, else the version in its title, else the title.
func guessTag(title, address string) string {
	if u, err := url.Parse(address); err == nil {
		for _, pattern := range []*regexp.Regexp{tagAddress(), versionAddress()} {
			if m := pattern.FindStringSubmatch(u.Path); m != nil {
				return texts.Truncate(texts.Printable(m[1]), maxID)
			}
		}
	}
	if version := versionText().FindString(title); version != "" {
		return texts.Truncate(version, maxID)
	}
	return texts.Truncate(texts.OneLine(texts.Printable(title)), maxID)
}

// webAddress returns an http(s) address, or nothing.
func webAddress(raw string) string {
	u, err := url.Parse(strings.TrimSpace(raw))
	if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
		return ""
	}
	return u.String()
}
