package local

import (
	"context"
	"maps"
	"runtime"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
)

// writer changes the index and its manifest in steps of bounded size.
type writer struct {
	follower *follower
	update   *update
	// next is the manifest after the update.
	next map[string]entry
	// generation is that of what is written.
	generation int64
}

func (f *follower) write() *writer {
	return &writer{follower: f, update: f.index.begin(), next: maps.Clone(f.manifest), generation: f.generation.current()}
}

// step commits the update if it is full. What indexing it has left behind is many times its text and is collected at once:
// the collector of a plugin's process waits until there is several times more than the index needs.
func (w *writer) step(ctx context.Context) error {
	if !w.update.full() {
		return nil
	}
	if err := w.commit(ctx); err != nil {
		return err
	}
	runtime.GC()
	return nil
}

// commit writes the update. The manifest goes first, because a search finds what is written before the commit returns.
func (w *writer) commit(ctx context.Context) error {
	before := w.follower.manifest
	w.follower.setManifest(w.next)
	if err := w.follower.index.commit(ctx, w.update, w.next); err != nil {
		w.follower.setManifest(before)
		return err
	}
	w.follower.setWritten()
	w.update, w.next = w.follower.index.begin(), maps.Clone(w.next)
	return nil
}

// finish commits what is left. Where nothing changed but how files look, the manifest in memory alone is replaced; after a
// restart they are looked at once more.
func (w *writer) finish(ctx context.Context) error {
	if w.update.changes > 0 {
		return w.commit(ctx)
	}
	w.follower.setManifest(w.next)
	w.follower.setWritten()
	return nil
}

// remove takes a document out.
func (w *writer) remove(ctx context.Context, address string) error {
	w.update.remove(address, w.next[address].Passages)
	delete(w.next, address)
	return w.step(ctx)
}

// replace puts a file's content in the place of what the index has of it.
func (w *writer) replace(ctx context.Context, now file) error {
	f, old := w.follower, w.next[now.address]
	fresh := entry{Size: now.size, MTime: now.mtime.UnixNano(), Checked: f.now().UnixNano(), Generation: w.generation}
	c, err := f.load(now)
	if err != nil {
		// Without a time it is tried again at the next look.
		w.update.remove(now.address, old.Passages)
		w.next[now.address] = entry{Generation: w.generation, Why: documents.Unreadable}
		return w.step(ctx)
	}
	fresh.Hash = c.hash()
	if fresh.Hash == old.Hash && fresh.Generation == old.Generation {
		fresh.Passages, fresh.Text, fresh.Print, fresh.Why = old.Passages, old.Text, old.Print, old.Why
		w.next[now.address] = fresh
		return nil
	}
	doc, err := f.parse(ctx, now.path, c, extract.Markdown)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.update.remove(now.address, old.Passages)
	if err != nil {
		fresh.Why = documents.ReasonOf(err)
	} else {
		if err := w.put(ctx, now.address, doc); err != nil {
			return err
		}
		fresh.Passages, fresh.Text, fresh.Print = len(doc.passages), true, doc.print
	}
	w.next[now.address] = fresh
	return w.step(ctx)
}

// put adds the passages of a document. A large one takes several steps; until the last, the manifest says how many of its
// passages are there, and nothing else of it.
func (w *writer) put(ctx context.Context, address string, doc document) error {
	rel := plainPath(address)
	for n, p := range doc.passages {
		w.next[address] = entry{Passages: n}
		if err := w.step(ctx); err != nil {
			return err
		}
		if err := w.update.put(address, rel, doc.title, n, p); err != nil {
			return err
		}
	}
	return nil
}
