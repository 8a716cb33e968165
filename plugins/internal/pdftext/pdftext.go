// Package pdftext reads the text of PDF files. They are read by PDFium in a WebAssembly sandbox. It sees the bytes of one file, and has no
// files, no network and a bounded memory. It is given up after a bounded time, and is thrown away with the file.
package pdftext

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	pdfiumerrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// maxTime bounds the work at one file, maxMemory the sandbox, in pages of 64 KiB, maxPages the pages of a file and maxText
	// its text, in bytes.
	maxTime   = 20 * time.Second
	maxMemory = 512 << 20 >> 16
	maxPages  = 5000
	maxText   = 16 << 20
)

// The errors of Read.
var (
	ErrEncrypted = errors.New("PDF file needs a password")
	ErrTooSlow   = errors.New("PDF file takes too long to read")
	ErrDamaged   = errors.New("PDF file cannot be read")
	errClosed    = errors.New("reader is closed")
)

// Reader reads PDF files, one at a time. It is safe for concurrent use. Close it.
type Reader struct {
	cacheDir string
	// limit bounds the work at one file.
	limit   time.Duration
	mu      sync.Mutex
	sandbox pdfium.Pool
	cache   wazero.CompilationCache
	closed  bool
}

// NewReader makes a Reader. The sandbox is made when the first file is read; its machine code is kept in cacheDir, unless
// that is empty.
func NewReader(cacheDir string) *Reader { return &Reader{cacheDir: cacheDir, limit: maxTime} }

// Close ends the sandbox.
func (r *Reader) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closed = true
	return r.endSandbox()
}

// Rest ends the sandbox until the next file is read.
func (r *Reader) Rest() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = r.endSandbox()
}

func (r *Reader) endSandbox() error {
	if r.sandbox == nil {
		return nil
	}
	err := r.sandbox.Close()
	if r.cache != nil {
		err = errors.Join(err, r.cache.Close(context.Background()))
	}
	r.sandbox, r.cache = nil, nil
	if err != nil {
		return fmt.Errorf("end PDF sandbox: %w", err)
	}
	return nil
}

// beginSandbox makes the sandbox.
func (r *Reader) beginSandbox() error {
	switch {
	case r.closed:
		return errClosed
	case r.sandbox != nil:
		return nil
	}
	cfg := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
		WithCloseOnContextDone(true).WithMemoryLimitPages(maxMemory)
	if r.cacheDir != "" {
		// Without the kept code it is made anew.
		if cache, err := wazero.NewCompilationCacheWithDir(r.cacheDir); err == nil {
			r.cache = cache
			cfg = cfg.WithCompilationCache(cache)
		}
	}
	sandbox, err := webassembly.Init(webassembly.Config{
		MaxIdle: 1, MaxTotal: 1, RuntimeConfig: cfg, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
	})
	if err != nil {
		return fmt.Errorf("begin PDF sandbox: %w", err)
	}
	r.sandbox = sandbox
	// Translating PDFium to machine code takes several hundred MiB once.
	debug.FreeOSMemory()
	return nil
}

// Read returns the title that a file names, or nothing, and the text of its pages.
func (r *Reader) Read(ctx context.Context, data []byte) (title, text string, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if ctx.Err() != nil {
		return "", "", ErrTooSlow
	}
	if err := r.beginSandbox(); err != nil {
		return "", "", err
	}
	instance, err := r.sandbox.GetInstanceWithContext(ctx)
	if err != nil {
		return "", "", fmt.Errorf("begin PDF sandbox: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		title, text, err = readFile(ctx, instance, data)
	}()
	select {
	case <-done:
		if err == nil {
			_ = instance.Close()
			return title, text, nil
		}
	case <-ctx.Done():
	}
	// What the sandbox is at is broken off.
	_ = instance.Kill()
	<-done
	if ctx.Err() != nil {
		return "", "", ErrTooSlow
	}
	return "", "", err
}

// readFile reads a file in a sandbox of its own.
func readFile(ctx context.Context, p pdfium.Pdfium, data []byte) (title, text string, err error) {
	defer func() {
		if recover() != nil {
			err = ErrDamaged
		}
	}()
	opened, err := p.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdfiumerrors.ErrPassword), errors.Is(err, pdfiumerrors.ErrSecurity):
		return "", "", ErrEncrypted
	case err != nil:
		return "", "", ErrDamaged
	}
	count, err := p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: opened.Document})
	if err != nil {
		return "", "", ErrDamaged
	}
	var out strings.Builder
	failed := 0
	for n := range min(count.PageCount, maxPages) {
		if ctx.Err() != nil || out.Len() > maxText {
			break
		}
		page, err := readPage(p, opened.Document, n)
		if err != nil {
			failed++
			continue
		}
		if page = cleanPage(page); page != "" {
			out.WriteString(page + "\n\n")
		}
	}
	if out.Len() == 0 && failed > 0 {
		return "", "", ErrDamaged
	}
	if meta, err := p.FPDF_GetMetaText(&requests.FPDF_GetMetaText{Document: opened.Document, Tag: "Title"}); err == nil {
		title = meta.Value
	}
	return chooseTitle(title, out.String()), out.String(), nil
}

// fileTitle fits titles that programs make of the name of a file.
var fileTitle = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:untitled|microsoft \w+ - .*|.*[\\/].*|.*\.(?:docx?|odt|rtf|tex|dvi|ps|pdf|pptx?|xlsx?|indd|wpd|qxd|pages|md)\b.*)$`)
})

// maxTitle bounds a title, in bytes.
const maxTitle = 150

// chooseTitle returns the title that a file names, unless that is the name of a file; then its first line if that is short.
func chooseTitle(title, text string) string {
	title = strings.Join(strings.Fields(title), " ")
	if title != "" && !fileTitle().MatchString(title) {
		return title
	}
	line, _, _ := strings.Cut(text, "\n")
	if line = strings.TrimSpace(line); len(line) <= maxTitle && strings.ContainsFunc(line, unicode.IsLetter) {
		return line
	}
	return ""
}

func readPage(p pdfium.Pdfium, doc references.FPDF_DOCUMENT, n int) (string, error) {
	page, err := p.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc, Index: n}}})
	if err != nil {
		return "", err
	}
	return page.Text, nil
}

// cleanPage joins words that were cut at the end of a line.
func cleanPage(text string) string {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	// PDFium puts this character where a hyphen ends a line.
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\ufffe\n", ""), "\ufffe", "")
	return strings.TrimSpace(strings.ReplaceAll(text, "\x02\n", ""))
}
