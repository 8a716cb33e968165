package news

import (
	"encoding/json"
	"errors"
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"
)

// Shorten makes a payload at most max bytes long, if that is more than 0 and the payload is longer. It stays valid: links
// go first, the last one before the others, and are counted in truncated; then human.detail is cut, then the other texts.
// Ids and addresses are never cut: a payload that is too long because of them is an error, and so is one that is not of this
// package.
func Shorten(raw json.RawMessage, max int64) (json.RawMessage, error) {
	if max <= 0 || int64(len(raw)) <= max {
		return raw, nil
	}
	p, err := decodePayload(raw)
	switch {
	case err != nil:
		return nil, err
	case p.Schema == "":
		return nil, errors.New("shorten a payload: it names no schema")
	}
	s := shortener{payload: &p, max: max}
	for _, step := range []func() error{s.dropLinks, s.cutDetail, s.cutSummary, s.cutTitle, s.cutDebug, s.cutJob} {
		if err := step(); err != nil {
			return nil, err
		}
		if raw, err = encodeJSON(p); err != nil || int64(len(raw)) <= max {
			return raw, err
		}
	}
	return nil, fmt.Errorf("shorten a payload to %d bytes: it has %d without its texts", max, len(raw))
}

type shortener struct {
	payload *payload
	max     int64
}

// fitsLimit reports whether the payload is short enough.
func (s shortener) fitsLimit() bool {
	raw, err := encodeJSON(s.payload)
	return err == nil && int64(len(raw)) <= s.max
}

func (s shortener) dropLinks() error {
	l := s.payload.Links
	if l == nil {
		return nil
	}
	s.dropEntries(&l.ServiceURLs, &l.Truncated.ServiceURLsOmitted)
	s.dropEntries(&l.Repos, &l.Truncated.ReposOmitted)
	return nil
}

// dropEntries removes as few of the last entries as it can, and counts them.
func (s shortener) dropEntries(entries *[]json.RawMessage, omitted **int) {
	all, before := *entries, 0
	if len(all) == 0 {
		return
	}
	if *omitted != nil {
		before = **omitted
	}
	for keep := len(all) - 1; keep >= 0; keep-- {
		n := before + len(all) - keep
		*entries, *omitted = all[:keep], &n
		if s.fitsLimit() {
			return
		}
	}
}

func (s shortener) cutDetail() error {
	h := &s.payload.Human
	s.cutText(h.Detail, 0, func(text string) { h.Detail = text })
	return nil
}

func (s shortener) cutSummary() error {
	p := s.payload
	s.cutText(p.Human.Summary, 1, func(text string) {
		p.Human.Summary = text
		if p.Body != "" {
			p.Body = text
		}
	})
	return nil
}

func (s shortener) cutTitle() error {
	p := s.payload
	s.cutText(p.Human.Title, 1, func(text string) {
		p.Human.Title = text
		if p.Title != "" {
			p.Title = text
		}
	})
	return nil
}

func (s shortener) cutDebug() error {
	if raw := s.payload.Debug.RawMessage; raw != nil {
		s.cutText(*raw, 0, func(text string) { s.payload.Debug.RawMessage = &text })
	}
	return nil
}

// cutJob cuts what people wrote into the job.
func (s shortener) cutJob() error {
	if len(s.payload.Job) == 0 {
		return nil
	}
	var job map[string]any
	if err := json.Unmarshal(s.payload.Job, &job); err != nil {
		return fmt.Errorf("decode the job of a payload: %w", err)
	}
	var failed error
	for _, member := range []string{"reason", "createdBy"} {
		text, ok := job[member].(string)
		if !ok {
			continue
		}
		s.cutText(text, 0, func(text string) {
			job[member] = text
			raw, err := encodeJSON(job)
			if err != nil {
				failed = err
				return
			}
			s.payload.Job = raw
		})
	}
	return failed
}

// cutText keeps as many characters of text as fit, but no fewer than least.
func (s shortener) cutText(text string, least int, set func(string)) {
	n := utf8.RuneCountInString(text)
	if n <= least || s.fitsLimit() {
		return
	}
	keep := sort.Search(n-least, func(cut int) bool {
		set(firstCharacters(text, n-1-cut))
		return s.fitsLimit()
	})
	set(firstCharacters(text, max(n-1-keep, least)))
}

// firstCharacters returns the first characters of text, with an ellipsis for the rest; "" for 0.
func firstCharacters(text string, characters int) string {
	if characters <= 0 {
		return ""
	}
	runes := []rune(text)
	if characters >= len(runes) {
		return text
	}
	return strings.TrimSpace(string(runes[:characters])) + ellipsis
}
