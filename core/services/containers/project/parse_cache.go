package project

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/patchbay-dev/patchbay/core/services/containers/compose"
)

// settleFiles is how old a file must be before its time and size are trusted: a file may change twice within the
// resolution of its time.
const settleFiles = 2 * time.Second

// cachedProject returns the project of src, from the cache if its files have not changed.
func (d *Discovery) cachedProject(ctx context.Context, src compose.Source) (*compose.Project, error) {
	d.parses.mu.Lock()
	kept, ok := d.parses.kept[src.Project]
	d.parses.mu.Unlock()
	if ok {
		if sig, settled := FilesSignature(src, kept.project.Parts); settled && sig == kept.signature {
			return kept.project, nil
		}
	}
	p, err := compose.Load(ctx, src)
	if err != nil {
		if e := (*compose.Error)(nil); !errors.As(err, &e) && ctx.Err() == nil {
			return nil, fmt.Errorf("%s: %w", compose.FileInvalid, err)
		}
		return nil, err
	}
	sig, settled := FilesSignature(src, p.Parts)
	d.parses.mu.Lock()
	defer d.parses.mu.Unlock()
	if d.parses.kept == nil {
		d.parses.kept = map[string]parsedProject{}
	}
	delete(d.parses.kept, src.Project)
	if settled {
		d.parses.kept[src.Project] = parsedProject{sig, p}
	}
	return p, nil
}

// FilesSignature returns a value that changes with the files of a project. It is not settled while one of them was changed
// just now.
func FilesSignature(src compose.Source, parts []string) (sig string, settled bool) {
	var b strings.Builder
	fmt.Fprintf(&b, "%q %q %q %q", src.WorkingDir, src.Files, src.EnvFiles, src.Roots)
	env := src.EnvFiles
	if len(env) == 0 {
		env = []string{filepath.Join(src.WorkingDir, ".env")}
	}
	settled = true
	for _, path := range slices.Concat(src.Files, parts, env) {
		info, err := os.Stat(path)
		if err != nil {
			fmt.Fprintf(&b, " -")
			continue
		}
		settled = settled && time.Since(info.ModTime()) > settleFiles
		fmt.Fprintf(&b, " %d.%d", info.ModTime().UnixNano(), info.Size())
	}
	return b.String(), settled
}

func (d *Discovery) readFile() func(string) ([]byte, error) {
	if d.cfg.ReadFile != nil {
		return d.cfg.ReadFile
	}
	return compose.ReadFile
}
