package local

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/plugins/internal/extract"
	"github.com/patchbay-dev/patchbay/plugins/search/local/index"
)

// writer changes the index and its manifest in steps of bounded size.
type writer struct {
	follower *follower
	update   *index.Update
	// next is the manifest after the update.
	next map[string]entry
	// generation is that of what is written.
	generation int64
}

func (f *follower) newWriter() *writer {
	return &writer{follower: f, update: f.index.Begin(), next: maps.Clone(f.manifest), generation: f.generation.currentNumber()}
}

// commitIfFull commits the update if it is full.
func (w *writer) commitIfFull(ctx context.Context) error {
	if !w.update.IsFull() {
		return nil
	}
	return w.commitUpdate(ctx)
}

// commitUpdate writes the update. The manifest goes first, because a search finds what is written before the commit returns.
func (w *writer) commitUpdate(ctx context.Context) error {
	before := w.follower.manifest
	w.follower.setManifest(w.next)
	if err := w.follower.index.Commit(ctx, w.update); err != nil {
		w.follower.setManifest(before)
		return err
	}
	w.follower.setWritten()
	w.update, w.next = w.follower.index.Begin(), maps.Clone(w.next)
	return nil
}

// commitRest commits what is left. Where nothing changed but how files look, the manifest in memory alone is replaced; after a
// restart they are looked at once more.
func (w *writer) commitRest(ctx context.Context) error {
	if !w.update.IsEmpty() {
		return w.commitUpdate(ctx)
	}
	w.follower.setManifest(w.next)
	w.follower.setWritten()
	return nil
}

// noteEntry puts an entry in, with the words of a document that has some.
func (w *writer) noteEntry(address string, e entry, doc *index.Document) error {
	data, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("write entry: %w", err)
	}
	w.next[address] = e
	return w.update.Note(address, data, doc)
}

// removeDocument takes a document out.
func (w *writer) removeDocument(ctx context.Context, address string) error {
	w.update.Remove(address, w.next[address].Parts)
	w.update.Forget(address)
	delete(w.next, address)
	return w.commitIfFull(ctx)
}

// replaceDocument puts a file's content in the place of what the index has of it.
func (w *writer) replaceDocument(ctx context.Context, now file) error {
	f, old := w.follower, w.next[now.address]
	fresh := entry{Size: now.size, MTime: now.mtime.UnixNano(), Checked: f.now().UnixNano(), Generation: w.generation}
	c, err := f.loadFile(now)
	if err != nil {
		// Without a time it is tried again at the next look.
		w.update.Remove(now.address, old.Parts)
		if err := w.noteEntry(now.address, entry{Generation: w.generation, Why: documents.Unreadable}, nil); err != nil {
			return err
		}
		return w.commitIfFull(ctx)
	}
	fresh.Hash = c.hashContent()
	if fresh.Hash == old.Hash && fresh.Generation == old.Generation && !old.Why.IsPassing() {
		fresh.Parts, fresh.Text, fresh.Print, fresh.Why = old.Parts, old.Text, old.Print, old.Why
		w.next[now.address] = fresh
		return nil
	}
	doc, err := f.parseFile(ctx, now.path, c, extract.Markdown)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	w.update.Remove(now.address, old.Parts)
	var put *index.Document
	if err != nil {
		fresh.Why = documents.FindReason(err)
	} else {
		if put, err = w.putDocument(ctx, now.address, doc); err != nil {
			return err
		}
		fresh.Parts, fresh.Text, fresh.Print = put.Parts(), true, doc.print
	}
	if err := w.noteEntry(now.address, fresh, put); err != nil {
		return err
	}
	return w.commitIfFull(ctx)
}

// putDocument adds the passages of a document. A large one takes several steps; until the last, the manifest says how many parts of it
// are there, and nothing else of it.
func (w *writer) putDocument(ctx context.Context, address string, doc document) (*index.Document, error) {
	out := w.update.Put(address, plainPath(address), doc.title)
	for _, p := range doc.passages {
		if w.update.IsFull() {
			if err := w.noteEntry(address, entry{Parts: out.Parts()}, nil); err != nil {
				return nil, err
			}
			if err := w.commitUpdate(ctx); err != nil {
				return nil, err
			}
			out.Continue(w.update)
		}
		if err := out.Add(index.Passage{Heading: p.heading, Text: p.text}); err != nil {
			return nil, err
		}
	}
	return out, out.Finish()
}
