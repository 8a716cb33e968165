package local

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/blevesearch/bleve/v2"
	blevesearch "github.com/blevesearch/bleve/v2/search"
	bleveindex "github.com/blevesearch/bleve_index_api"
)

const (
	// firstHits and maxHits are how many passages are listed to find enough documents, at first and at most.
	firstHits = 200
	maxHits   = 3200
	// perDocument is how many passages of a document are ranked, enoughDocuments how many documents there are to be for each
	// that is wanted, and maxRanked how many passages are ranked at most.
	perDocument     = maxChunks
	enoughDocuments = 4
	maxRanked       = 80
	// furtherPassages is how much the other passages of a document add to the rank of its best one, as a part of theirs.
	furtherPassages = 0.2
)

// hit is a document that was found, with its best passages.
type hit struct {
	address string
	title   string
	score   float64
	// passages are the best first.
	passages []ranked
}

// chunks returns the parts of the best n passages in which the query's words are.
func (h *hit) chunks(n int) []string {
	var out []string
	for _, p := range h.passages[:min(n, len(h.passages))] {
		out = append(out, excerpt(p.text, p.offsets))
	}
	return out
}

// find returns the documents that fit best: the index lists passages, of which the most promising are ranked.
func (b *backend) find(ctx context.Context, p searchParams) ([]*hit, error) {
	ix := b.follower.index.bleve
	q := parseQuery(p.query, ix.Mapping())
	advanced, err := ix.Advanced()
	if err != nil {
		return nil, fmt.Errorf("search index: %w", err)
	}
	reader, err := advanced.Reader()
	if err != nil {
		return nil, fmt.Errorf("search index: %w", err)
	}
	defer reader.Close()
	if err := q.weigh(ctx, reader); err != nil || len(q.terms) == 0 {
		return nil, err
	}
	listed, err := b.list(ctx, q, p)
	if err != nil {
		return nil, err
	}
	ranker := newRanker(q, ix.Mapping().AnalyzerNamed(indexAnalyzer))
	var out []*hit
	for _, l := range listed {
		h, err := ranker.document(l, reader)
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

// listing are the most promising passages of a document.
type listing struct {
	address  string
	print    fingerprint
	passages []string
}

// list lists more and more passages until they belong to enough documents.
func (b *backend) list(ctx context.Context, q query, p searchParams) ([]*listing, error) {
	for size := firstHits; ; size *= 4 {
		found, err := b.follower.index.bleve.SearchInContext(ctx, bleve.NewSearchRequestOptions(q.bleve(), size, 0, false))
		if err != nil {
			return nil, fmt.Errorf("search index: %w", err)
		}
		out := b.byDocument(found.Hits, p.where)
		if len(out) >= p.results*enoughDocuments || len(found.Hits) < size || size >= maxHits {
			return promising(out), nil
		}
	}
}

// byDocument makes documents of passages. A variant of another document is left out.
func (b *backend) byDocument(found blevesearch.DocumentMatchCollection, where domains) []*listing {
	var out []*listing
	seen, others := map[string]*listing{}, newVariants()
	for _, m := range found {
		at := documentOf(m.ID)
		l, ok := seen[at]
		if !ok {
			fresh := false
			if where.permit(at) && b.follower.isKnown(at) {
				l, fresh = others.add(&listing{address: at, print: b.follower.fingerprint(at)})
			}
			if seen[at] = l; fresh {
				out = append(out, l)
			}
		}
		if l != nil && l.address == at && len(l.passages) < perDocument {
			l.passages = append(l.passages, m.ID)
		}
	}
	return out
}

// promising leaves as many documents as may be ranked.
func promising(all []*listing) []*listing {
	passages := 0
	for i, l := range all {
		if passages += len(l.passages); passages > maxRanked {
			return all[:i]
		}
	}
	return all
}

// document ranks a document by its passages; its score is from 0 to 1. One whose passages have left the index meanwhile
// has none.
func (r *ranker) document(l *listing, reader bleveindex.IndexReader) (*hit, error) {
	out := &hit{address: l.address}
	path := plainPath(l.address)
	for _, id := range l.passages {
		p, title, err := readPassage(reader, id)
		if err != nil {
			return nil, fmt.Errorf("read passage: %w", err)
		}
		if p.text != "" {
			out.title = title
			out.passages = append(out.passages, r.rank(p, title, path))
		}
	}
	slices.SortStableFunc(out.passages, func(a, b ranked) int { return cmp.Compare(b.score, a.score) })
	share := 1.0
	for _, p := range out.passages {
		out.score += share * p.score
		share = furtherPassages
	}
	out.score /= r.highest() * (1 + furtherPassages*(perDocument-1))
	return out, nil
}

// readPassage reads what the index keeps of a passage; one that is gone has no text.
func readPassage(reader bleveindex.IndexReader, id string) (p passage, title string, err error) {
	doc, err := reader.Document(id)
	if err != nil || doc == nil {
		return p, "", err
	}
	doc.VisitFields(func(f bleveindex.Field) {
		switch f.Name() {
		case fieldText:
			p.text = string(f.Value())
		case fieldTitle:
			title = string(f.Value())
		case fieldHeading:
			p.heading = string(f.Value())
		}
	})
	return p, title, nil
}
