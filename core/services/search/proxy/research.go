package proxy

import (
	"context"
	"strings"
	"sync"

	"github.com/patchbay-dev/patchbay/core/fault"
	"github.com/patchbay-dev/patchbay/core/services/search/audit"
)

// MaxResourceID bounds a research id, in bytes.
const MaxResourceID = 200

// maxResources bounds the research ids in memory; older ones are read from the database.
const maxResources = 10_000

// resources remembers research ids that may not have reached the database yet.
type resources struct {
	mu   sync.Mutex
	byID map[string]audit.ResearchRecord
}

func newResources() *resources { return &resources{byID: map[string]audit.ResearchRecord{}} }

func (r *resources) put(rec audit.ResearchRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.byID) >= maxResources {
		clear(r.byID)
	}
	r.byID[rec.ResourceID] = rec
}

func (r *resources) get(id string) (audit.ResearchRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rec, ok := r.byID[id]
	return rec, ok
}

// ForgetResearch drops the research ids in memory: they are read from the database again.
func (p *Proxy) ForgetResearch() { p.research.forgetAll() }

func (r *resources) forgetAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.byID)
}

// plainID reports whether a text may be a research id: visible ASCII of a bounded length, or empty.
func plainID(id string) bool {
	return len(id) <= MaxResourceID && !strings.ContainsFunc(id, func(r rune) bool { return r <= ' ' || r > '~' })
}

// FindResearch returns the record of a research id. An unknown id, and one of another token, is a fault with status
// 404.
func (p *Proxy) FindResearch(ctx context.Context, id, tokenID string) (audit.ResearchRecord, error) {
	since := p.now().Add(-audit.ResearchFor)
	rec, ok := p.research.get(id)
	if !ok && plainID(id) {
		var err error
		rec, ok, err = p.records.FindResearch(ctx, id, since)
		if err != nil {
			return rec, fault.Wrap(err, fault.Internal, "The research could not be looked up.")
		}
	}
	if !ok || rec.TokenID != tokenID || rec.CreatedAt < since.UnixMilli() {
		return rec, fault.New("research_request_not_found", "There is no such research.").WithStatus(404)
	}
	return rec, nil
}
