package local

import (
	"context"
	"errors"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/internal/research"
)

var errNoDocument = errors.New("no document has this address")

// readOwn reads a document of the index by its address; another address is none of ours.
func (b *backend) readOwn(ctx context.Context, address string, format extract.Format) (page *extract.Page, own bool, err error) {
	if !strings.HasPrefix(strings.ToLower(address), scheme) {
		return nil, false, nil
	}
	if err := b.waitUntilUsable(ctx); err != nil {
		return nil, true, err
	}
	text, err := b.readDocument(ctx, address, format)
	if err != nil {
		return nil, true, err
	}
	return &extract.Page{Text: text, Images: []string{}}, true, nil
}

// readDocument reads a document of the index from its file.
func (b *backend) readDocument(ctx context.Context, address string, format extract.Format) (string, error) {
	f, ok := b.follower.findDocument(address)
	if !ok {
		return "", errNoDocument
	}
	c, err := b.follower.loadFile(f)
	if err != nil {
		return "", errNoDocument
	}
	doc, err := b.follower.parseFile(ctx, f.path, c, format)
	if err != nil {
		return "", errNoDocument
	}
	return doc.text, nil
}

// findSources finds documents for a research.
func (b *backend) findSources(ctx context.Context, q research.Query) ([]research.Source, error) {
	where := newDomains(q.Include, q.Exclude)
	if !b.mayHold(where) {
		return nil, nil
	}
	if err := b.waitUntilUsable(ctx); err != nil {
		return nil, err
	}
	hits, err := b.findDocuments(ctx, searchParams{query: q.Text, results: q.Max, where: where})
	if err != nil {
		return nil, err
	}
	var out []research.Source
	for _, h := range hits {
		out = append(out, research.Source{Title: h.title, URL: h.address, Content: strings.Join(h.bestChunks(maxChunks), "\n\n")})
	}
	return out, nil
}
