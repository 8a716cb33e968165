package local

import (
	"path/filepath"
	"strings"
)

// canAnswer reports whether the index has a document that may be shown, or all that it is to have.
func (f *follower) canAnswer() bool {
	select {
	case <-f.ready:
		return true
	default:
	}
	f.mu.RLock()
	written := f.written
	f.mu.RUnlock()
	for address, e := range written {
		if e.Text && f.isKnown(address) {
			return true
		}
	}
	return false
}

// isKnown reports whether an indexed document belongs to the sources. Until the files were listed, their names and the rules decide.
func (f *follower) isKnown(address string) bool {
	_, ok := f.fileAt(address)
	return ok
}

// fileAt returns the file of an address that belongs to the sources.
func (f *follower) fileAt(address string) (file, bool) {
	f.mu.RLock()
	files := f.files
	f.mu.RUnlock()
	if files != nil {
		found, ok := files[address]
		return found, ok
	}
	if !strings.HasPrefix(address, scheme) {
		for _, s := range f.sites {
			if page, ok := s.listPages()[address]; ok {
				return page, true
			}
		}
		return file{}, false
	}
	return f.locateFile(plainPath(address))
}

// locateFile returns the file that a path of an address leads to, if the rules let it be indexed. It looks at names alone.
func (f *follower) locateFile(rel string) (file, bool) {
	for _, rt := range f.roots {
		below, ok := relativeTo(rt.name, rel)
		if !ok {
			continue
		}
		full := rt.path
		for dir := rt.name; below != ""; {
			var name string
			name, below, _ = strings.Cut(below, "/")
			full, dir = filepath.Join(full, name), strings.TrimPrefix(dir+"/"+name, "/")
			if name == "" || name == ".." || f.rules.hidesPath(full) || below != "" && (hiddenDir(name) || !f.rules.wantsDir(dir)) {
				return file{}, false
			}
		}
		if isSensitive(filepath.Base(full)) || f.rules.hidesPath(full) || !f.rules.wantsFile(rel) || f.rules.leavesOut(rel, 1) != "" {
			return file{}, false
		}
		return file{address: escapeAddress(rel), path: full, root: rt.name}, true
	}
	return file{}, false
}

// relativeTo returns the path below a root, "" for the root itself.
func relativeTo(root, rel string) (below string, ok bool) {
	if root == "" || rel == root {
		return strings.TrimPrefix(rel, root), true
	}
	return strings.CutPrefix(rel, root+"/")
}

// manyFiles is how many files have to wait for the index until its health says so.
const manyFiles = 50

// reportProgress returns how many files are indexed of how many, while a look at them has many to index or is the first one; otherwise 0
// and 0.
func (f *follower) reportProgress() (done, total int) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	first := true
	select {
	case <-f.ready:
		first = false
	default:
	}
	if !first && f.total-f.done < manyFiles {
		return 0, 0
	}
	return f.done, f.total
}

// setProgress notes how many files are indexed of how many.
func (f *follower) setProgress(done, total int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done, f.total = done, total
}
