package local

import (
	"cmp"
	"context"
	"slices"

	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
	"github.com/patchbay-dev/patchbay/plugins/search/local/rank"
)

const (
	// firstHits and maxHits are how many parts are listed to find enough documents, at first and at most.
	firstHits = 100
	maxHits   = 3200
	// perDocument is how many parts of a document are ranked, enoughDocuments how many documents there are to be for each
	// that is wanted, and maxRanked how many parts are ranked at most.
	perDocument     = 3
	enoughDocuments = 5
	maxRanked       = 40
)

// hit is a document that was found, with its best passages.
type hit struct {
	address string
	title   string
	score   float64
	// passages are the best first.
	passages []rank.Ranked
}

// bestChunks returns the parts of the best n passages in which the query's words are.
func (h *hit) bestChunks(n int) []string {
	var out []string
	for _, p := range h.passages[:min(n, len(h.passages))] {
		out = append(out, rank.Excerpt(p.Text, p.Offsets))
	}
	return out
}

// findDocuments returns the documents that fit best: the index lists parts of documents, of which the most promising are ranked.
func (b *backend) findDocuments(ctx context.Context, p searchParams) ([]*hit, error) {
	reader, err := b.follower.index.Read()
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	s := &finder{backend: b, reader: reader, params: p, query: rank.Parse(p.query, p.exact), judged: map[string]bool{}}
	if err := s.query.Resolve(reader); err != nil || s.query.IsEmpty() {
		return nil, err
	}
	if err := s.excludeDocuments(ctx); err != nil {
		return nil, err
	}
	listed, err := s.listDocuments(ctx)
	if err != nil {
		return nil, err
	}
	ranker := rank.NewRanker(s.query)
	var out []*hit
	for _, l := range listed {
		h, err := s.rankListing(ranker, l)
		if err != nil {
			return nil, err
		}
		if len(h.passages) > 0 {
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b *hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.address, b.address))
	})
	return out[:min(len(out), p.results)], nil
}

// finder answers one query.
type finder struct {
	backend *backend
	reader  *index.Reader
	params  searchParams
	query   rank.Query
	// excluded are the addresses of documents with what is excluded.
	excluded map[string]bool
	// judged are the parts that were read for a phrase, and whether they have all phrases.
	judged map[string]bool
}

// listing are the most promising parts of a document.
type listing struct {
	address string
	print   fingerprint
	parts   []string
}

// excludeDocuments finds the documents with words and phrases that the query excludes.
func (s *finder) excludeDocuments(ctx context.Context) error {
	s.excluded = map[string]bool{}
	for _, p := range s.query.Excluded {
		rarest, err := s.rarestTerm(p.Terms)
		if err != nil {
			return err
		}
		err = s.reader.EachWith(ctx, rarest, func(id string) error {
			at := index.DocumentOf(id)
			if s.excluded[at] {
				return nil
			}
			has := len(p.Terms) == 1
			if !has {
				if has, err = s.hasPhrases(id, []rank.Phrase{p}); err != nil {
					return err
				}
			}
			if has {
				s.excluded[at] = true
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// rarestTerm returns the term that the fewest parts have.
func (s *finder) rarestTerm(terms []string) (best string, err error) {
	least := uint64(0)
	for i, t := range terms {
		n, err := s.reader.Count(t)
		if err != nil {
			return "", err
		}
		if i == 0 || n < least {
			best, least = t, n
		}
	}
	return best, nil
}

// hasPhrases reports whether a part has all phrases.
func (s *finder) hasPhrases(id string, phrases []rank.Phrase) (bool, error) {
	part, err := s.reader.Part(id)
	if err != nil {
		return false, err
	}
	return s.toDocument(id, part).HasPhrases(phrases), nil
}

// toDocument makes what is ranked of a part.
func (s *finder) toDocument(id string, part index.Part) rank.Document {
	return rank.Document{Title: part.Title, Path: plainPath(index.DocumentOf(id)), Passages: part.Passages}
}

// listDocuments lists more and more parts until they belong to enough documents.
func (s *finder) listDocuments(ctx context.Context) ([]*listing, error) {
	some, required := s.query.Terms()
	for size := firstHits; ; size *= 4 {
		found, err := s.backend.follower.index.List(ctx, some, required, size)
		if err != nil {
			return nil, err
		}
		out, err := s.byDocument(found)
		if err != nil {
			return nil, err
		}
		if len(out) >= s.params.results*enoughDocuments || len(found) < size || size >= maxHits {
			return mostPromising(out), nil
		}
	}
}

// permitsAddress reports whether a part may be in the answer.
func (s *finder) permitsAddress(id, address string) (bool, error) {
	if s.excluded[address] || !s.params.where.permitsAddress(address) || !s.backend.follower.isKnown(address) {
		return false, nil
	}
	if len(s.query.Phrases) == 0 {
		return true, nil
	}
	has, known := s.judged[id]
	if !known {
		var err error
		if has, err = s.hasPhrases(id, s.query.Phrases); err != nil {
			return false, err
		}
		s.judged[id] = has
	}
	return has, nil
}

// byDocument makes documents of parts. A variant of another document is left out.
func (s *finder) byDocument(found []string) ([]*listing, error) {
	var out []*listing
	seen, others := map[string]*listing{}, newVariants()
	for _, id := range found {
		at := index.DocumentOf(id)
		l, ok := seen[at]
		if ok && (l == nil || l.address != at || len(l.parts) >= perDocument) {
			continue
		}
		permitted, err := s.permitsAddress(id, at)
		if err != nil {
			return nil, err
		}
		if !permitted {
			continue
		}
		if !ok {
			var fresh bool
			l, fresh = others.addListing(&listing{address: at, print: s.backend.follower.fingerprintFor(at)})
			if seen[at] = l; fresh {
				out = append(out, l)
			}
		}
		if l != nil && l.address == at && len(l.parts) < perDocument {
			l.parts = append(l.parts, id)
		}
	}
	return out, nil
}

// mostPromising leaves as many documents as may be ranked.
func mostPromising(all []*listing) []*listing {
	parts := 0
	for i, l := range all {
		if parts += len(l.parts); parts > maxRanked {
			return all[:i]
		}
	}
	return all
}

// rankListing ranks a document by its parts. One whose parts have left the index meanwhile has none.
func (s *finder) rankListing(ranker *rank.Ranker, l *listing) (*hit, error) {
	out := &hit{address: l.address}
	var all rank.Document
	for _, id := range l.parts {
		part, err := s.reader.Part(id)
		if err != nil {
			return nil, err
		}
		d := s.toDocument(id, part)
		d.Passages = append(all.Passages, part.Passages...)
		all = d
	}
	out.title = all.Title
	out.passages, out.score = ranker.Rank(all)
	return out, nil
}
