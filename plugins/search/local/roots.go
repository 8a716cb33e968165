package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/sdk/schema"
)

// scheme starts the address of a document.
const scheme = "file:"

// root is one of the named files and directories.
type root struct {
	// name is what its addresses start with, with slashes; empty for the directory of the configuration itself.
	name string
	// path is absolute and holds no link.
	path string
}

func newRoots(base string, folders []string, r *rules) ([]root, schema.Diagnostics) {
	var out []root
	var diags schema.Diagnostics
	taken := map[string]bool{}
	for i, folder := range folders {
		rt, err := newRoot(base, folder, r)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At("folders").Index(i), "%v", err)...)
			continue
		}
		for n, name := 2, rt.name; taken[rt.name]; n++ {
			rt.name = fmt.Sprintf("%s-%d", name, n)
		}
		taken[rt.name] = true
		out = append(out, rt)
	}
	return out, diags
}

func newRoot(base, folder string, r *rules) (root, error) {
	if strings.TrimSpace(folder) == "" {
		return root{}, errors.New("path is empty")
	}
	full := folder
	if !filepath.IsAbs(full) {
		full = filepath.Join(base, folder)
	}
	full, err := filepath.Abs(full)
	if err != nil {
		return root{}, fmt.Errorf("path %q cannot be resolved", folder)
	}
	real, err := filepath.EvalSymlinks(full)
	if err != nil {
		return root{}, fmt.Errorf("no file or directory %q", folder)
	}
	info, err := os.Stat(real)
	if err != nil {
		return root{}, fmt.Errorf("no file or directory %q", folder)
	}
	hidden := hiddenDir
	if !info.IsDir() {
		hidden = isSensitive
	}
	rt := root{name: rootName(base, full), path: real}
	switch {
	case rt.name != "" && hidden(filepath.Base(full)), full != real && hidden(filepath.Base(real)):
		return root{}, fmt.Errorf("%q is hidden or holds keys and is never indexed", folder)
	case r.hidesPath(real):
		return root{}, fmt.Errorf("%q is protected and never indexed", folder)
	}
	return rt, nil
}

// rootName is the path relative to base, or for one outside of it its last element.
func rootName(base, full string) string {
	absBase, err := filepath.Abs(base)
	if err == nil {
		rel, err := filepath.Rel(absBase, full)
		switch {
		case err == nil && rel == ".":
			return ""
		case err == nil && filepath.IsLocal(rel):
			return filepath.ToSlash(rel)
		}
	}
	if name := filepath.Base(full); name != string(filepath.Separator) {
		return name
	}
	return "root"
}

// file is a file that shall be in the index.
type file struct {
	address string
	path    string
	size    int64
	mtime   time.Time
	// page: it holds a page of a site, and address is the page's.
	page bool
	// root is the name of the root that it was found in; empty for a page.
	root string
}

// escapeAddress makes the address of a path: each name escaped, so that it is a proper one.
func escapeAddress(rel string) string {
	names := strings.Split(rel, "/")
	for i, n := range names {
		names[i] = url.PathEscape(n)
	}
	return scheme + strings.Join(names, "/")
}

// leftOut is a file that its name or size keeps out of the index.
type leftOut struct {
	root   string
	reason documents.Reason
}

// scanned is what lies below the roots, by address. unread is a directory that could not be read, or empty; what lies in it
// counts as absent.
type scanned struct {
	files  map[string]file
	left   map[string]leftOut
	unread string
}

// scanRoots lists the files below all roots.
func scanRoots(ctx context.Context, roots []root, r *rules) (*scanned, error) {
	out := &scanned{files: map[string]file{}, left: map[string]leftOut{}}
	protected := r.protectedFiles()
	for _, rt := range roots {
		walk := func(path string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, fs.ErrNotExist):
				return nil
			case err != nil:
				out.unread = path
				return nil
			}
			return out.visitEntry(rt, path, d, r, protected)
		}
		if err := filepath.WalkDir(rt.path, walk); err != nil {
			return nil, fmt.Errorf("scan files: %w", err)
		}
	}
	return out, nil
}

func (s *scanned) visitEntry(rt root, path string, d fs.DirEntry, r *rules, protected []os.FileInfo) error {
	rel, err := filepath.Rel(rt.path, path)
	if err != nil {
		return nil
	}
	name := rt.name
	if rel != "." {
		name = strings.TrimPrefix(rt.name+"/"+filepath.ToSlash(rel), "/")
	}
	if d.IsDir() {
		if rel != "." && hiddenDir(d.Name()) || r.hidesPath(path) || name != "" && !r.wantsDir(name) {
			return fs.SkipDir
		}
		return nil
	}
	// What is hidden, protected or excluded by a pattern is not spoken of.
	if hiddenDir(d.Name()) || r.hidesPath(path) || !r.wantsFile(name) {
		return nil
	}
	at := escapeAddress(name)
	if _, ok := s.files[at]; ok {
		return nil
	}
	switch {
	case isSensitive(d.Name()):
		s.left[at] = leftOut{rt.name, documents.Sensitive}
		return nil
	case !d.Type().IsRegular():
		s.left[at] = leftOut{rt.name, documents.Link}
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return nil
	}
	for _, p := range protected {
		if os.SameFile(p, info) {
			return nil
		}
	}
	if why := r.leavesOut(name, info.Size()); why != "" {
		s.left[at] = leftOut{rt.name, why}
		return nil
	}
	s.files[at] = file{address: at, path: path, size: info.Size(), mtime: info.ModTime(), root: rt.name}
	return nil
}

var errChanged = errors.New("file is not the one that was indexed")

// readFile returns the content of a scanned file. It refuses a path that meanwhile leads elsewhere.
func readFile(f file, maxSize int64) ([]byte, error) {
	if real, err := filepath.EvalSymlinks(f.path); err != nil || real != f.path {
		return nil, errChanged
	}
	before, err := os.Lstat(f.path)
	if err != nil || !before.Mode().IsRegular() {
		return nil, errChanged
	}
	h, err := os.Open(f.path)
	if err != nil {
		return nil, errors.New("file cannot be opened")
	}
	defer h.Close()
	if after, err := h.Stat(); err != nil || !os.SameFile(before, after) {
		return nil, errChanged
	}
	data, err := io.ReadAll(io.LimitReader(h, maxSize+1))
	if err != nil {
		return nil, errors.New("file cannot be read")
	}
	if int64(len(data)) > maxSize {
		return nil, errors.New("file is too large")
	}
	return data, nil
}
