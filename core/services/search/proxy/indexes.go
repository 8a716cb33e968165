package proxy

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/texts"
	sdk "github.com/patchbay-dev/patchbay/sdk/search"
)

// indexTime bounds a question about an index.
const indexTime = 5 * time.Second

// maxSourceError bounds the error of a source, in bytes.
const maxSourceError = 200

// Index is the index that a backend keeps.
type Index struct {
	// Backend is the instance.
	Backend string
	// Err is why the backend says nothing of its index; the rest is zero then.
	Err error
	// Documents are those that a search can find, Bytes is what they take on disk.
	Documents, Bytes int64
	// Reindexing reports whether everything is being indexed again.
	Reindexing bool
	Sources    []IndexSource
}

// IndexSource is a folder or a site whose documents are in an index.
type IndexSource struct {
	Name string
	// Site reports whether it is a web site, which is visited from time to time; files are followed all the time.
	Site bool
	// State is ready, queued, running or failed.
	State     string
	Documents int64
	// LastVisit and NextVisit are zero where there is none.
	LastVisit, NextVisit time.Time
	// Done and Total are the files or pages of the visit under way.
	Done, Total int64
	// LastError is why the last visit failed, shortened; empty if it did not.
	LastError string
	// LeftOut are the files or pages that the source has and the index has not, by their reasons.
	LeftOut []LeftOut
}

// LeftOut tells of files or pages that are not in an index for one reason. Names are some of them.
type LeftOut struct {
	Reason string
	Count  int64
	Names  []string
}

// maxLeftOut bounds the reasons of a source, maxLeftOutNames the names for each and maxLeftOutName a name, in bytes.
const (
	maxLeftOut      = 20
	maxLeftOutNames = 20
	maxLeftOutName  = 200
)

// newLeftOut returns what a backend says of what a source's index lacks, within the bounds.
func newLeftOut(all []sdk.IndexLeftOut) (out []LeftOut) {
	for _, l := range all[:min(len(all), maxLeftOut)] {
		one := LeftOut{Reason: texts.OneLine(l.Reason, maxLeftOutName), Count: l.Count}
		for _, name := range l.Names[:min(len(l.Names), maxLeftOutNames)] {
			one.Names = append(one.Names, texts.OneLine(name, maxLeftOutName))
		}
		out = append(out, one)
	}
	return out
}

// State returns the state of the whole index: error, degraded, running or ready.
func (i Index) State() string {
	state := "ready"
	if i.Reindexing {
		state = "running"
	}
	for _, s := range i.Sources {
		switch s.State {
		case "failed":
			state = "degraded"
		case "queued", "running":
			if state == "ready" {
				state = "running"
			}
		}
	}
	if i.Err != nil {
		state = "error"
	}
	return state
}

func keepsIndex(l *chainedBackend) bool { return l.desc.Has(sdk.CapIndex) }

// Indexes returns the indexes of the backends, in the order of the chain.
func (p *Proxy) Indexes(ctx context.Context) (out []Index) {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	for _, l := range p.state.Load().chain {
		if keepsIndex(l) {
			out = append(out, readIndex(ctx, l))
		}
	}
	return out
}

// readIndex returns the index of a backend.
func readIndex(ctx context.Context, l *chainedBackend) Index {
	st, err := l.search.IndexStatus(ctx)
	if err != nil {
		return Index{Backend: l.ref, Err: err}
	}
	out := Index{Backend: l.ref, Documents: st.Documents, Bytes: st.Bytes, Reindexing: st.Reindexing}
	for _, s := range st.Sources {
		out.Sources = append(out.Sources, IndexSource{
			Name: s.Name, Site: s.Kind == sdk.SourceSite, State: sourceStates[s.State], Documents: s.Documents, LastVisit: s.LastVisit,
			NextVisit: s.NextVisit,
			Done:      s.Done, Total: s.Total, LastError: texts.OneLine(s.LastError, maxSourceError),
			LeftOut: newLeftOut(s.LeftOut),
		})
	}
	return out
}

// sourceStates are the words for the states of a source.
var sourceStates = map[sdk.SourceState]string{sdk.SourceReady: "ready", sdk.SourcePending: "queued", sdk.SourceIndexing: "running",
	sdk.SourceFailed: "failed"}

// IndexedDocument is a document of an index that a text found.
type IndexedDocument struct{ Address, Title, Excerpt string }

// FindIndexed returns what the indexes of the backends have for a text, the best first. It needs no token and costs no credit: only
// backends that keep an index on this machine answer. One that does not answer is left out.
func (p *Proxy) FindIndexed(ctx context.Context, text string, limit int) (out []IndexedDocument) {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	body, err := json.Marshal(map[string]any{"query": text, "max_results": limit})
	if err != nil {
		return nil
	}
	for _, l := range p.state.Load().chain {
		if !keepsIndex(l) || l.credential {
			continue
		}
		reply, err := l.search.Invoke(ctx, &sdk.Request{Operation: OpSearch, Body: body})
		if err != nil {
			continue
		}
		var answer struct {
			Results []struct{ URL, Title, Content string } `json:"results"`
		}
		if reply.Status == http.StatusOK && json.Unmarshal(reply.Body, &answer) == nil {
			for _, r := range answer.Results {
				out = append(out, IndexedDocument{r.URL, r.Title, texts.OneLine(r.Content, maxSourceError)})
			}
		}
		reply.Release()
	}
	return out
}

// Reindex starts to index everything of a backend again. It does not wait for the end; searches are answered meanwhile.
func (p *Proxy) Reindex(ctx context.Context, backend string) error {
	ctx, cancel := context.WithTimeout(ctx, indexTime)
	defer cancel()
	for _, l := range p.state.Load().chain {
		if l.ref == backend && keepsIndex(l) {
			return l.search.Reindex(ctx)
		}
	}
	return fault.New(fault.NotFound, "This service has no backend with this name and an index.")
}
