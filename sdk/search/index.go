package search

import (
	"context"
	"time"

	"google.golang.org/grpc/codes"

	"github.com/patchbay-dev/patchbay/sdk/errs"
	searchv1 "github.com/patchbay-dev/patchbay/sdk/proto/patchbay/search/v1"
)

// Indexer is a backend that keeps an index of its own.
type Indexer interface {
	// IndexStatus reports on the index. It is called every second while someone looks at it.
	IndexStatus(ctx context.Context) (*IndexStatus, error)
	// Reindex starts to index everything again and does not wait for the end. Searches are answered meanwhile. It has no
	// effect while an earlier one goes on, and what it has started goes on after a restart.
	Reindex(ctx context.Context) error
}

// IndexStatus is what a backend says of its index.
type IndexStatus struct {
	// Documents are those that a search can find.
	Documents int64
	// Bytes is what the index takes on disk.
	Bytes int64
	// Reindexing reports whether what Reindex has started goes on.
	Reindexing bool
	Sources    []IndexSource
}

// IndexSource is a folder or a site whose documents are in the index. Name and LastError are shown to operators and hold
// nothing secret.
type IndexSource struct {
	Name      string
	Kind      SourceKind
	State     SourceState
	Documents int64
	// LastVisit is when a visit last ended, however it did. NextVisit is zero where changes are followed all the time.
	LastVisit, NextVisit time.Time
	// Done and Total are the files or pages of the visit under way. Total grows as more are found.
	Done, Total int64
	// LastError is why the last visit failed; empty if it did not.
	LastError string
	// LeftOut are the files or pages that the source has and the index has not, by their reasons.
	LeftOut []IndexLeftOut
}

// IndexLeftOut tells of files or pages that are not in the index for one reason.
type IndexLeftOut struct {
	// Reason is a word in lower snake case, such as "too_large", "encoding" or "noindex".
	Reason string
	Count  int64
	// Names are some of them, at most 20, as the source calls them. They hold nothing secret.
	Names []string
}

// SourceKind is what a source of an index is.
type SourceKind int32

// The kinds of sources, in the words of the .proto file.
const (
	SourceFiles = SourceKind(searchv1.IndexSourceKind_INDEX_SOURCE_KIND_FILES)
	SourceSite  = SourceKind(searchv1.IndexSourceKind_INDEX_SOURCE_KIND_SITE)
)

// SourceState is how far a source is indexed.
type SourceState int32

// The states of a source, in the words of the .proto file.
const (
	SourceReady    = SourceState(searchv1.IndexSourceState_INDEX_SOURCE_STATE_READY)
	SourcePending  = SourceState(searchv1.IndexSourceState_INDEX_SOURCE_STATE_PENDING)
	SourceIndexing = SourceState(searchv1.IndexSourceState_INDEX_SOURCE_STATE_INDEXING)
	SourceFailed   = SourceState(searchv1.IndexSourceState_INDEX_SOURCE_STATE_FAILED)
)

// IndexStatus reports on the index of a backend with CapIndex.
func (c *Client) IndexStatus(ctx context.Context) (*IndexStatus, error) {
	resp, err := c.rpc.IndexStatus(c.callContext(ctx), &searchv1.IndexStatusRequest{})
	if err != nil {
		return nil, err
	}
	return indexStatusFrom(resp), nil
}

// Reindex starts to index everything again at a backend with CapIndex.
func (c *Client) Reindex(ctx context.Context) error {
	_, err := c.rpc.Reindex(c.callContext(ctx), &searchv1.ReindexRequest{})
	return err
}

// acquireIndexer returns the instance of a call as an Indexer, and the function that ends the call.
func (s *server) acquireIndexer(ctx context.Context) (Indexer, func(), error) {
	value, release, err := s.router.Instance(ctx, Kind)
	if err != nil {
		return nil, nil, err
	}
	b, ok := value.(Indexer)
	if !ok {
		release()
		return nil, nil, errs.New(errs.Host, codes.Unimplemented, errs.ReasonUnsupported, "the instance keeps no index")
	}
	return b, release, nil
}

func (s *server) IndexStatus(ctx context.Context, _ *searchv1.IndexStatusRequest) (*searchv1.IndexStatusResponse, error) {
	b, release, err := s.acquireIndexer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	st, err := b.IndexStatus(ctx)
	if err != nil {
		return nil, withSource(ctx, err)
	}
	return st.toProto(), nil
}

func (s *server) Reindex(ctx context.Context, _ *searchv1.ReindexRequest) (*searchv1.ReindexResponse, error) {
	b, release, err := s.acquireIndexer(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := b.Reindex(ctx); err != nil {
		return nil, withSource(ctx, err)
	}
	return &searchv1.ReindexResponse{}, nil
}

func (s *IndexStatus) toProto() *searchv1.IndexStatusResponse {
	out := &searchv1.IndexStatusResponse{Documents: s.Documents, Bytes: s.Bytes, Reindexing: s.Reindexing}
	for _, src := range s.Sources {
		out.Sources = append(out.Sources, &searchv1.IndexSource{
			Name: src.Name, Kind: searchv1.IndexSourceKind(src.Kind), State: searchv1.IndexSourceState(src.State), Documents: src.Documents,
			LastVisitUnixMs: unixMilli(src.LastVisit), NextVisitUnixMs: unixMilli(src.NextVisit), Done: src.Done, Total: src.Total,
			LastError: src.LastError,
			LeftOut:   leftOutToProto(src.LeftOut),
		})
	}
	return out
}

func indexStatusFrom(p *searchv1.IndexStatusResponse) *IndexStatus {
	out := &IndexStatus{Documents: p.GetDocuments(), Bytes: p.GetBytes(), Reindexing: p.GetReindexing()}
	for _, src := range p.GetSources() {
		out.Sources = append(out.Sources, IndexSource{
			Name: src.GetName(), Kind: SourceKind(src.GetKind()), State: SourceState(src.GetState()), Documents: src.GetDocuments(),
			LastVisit: fromUnixMilli(src.GetLastVisitUnixMs()), NextVisit: fromUnixMilli(src.GetNextVisitUnixMs()),
			Done: src.GetDone(), Total: src.GetTotal(), LastError: src.GetLastError(), LeftOut: leftOutFrom(src.GetLeftOut()),
		})
	}
	return out
}

func leftOutToProto(all []IndexLeftOut) (out []*searchv1.IndexLeftOut) {
	for _, l := range all {
		out = append(out, &searchv1.IndexLeftOut{Reason: l.Reason, Count: l.Count, Names: l.Names})
	}
	return out
}

func leftOutFrom(all []*searchv1.IndexLeftOut) (out []IndexLeftOut) {
	for _, l := range all {
		out = append(out, IndexLeftOut{Reason: l.GetReason(), Count: l.GetCount(), Names: l.GetNames()})
	}
	return out
}

// unixMilli returns 0 for the zero time.
func unixMilli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromUnixMilli returns the zero time for 0.
func fromUnixMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms).UTC()
}
