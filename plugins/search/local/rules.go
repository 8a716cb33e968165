package local

import (
	"errors"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/patchbay-dev/patchbay/plugins/internal/documents"
	"github.com/patchbay-dev/patchbay/sdk/schema"
	"github.com/patchbay-dev/patchbay/sdk/search"
)

// rules decide which files are indexed.
type rules struct {
	include, exclude []*regexp.Regexp
	// protected are real paths, each a file or a directory.
	protected []string
	maxSize   int64
	// generated lets files in that programs make for programs.
	generated bool
}

func newRules(inst search.Instance, cfg Config) (*rules, schema.Diagnostics) {
	r := &rules{maxSize: cfg.MaxFileSize, generated: cfg.Generated}
	include, diags := compileGlobs("include", cfg.Include)
	exclude, d := compileGlobs("exclude", cfg.Exclude)
	r.include, r.exclude = include, exclude
	for _, p := range append([]string{inst.DataDir}, inst.Protected...) {
		if p == "" {
			continue
		}
		if !filepath.IsAbs(p) {
			p = filepath.Join(inst.BaseDir, p)
		}
		r.protected = append(r.protected, realPath(p))
	}
	return r, append(diags, d...)
}

// realPath resolves the links of as much of p as exists.
func realPath(p string) string {
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	if real, err := filepath.EvalSymlinks(p); err == nil {
		return real
	}
	if dir := filepath.Dir(p); dir != p {
		return filepath.Join(realPath(dir), filepath.Base(p))
	}
	return p
}

// hidesPath reports whether a real path is protected.
func (r *rules) hidesPath(real string) bool {
	for _, p := range r.protected {
		if real == p || strings.HasPrefix(real, strings.TrimSuffix(p, string(filepath.Separator))+string(filepath.Separator)) {
			return true
		}
	}
	return false
}

// protectedFiles returns what identifies the protected files, so that a hard link to one is recognised.
func (r *rules) protectedFiles() []os.FileInfo {
	var out []os.FileInfo
	for _, p := range r.protected {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() {
			out = append(out, info)
		}
	}
	return out
}

// wantsDir and wants apply the patterns to a path relative to the configuration, with slashes.
func (r *rules) wantsDir(rel string) bool { return !matchAny(r.exclude, rel) }

func (r *rules) wantsFile(rel string) bool {
	return !matchAny(r.exclude, rel) && (len(r.include) == 0 || matchAny(r.include, rel))
}

// packedSize is how many times max_file_size a file may have whose text is packed, at most maxFileSize.
const packedSize = 8

// sizeLimit returns how large a file of that name may be.
func (r *rules) sizeLimit(name string) int64 {
	switch strings.ToLower(path.Ext(name)) {
	case ".pdf", ".docx", ".docm":
		return min(r.maxSize*packedSize, maxFileSize)
	}
	return r.maxSize
}

// leavesOut returns why a file of that name and size is not indexed, or nothing.
func (r *rules) leavesOut(name string, size int64) documents.Reason {
	switch {
	case size == 0:
		return documents.Empty
	case !r.generated && documents.IsGenerated(name):
		return documents.Generated
	case size > r.sizeLimit(name):
		return documents.TooLarge
	}
	return ""
}

func matchAny(patterns []*regexp.Regexp, rel string) bool {
	for _, p := range patterns {
		if p.MatchString(rel) {
			return true
		}
	}
	return false
}

// hiddenDir reports whether a directory of that name is never looked into.
func hiddenDir(name string) bool { return strings.HasPrefix(name, ".") }

// isSensitive reports whether a file of that name is never indexed.
func isSensitive(name string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "id_") {
		return true
	}
	ext := path.Ext(name)
	switch ext {
	case ".key", ".pem", ".p8", ".p12", ".pfx", ".kdb", ".kdbx", ".jks", ".keystore", ".ppk", ".gpg", ".pgp", ".age", ".env",
		".tfstate", ".tfvars", ".sqlite", ".sqlite3", ".htpasswd":
		return true
	}
	switch strings.TrimSuffix(name, ext) {
	case "credentials", "secrets", "secret", "authorized_keys", "known_hosts", "htpasswd", "shadow", "master_key", "master-key":
		return slices.Contains([]string{"", ".json", ".yaml", ".yml", ".toml", ".ini", ".txt", ".conf", ".cfg", ".csv", ".xml"}, ext)
	}
	return false
}

func compileGlobs(attr string, patterns []string) ([]*regexp.Regexp, schema.Diagnostics) {
	var out []*regexp.Regexp
	var diags schema.Diagnostics
	for i, p := range patterns {
		re, err := compileGlob(p)
		if err != nil {
			diags = append(diags, schema.Errorf(schema.At(attr).Index(i), "pattern %q: %v", p, err)...)
			continue
		}
		out = append(out, re)
	}
	return out, diags
}

// compileGlob compiles a pattern: * and ? stay within a name, ** crosses directories. A pattern without a slash fits a name
// anywhere; one with a slash fits from the beginning. A directory that fits stands for all in it.
func compileGlob(pattern string) (*regexp.Regexp, error) {
	p := strings.Trim(filepath.ToSlash(pattern), "/")
	p = strings.TrimPrefix(p, "./")
	if p == "" || strings.ContainsAny(p, "[]{}\\") {
		return nil, errors.New("only *, ** and ? have a meaning in patterns")
	}
	var b strings.Builder
	b.WriteString("^")
	if !strings.Contains(p, "/") {
		b.WriteString("(?:.*/)?")
	}
	for i := 0; i < len(p); i++ {
		switch {
		case strings.HasPrefix(p[i:], "**/"):
			b.WriteString("(?:.*/)?")
			i += 2
		case strings.HasPrefix(p[i:], "**"):
			b.WriteString(".*")
			i++
		case p[i] == '*':
			b.WriteString("[^/]*")
		case p[i] == '?':
			b.WriteString("[^/]")
		default:
			b.WriteString(regexp.QuoteMeta(p[i : i+1]))
		}
	}
	b.WriteString("(?:/.*)?$")
	return regexp.Compile(b.String())
}
