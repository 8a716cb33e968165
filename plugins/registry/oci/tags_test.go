package oci_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	"github.com/patchbay-dev/patchbay/sdk/registry"
)

func list(w http.ResponseWriter, tags []string) bool {
	_ = json.NewEncoder(w).Encode(map[string]any{"name": "app", "tags": tags})
	return true
}

// page is the part of all that a request asks for.
func page(r *http.Request, all []string) (tags []string, more bool) {
	n, _ := strconv.Atoi(r.URL.Query().Get("n"))
	from := 0
	if last := r.URL.Query().Get("last"); last != "" {
		from = slices.Index(all, last) + 1
	}
	to := min(from+n, len(all))
	return all[from:to], to < len(all)
}

func TestTagsInEveryManner(t *testing.T) {
	all := []string{"a", "b", "c", "d", "e", "f"}
	for name, tt := range map[string]struct {
		answer func(http.ResponseWriter, *http.Request) bool
		limit  int
		pages  int
		want   []string
	}{
		"link": {func(w http.ResponseWriter, r *http.Request) bool {
			tags, more := page(r, all)
			if more {
				w.Header().Set("Link", fmt.Sprintf(`</v2/app/tags/list?n=%s&last=%s>; rel="next"`, r.URL.Query().Get("n"), tags[len(tags)-1]))
			}
			return list(w, tags)
		}, 2, 4, all},
		"link to elsewhere": {func(w http.ResponseWriter, r *http.Request) bool {
			tags, more := page(r, all)
			if more {
				w.Header().Set("Link", fmt.Sprintf(`<http://169.254.169.254/x?n=2&last=%s>; title="x"; rel=next`, tags[len(tags)-1]))
			}
			return list(w, tags)
		}, 4, 3, all},
		"no link": {func(w http.ResponseWriter, r *http.Request) bool {
			tags, _ := page(r, all)
			return list(w, tags)
		}, 2, 4, all},
		"no pages at all": {func(w http.ResponseWriter, _ *http.Request) bool { return list(w, all) }, len(all), 2, all},
		"null":            {func(w http.ResponseWriter, _ *http.Request) bool { return list(w, nil) }, 2, 1, nil},
		"size refused": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Query().Has("n") {
				w.WriteHeader(http.StatusBadRequest)
				return true
			}
			return list(w, all)
		}, 2, 1, all},
		"link to itself": {func(w http.ResponseWriter, r *http.Request) bool {
			w.Header().Set("Link", "<"+r.URL.RequestURI()+`>; rel="next"`)
			return list(w, all)
		}, 2, 1, all},
		"odd tags": {func(w http.ResponseWriter, _ *http.Request) bool {
			return list(w, []string{"good", "", "../x", "a b", "\x1b[31m", strings.Repeat("x", 129)})
		}, 100, 1, []string{"good"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProxy(t, "127.0.0.1:1")
			p.set(tt.answer, nil)
			got, pages := allTags(t, client(t, "{}"), p.host+"/app", tt.limit)
			if diff := cmp.Diff(tt.want, got); diff != "" || pages != tt.pages {
				t.Errorf("%d pages, %s", pages, diff)
			}
		})
	}
}

func TestTagsThatAreNoList(t *testing.T) {
	for name, answer := range map[string]func(http.ResponseWriter){
		"text":      func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"cut":       func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"tags":["a",`)) },
		"too large": func(w http.ResponseWriter) { _, _ = w.Write([]byte(strings.Repeat("x", 9<<20))) },
		"teapot":    func(w http.ResponseWriter) { w.WriteHeader(http.StatusTeapot) },
	} {
		p := newProxy(t, "127.0.0.1:1")
		p.set(func(w http.ResponseWriter, _ *http.Request) bool { answer(w); return true }, nil)
		_, err := client(t, "{}").Tags(t.Context(), registry.TagsRequest{Repository: p.host + "/app", Limit: 10})
		want := errs.ReasonProtocol
		if name == "too large" {
			want = errs.ReasonTooLarge
		}
		if e := errs.From(err); e == nil || e.Code != codes.Unavailable || e.Reason != want || e.Source != errs.Upstream {
			t.Errorf("%s: %v", name, err)
		}
	}
}
