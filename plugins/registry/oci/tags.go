package oci

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

// maxPages bounds a list whose registry always names one more page.
const maxPages = 10000

// cursor says how the next page is asked for.
type cursor struct {
	// Query is that of the next request.
	Query string `json:"q"`
	// Page counts pages, from 1.
	Page int `json:"p"`
	// First is the first tag of the page before where the registry named no next page: a registry that repeats it does
	// not know pages.
	First string `json:"f,omitempty"`
}

func (c cursor) String() string {
	raw, _ := json.Marshal(c)
	return base64.RawURLEncoding.EncodeToString(raw)
}

const maxCursor = 8 << 10

func parseCursor(text string, limit int) (cursor, error) {
	if text == "" {
		return cursor{Query: "n=" + strconv.Itoa(limit), Page: 1}, nil
	}
	var c cursor
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(text) > maxCursor || json.Unmarshal(raw, &c) != nil || c.Page < 2 {
		return c, errs.BadInput(registry.ReasonInvalidRequest, "the cursor is not one of ours")
	}
	if _, err := url.ParseQuery(c.Query); err != nil {
		return c, errs.BadInput(registry.ReasonInvalidRequest, "the cursor is not one of ours")
	}
	return c, nil
}

// Tags implements registry.Registry.
func (r *reader) Tags(ctx context.Context, req registry.TagsRequest) (*registry.TagsPage, error) {
	n, err := parseRepository(req.Repository)
	if err != nil {
		return nil, err
	}
	at, err := parseCursor(req.Cursor, req.Limit)
	if err != nil {
		return nil, err
	}
	s, err := r.sessionFor(n, req.Access)
	if err != nil {
		return nil, err
	}
	if at.Page > maxPages {
		return nil, s.protocolError("%s: the list of tags has no end", n)
	}
	got, at, err := s.tagList(ctx, n, at)
	if err != nil {
		return nil, err
	}
	var body struct{ Tags []string }
	if err := json.Unmarshal(got.body, &body); err != nil {
		return nil, s.protocolError("%s: the list of tags cannot be read", n)
	}
	if at.First != "" && len(body.Tags) > 0 && body.Tags[0] == at.First {
		return &registry.TagsPage{}, nil
	}
	out := &registry.TagsPage{Tags: validTags(body.Tags)}
	if next := at.nextPage(got.header, body.Tags, req.Limit); next.Query != "" {
		out.Next = next.String()
	}
	return out, nil
}

// tagList asks for a page, once more without a size if the registry refuses the size.
func (s *session) tagList(ctx context.Context, n name, at cursor) (*answer, cursor, error) {
	q := question{method: http.MethodGet, repo: n.path, path: "tags/list", query: at.Query, limit: maxTags}
	got, err := s.askRegistry(ctx, q)
	if err == nil {
		return got, at, nil
	}
	refused := []int32{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusRequestedRangeNotSatisfiable,
		http.StatusUnprocessableEntity}
	values, _ := url.ParseQuery(at.Query)
	if !values.Has("n") || !slices.Contains(refused, errs.From(err).Upstream.GetHttpStatus()) {
		return nil, at, err
	}
	values.Del("n")
	at.Query = values.Encode()
	q.query = at.Query
	got, err = s.askRegistry(ctx, q)
	return got, at, err
}

// nextPage returns the page after this one; its query is empty on the last. Where the registry names the next page, only the
// query of its address counts: the host and the path stay ours.
func (c cursor) nextPage(header http.Header, tags []string, limit int) cursor {
	out := cursor{Page: c.Page + 1}
	if link, ok := linkedQuery(header); ok {
		if link != c.Query {
			out.Query = link
		}
		return out
	}
	values, _ := url.ParseQuery(c.Query)
	size, err := strconv.Atoi(values.Get("n"))
	if err != nil || len(tags) != min(size, limit) || len(tags) == 0 {
		return out
	}
	values.Set("last", tags[len(tags)-1])
	out.Query, out.First = values.Encode(), tags[0]
	return out
}

// linkedQuery returns the query of the address with rel="next".
func linkedQuery(header http.Header) (string, bool) {
	for _, value := range header["Link"] {
		for _, part := range strings.Split(value, ",") {
			target, params, _ := strings.Cut(strings.TrimSpace(part), ">")
			rel := strings.ReplaceAll(strings.ReplaceAll(params, `"`, ""), " ", "")
			if !strings.HasPrefix(target, "<") || !strings.Contains(rel+";", ";rel=next;") {
				continue
			}
			if u, err := url.Parse(target[1:]); err == nil && u.RawQuery != "" && len(u.RawQuery) <= maxCursor/2 {
				return u.RawQuery, true
			}
		}
	}
	return "", false
}

var tagPattern = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`) })

// validTags leaves out what cannot be a tag.
func validTags(tags []string) []string {
	return slices.DeleteFunc(tags, func(t string) bool { return !tagPattern().MatchString(t) })
}
