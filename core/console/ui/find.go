package ui

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// FindPath is the address of the page that finds pages and things by a text.
const FindPath = "/system/find"

// Hit is a page or a thing that a text has found. Its texts are in the language of the view.
type Hit struct {
	// Kind says what it is, such as "Page"; Title is its name, Detail tells it from others of that name.
	Kind, Title, Detail string
	Href                string
}

// Finder finds things by a text. It returns those alone that the view's principal may see, and few: the best first.
type Finder func(ctx context.Context, v *View, text string) ([]Hit, error)

// Matches reports whether each word of text stands in one of the fields, in any case.
func Matches(text string, fields ...string) bool {
	all := strings.ToLower(strings.Join(fields, "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// RankHits sorts hits by how well their titles fit a text: the same, then a beginning, then the rest in the order they came in.
func RankHits(hits []Hit, text string) {
	text = strings.ToLower(strings.TrimSpace(text))
	rank := func(h Hit) int {
		title := strings.ToLower(h.Title)
		switch {
		case text == "":
			return 2
		case title == text:
			return 0
		case strings.HasPrefix(title, text):
			return 1
		}
		return 2
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(rank(a), rank(b)) })
}
